//! The light way of running an asynchronous handler: the first step is taken before there is a task.
//!
//! An empty task is current during that step. If the handler ends in it and nobody looked at the
//! task, the next request has it; else it is made a real one, which goes on from there.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use peers::Routed;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::call;
use crate::current_task::Asyncio;
use crate::dispatch::ordinary;
use crate::ended::Ended;
use crate::ffi_call::{Sent, copy_context, in_context, out_of_context, send};
use crate::ffi_light_task::LightTask;
use crate::first_step::Kept;
use crate::gate::Gate;
use crate::handler_coroutine::HandlerCoroutine;
use crate::light_current::{self, Entered};
use crate::reactor_class::Reactor;
use crate::request::Request;
use crate::server::Hooks;
use crate::websocket_news;

/// A first step that runs, for whoever looks at its task meanwhile.
pub struct Step<'a, 'py> {
    hooks: &'a Arc<Hooks>,
    request: &'a Bound<'py, Request>,
    coroutine: &'a Bound<'py, PyAny>,
    context: &'a Bound<'py, PyAny>,
    event_loop: &'a Bound<'py, PyAny>,
    touched: RefCell<Option<Touched>>,
}

/// What the task runs since somebody looked at it.
struct Touched {
    handler: Py<HandlerCoroutine>,
    gate: Option<Py<Gate>>,
}

/// Whether a route's handlers need tasks: one that did will do so again, and then it is cheaper to
/// begin with the task. Now and then it is tried anew.
#[derive(Default)]
pub struct Habit(AtomicU8);

impl Habit {
    /// So many requests begin with a task after one that needed it.
    const PATIENCE: u8 = 32;

    #[inline]
    fn wants_task(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    fn needed_task(&self) {
        self.0.store(Self::PATIENCE, Ordering::Relaxed);
    }
}

/// Run `coroutine` as a task that answers `request`.
#[inline]
pub fn start(
    hooks: &Arc<Hooks>,
    request: &Bound<'_, Request>,
    coroutine: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = request.py();
    let reactor = request.get().reactor().bind(py);
    let habit = habit(hooks, request.get());
    if habit.wants_task() {
        light_current::leave(reactor)?;
        return HandlerCoroutine::start(hooks, request, coroutine);
    }
    let Some(entered) = Entered::get(reactor)? else {
        return HandlerCoroutine::start(hooks, request, coroutine);
    };
    let context = match hooks.context.take(py) {
        Some(context) => context,
        None => copy_context(py)?,
    };
    let event_loop = entered.event_loop(py).clone();
    let step = Step {
        hooks,
        request,
        coroutine,
        context: &context,
        event_loop: &event_loop,
        touched: RefCell::new(None),
    };
    let stepping = entered.task().stepping(&step);
    let kept = in_context(&context, || Ok(first(&step)));
    drop(stepping);
    let kept = match kept {
        Ok(Kept::Ended(Ok(()))) if entered.is_unseen() => {
            drop(step);
            if context.len()? == 0 {
                hooks.context.give(context);
            }
            entered.stay(reactor)?;
            return Reactor::request_flush(reactor);
        }
        Ok(kept) => kept,
        Err(error) => {
            entered.leave(reactor)?;
            return Err(error);
        }
    };
    habit.needed_task();
    step.go_on(reactor, entered, kept)
}

#[inline]
fn habit<'a>(hooks: &'a Hooks, request: &Request) -> &'a Habit {
    let route = match &request.data().routed {
        Routed::Found(route, _) => hooks.routes.get(*route as usize),
        _ => None,
    };
    route.map_or(&hooks.habit, |route| &route.habit)
}

/// The first step of the coroutine; it answers if the handler ends in it.
#[inline]
fn first(step: &Step<'_, '_>) -> Kept {
    let py = step.request.py();
    let none = py.None();
    match send(step.coroutine, none.bind(py)) {
        Ok(Sent::Returned(result)) if step.request.get().is_socket() => {
            Kept::Ended(websocket_news::handler_ended(step.hooks, step.request, Ok(result)))
        }
        Ok(Sent::Returned(result)) => {
            match call::finish(step.hooks, step.request, result.bind(py)) {
                Ok(Some(pump)) => Kept::Pump { pump: pump.unbind(), thrown: None },
                answered => Kept::Ended(answered.map(drop)),
            }
        }
        Err(error) => match ordinary(py, error) {
            Ok(error) if step.request.get().is_socket() => {
                Kept::Ended(websocket_news::handler_ended(step.hooks, step.request, Err(error)))
            }
            Ok(error) => Kept::Ended(call::fail(step.hooks, step.request, error)),
            Err(error) => Kept::Sent { outcome: Err(error), thrown: None },
        },
        yielded => Kept::Sent { outcome: yielded, thrown: None },
    }
}

impl Step<'_, '_> {
    /// The handler waits, or somebody holds its task: from here on it is a real one.
    #[cold]
    fn go_on(&self, reactor: &Bound<'_, Reactor>, entered: Entered, kept: Kept) -> PyResult<()> {
        let task = entered.task().bind(reactor.py()).clone();
        let previous = entered.leave(reactor)?;
        match self.touched.take() {
            None => {
                let handler = self.handler(&task, kept)?;
                LightTask::settle(&task)?;
                self.initialise(&task, &handler, true)?;
                handler.get().keep(&task)
            }
            Some(Touched { handler, gate }) => {
                let handler = handler.bind(reactor.py());
                handler.get().settle(kept)?;
                handler.get().keep(&task)?;
                let Some(gate) = gate else { return Ok(()) };
                let gate = gate.bind(reactor.py());
                in_context(self.context, || alone(self.event_loop, previous, || Gate::open(gate)))
            }
        }
    }

    fn handler<'py>(
        &self,
        task: &Bound<'py, PyAny>,
        kept: Kept,
    ) -> PyResult<Bound<'py, HandlerCoroutine>> {
        HandlerCoroutine::begun(task.py(), self.hooks, self.request, self.coroutine, kept)
    }

    fn initialise(
        &self,
        task: &Bound<'_, PyAny>,
        handler: &Bound<'_, HandlerCoroutine>,
        eager: bool,
    ) -> PyResult<()> {
        initialise(task, handler.as_any(), self.event_loop, Some(self.context), eager)
    }

    /// Make a real task in the middle of the step: it waits at a gate, or in the loop's queue.
    fn touch(&self, task: &Bound<'_, PyAny>, gate: Option<Py<Gate>>) -> PyResult<()> {
        let py = task.py();
        let kept =
            Kept::Running { gate: gate.as_ref().map(|gate| gate.clone_ref(py)), thrown: None };
        let handler = self.handler(task, kept)?;
        let eager = gate.is_some();
        self.touched.replace(Some(Touched { handler: handler.clone().unbind(), gate }));
        LightTask::settle(task)?;
        self.initialise(task, &handler, eager)
    }
}

/// Somebody looks at the task of a step that runs.
#[cold]
pub fn touch(task: &Bound<'_, PyAny>, step: &Step<'_, '_>) -> PyResult<()> {
    let py = task.py();
    if Asyncio::get(py)?.is_eager() {
        // A task enters its context to take a step. Inside another one, or in another thread, it
        // cannot: then it is left to the loop.
        let gate = Bound::new(py, Gate::new(step.request.get(), step.event_loop))?.unbind();
        let made = out_of_context(step.context, || step.touch(task, Some(gate)))?;
        if made.is_some() {
            return Ok(());
        }
    }
    step.touch(task, None)
}

/// Somebody found a task that waits for its next request: then it is one that has ended.
#[cold]
pub fn touch_idle(task: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = task.py();
    let Some(event_loop) = Asyncio::get(py)?.running_loop(py)? else {
        return Err(PyRuntimeError::new_err("the request of this task has ended"));
    };
    let ended = Bound::new(py, Ended)?;
    LightTask::settle(task)?;
    initialise(task, ended.as_any(), &event_loop, None, true)
}

/// `Task.__init__`; the first step is taken at once where that is possible.
fn initialise(
    task: &Bound<'_, PyAny>,
    coroutine: &Bound<'_, PyAny>,
    event_loop: &Bound<'_, PyAny>,
    context: Option<&Bound<'_, PyAny>>,
    eager: bool,
) -> PyResult<()> {
    let py = task.py();
    let asyncio = Asyncio::get(py)?;
    let options = PyDict::new(py);
    options.set_item(intern!(py, "loop"), event_loop)?;
    options.set_item(intern!(py, "context"), context)?;
    if eager && asyncio.is_eager() {
        options.set_item(intern!(py, "eager_start"), true)?;
    }
    asyncio.initialise(py).call((task, coroutine), Some(&options)).map(drop)
}

/// `act` while no task is current.
fn alone<'py>(
    event_loop: &Bound<'py, PyAny>,
    current: Option<Bound<'py, PyAny>>,
    act: impl FnOnce() -> PyResult<()>,
) -> PyResult<()> {
    let Some(current) = current else { return act() };
    let asyncio = Asyncio::get(event_loop.py())?;
    asyncio.swap(event_loop, None)?;
    let outcome = act();
    asyncio.swap(event_loop, Some(&current))?;
    outcome
}
