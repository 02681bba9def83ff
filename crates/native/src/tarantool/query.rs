//! `Query`: one operation in flight, awaited like a future but without one.
//!
//! What it does stands here; its Python class is made by hand in `ffi_query`. Python code may run
//! wherever a callback is called or an object dropped, so no borrow is held across either.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use peers::{Failure, Reply};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dispatch::ordinary;
use crate::ffi_call::call_in_context;
use crate::ffi_query::Handle;
use crate::link::Link;
use crate::operation::{Kind, Operation};
use crate::query_state::{Callback, Progress, State};
use crate::server::Hooks;
use crate::unsafe_held::Held;
use crate::{ffi_stop, ffi_task, names, result};

/// Who keeps the promise, and on whose loop those who wait for it run.
pub enum Owner {
    Link(Held<Link>),
    Server(Arc<Hooks>),
}

impl Owner {
    #[inline]
    fn event_loop<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        match self {
            Self::Link(link) => link.get().event_loop(py),
            Self::Server(hooks) => hooks.event_loop.bind(py),
        }
    }

    #[inline]
    fn done_future<'a, 'py>(&'a self, py: Python<'py>) -> Option<&'a Bound<'py, PyAny>> {
        match self {
            Self::Link(link) => link.get().done_future(py),
            Self::Server(hooks) => hooks.done_future(py),
        }
    }
}

/// One database operation, or anything else that is awaited the same way.
pub struct Query {
    pub owner: Owner,
    pub kind: Kind,
    /// When to give it up, in the reactor's milliseconds.
    pub deadline: Cell<u64>,
    /// What `asyncio.Task` asks of a future that it shall wait for.
    pub blocking: Cell<bool>,
    pub state: RefCell<State>,
    /// Dropped when the query is done; borrowed while it is packed.
    pub operation: RefCell<Option<Operation>>,
}

impl Query {
    #[inline]
    pub fn new(link: &Bound<'_, Link>, operation: Operation) -> Self {
        Self {
            owner: Owner::Link(link.clone().into()),
            kind: operation.kind,
            deadline: Cell::new(u64::MAX),
            blocking: Cell::new(false),
            state: RefCell::new(State::new()),
            operation: RefCell::new(Some(operation)),
        }
    }

    /// Something that a server will tell.
    pub fn promise(hooks: &Arc<Hooks>) -> Self {
        Self {
            owner: Owner::Server(Arc::clone(hooks)),
            kind: Kind::Promise,
            deadline: Cell::new(u64::MAX),
            blocking: Cell::new(false),
            state: RefCell::new(State::new()),
            operation: RefCell::new(None),
        }
    }

    /// The link of a database operation.
    #[inline]
    pub fn link(&self) -> &Link {
        match &self.owner {
            Owner::Link(link) => link.get(),
            Owner::Server(_) => unreachable!("only operations come to a link"),
        }
    }

    /// The loop on which it is awaited.
    #[inline]
    pub fn event_loop<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        self.owner.event_loop(py)
    }

    pub fn is_done(&self) -> bool {
        self.state.borrow().is_done()
    }

    pub fn is_cancelled(&self) -> bool {
        matches!(self.state.borrow().progress, Progress::Cancelled(_))
    }

    /// The result, or the exception that says why there is none; `None` while there is neither.
    pub fn outcome<'py>(&self, py: Python<'py>) -> Option<PyResult<Bound<'py, PyAny>>> {
        let state = self.state.borrow();
        match &state.progress {
            Progress::Waiting | Progress::Sent(_) => None,
            Progress::Done(result) => Some(Ok(result.bind(py).clone())),
            Progress::Failed(error) => {
                let error = error.bind(py).clone().into_any();
                drop(state);
                Some(Err(PyErr::from_value(error)))
            }
            Progress::Cancelled(message) => {
                let message = message.as_ref().map(|message| message.bind(py).clone());
                drop(state);
                Some(Err(cancelled(py, message.as_ref())))
            }
        }
    }

    /// What the cancellation said.
    pub fn cancel_message<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match &self.state.borrow().progress {
            Progress::Cancelled(message) => Some(message.as_ref()?.bind(py).clone()),
            _ => None,
        }
    }

    pub fn describe(&self) -> &'static str {
        match self.state.borrow().progress {
            Progress::Waiting => "<Query waiting>",
            Progress::Sent(_) => "<Query sent>",
            Progress::Done(_) => "<Query done>",
            Progress::Failed(_) => "<Query failed>",
            Progress::Cancelled(_) => "<Query cancelled>",
        }
    }

    /// Drop every callback equal to `function`; tells how many there were.
    pub fn remove_callbacks(&self, function: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = function.py();
        let mut equal = Vec::new();
        for known in self.functions(py) {
            if known.eq(function)? {
                equal.push(known);
            }
        }
        let mut state = self.state.borrow_mut();
        let (first, more) = state.take_callbacks();
        let mut removed = Vec::new();
        for callback in first.into_iter().chain(more) {
            if equal.iter().any(|known| known.is(&*callback.function)) {
                removed.push(callback);
            } else {
                state.add_callback(callback);
            }
        }
        drop(state);
        Ok(removed.len())
    }

    fn functions<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        let state = self.state.borrow();
        let callbacks = state.callback.iter().chain(&state.more_callbacks);
        callbacks.map(|callback| callback.function.bind(py).clone()).collect()
    }

    /// Break every cycle; for the garbage collector.
    pub fn clear(&self) {
        let taken = self.state.try_borrow_mut().map(|mut state| {
            let progress = std::mem::replace(&mut state.progress, Progress::Cancelled(None));
            (state.take_callbacks(), progress)
        });
        drop(taken);
        self.drop_operation();
    }

    /// What is being packed is dropped by whoever packs it.
    #[inline]
    pub fn drop_operation(&self) {
        if let Ok(mut operation) = self.operation.try_borrow_mut() {
            *operation = None;
        }
    }
}

impl Handle {
    /// The server answered.
    #[inline]
    pub fn replied(&self, py: Python<'_>, reply: Reply) -> PyResult<()> {
        let query = self.get();
        let format = {
            let mut state = query.state.borrow_mut();
            if state.is_done() {
                return Ok(());
            }
            state.format.take()
        };
        let outcome = result::of(py, query.kind, reply, format.as_ref());
        self.finish(py, Progress::of(py, outcome), true)
    }

    /// The query failed, in the words of the connection.
    pub fn failed(&self, py: Python<'_>, failure: &Failure) -> PyResult<()> {
        let error = self.get().link().error(py, failure);
        self.finish(py, Progress::failed(py, error), true)
    }

    /// Done, one way or the other. `direct`: whoever waits may run now, at the turn's own level.
    #[inline]
    pub fn finish(&self, py: Python<'_>, progress: Progress, direct: bool) -> PyResult<()> {
        let query = self.get();
        let (first, more, format) = {
            let mut state = query.state.borrow_mut();
            if state.is_done() {
                drop(state);
                drop(progress);
                return Ok(());
            }
            state.progress = progress;
            let (first, more) = state.take_callbacks();
            (first, more, state.format.take())
        };
        drop(format);
        query.drop_operation();
        if let Some(callback) = first {
            self.wake(py, &callback, direct)?;
        }
        for callback in more {
            self.wake(py, &callback, direct)?;
        }
        Ok(())
    }

    /// Run one done callback, now if it can be, else through the loop.
    #[inline]
    pub fn wake(&self, py: Python<'_>, callback: &Callback, direct: bool) -> PyResult<()> {
        let function = callback.function.bind(py);
        let owner = &self.get().owner;
        let event_loop = owner.event_loop(py);
        if direct || event_loop.is_none() {
            let outcome = match &callback.context {
                Some(context) => {
                    let argument = self.argument(py, function, owner);
                    call_in_context(context.bind(py), function, &argument)
                }
                None => function.call1((self.bind(py),)).map(Some),
            };
            match outcome {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {}
                Err(error) => return self.report(event_loop, ordinary(py, error)?),
            }
        }
        self.call_soon(event_loop, callback)
    }

    /// The query; or, where that makes no difference, what costs less to look at.
    #[inline]
    fn argument<'py>(
        &self,
        py: Python<'py>,
        function: &Bound<'py, PyAny>,
        owner: &Owner,
    ) -> Bound<'py, PyAny> {
        let succeeded = matches!(self.get().state.borrow().progress, Progress::Done(_));
        if succeeded
            && ffi_task::wakes_a_task(function)
            && let Some(future) = owner.done_future(py)
        {
            return future.clone();
        }
        self.bind(py).to_owned()
    }

    fn call_soon(&self, event_loop: &Bound<'_, PyAny>, callback: &Callback) -> PyResult<()> {
        let py = event_loop.py();
        let options = PyDict::new(py);
        if let Some(context) = &callback.context {
            options.set_item("context", &**context)?;
        }
        let arguments = (&*callback.function, self.bind(py));
        event_loop.call_method("call_soon", arguments, Some(&options))?;
        Ok(())
    }

    /// A done callback raised: nobody above can use the exception.
    fn report(&self, event_loop: &Bound<'_, PyAny>, error: PyErr) -> PyResult<()> {
        let py = event_loop.py();
        if event_loop.is_none() {
            error.write_unraisable(py, Some(&self.bind(py)));
            return Ok(());
        }
        let context = PyDict::new(py);
        context.set_item("message", "a done callback of a query raised")?;
        context.set_item("exception", error.into_value(py))?;
        event_loop.call_method1("call_exception_handler", (context,))?;
        Ok(())
    }

    /// A step of whoever awaits it: itself while it waits, and at last its result.
    #[inline]
    pub fn next(&self, py: Python<'_>) -> PyResult<*mut ffi::PyObject> {
        match self.get().outcome(py) {
            None => {
                self.get().blocking.set(true);
                Ok(self.bind(py).to_owned().into_ptr())
            }
            Some(Ok(result)) => Ok(ffi_stop::stop(result)),
            Some(Err(error)) => Err(error),
        }
    }

    pub fn cancel(&self, py: Python<'_>, message: Option<Bound<'_, PyAny>>) -> PyResult<bool> {
        let query = self.get();
        let sync = match query.state.borrow().progress {
            Progress::Waiting => None,
            Progress::Sent(sync) => Some(sync),
            _ => return Ok(false),
        };
        if let Some(sync) = sync {
            // Its reply will be skipped by length.
            drop(query.link().abandon(sync)?);
        }
        self.finish(py, Progress::Cancelled(message.map(Held::from)), false)?;
        Ok(true)
    }

    #[inline]
    pub fn add_done_callback(
        &self,
        function: &Bound<'_, PyAny>,
        context: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let callback = Callback {
            function: function.clone().into(),
            context: context.map(|context| context.clone().into()),
        };
        let mut state = self.get().state.borrow_mut();
        if !state.is_done() {
            state.add_callback(callback);
            return Ok(());
        }
        drop(state);
        self.wake(function.py(), &callback, false)
    }
}

pub fn cancelled(py: Python<'_>, message: Option<&Bound<'_, PyAny>>) -> PyErr {
    let made = names::cancelled_error(py).and_then(|class| match message {
        Some(message) => class.call1((message,)),
        None => class.call0(),
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

pub fn not_done(py: Python<'_>) -> PyErr {
    match names::invalid_state_error(py).and_then(|class| class.call1(("the query is not done",))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
