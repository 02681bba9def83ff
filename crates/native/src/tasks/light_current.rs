//! The empty task that is current, kept so between one first step of a turn and the next.

use pyo3::prelude::*;

use crate::current_task::Asyncio;
use crate::ffi_light_task::LightTask;
use crate::reactor_class::Reactor;

/// An empty task that is current.
///
/// A pipeline of requests has one after the other: it stays current until anything else runs, so
/// that asyncio need not be told for each. Nothing of Python runs meanwhile.
pub struct Entered {
    task: LightTask,
    event_loop: Py<PyAny>,
    /// What was current before.
    previous: Option<Py<PyAny>>,
    /// Who holds the task: asyncio and this.
    holders: (isize, usize),
}

impl Entered {
    /// The one of this turn, or another. `None`: no loop runs here.
    #[inline]
    pub fn get(reactor: &Bound<'_, Reactor>) -> PyResult<Option<Self>> {
        let kept = reactor.get().hub.open()?.light.take();
        match kept {
            Some(entered) if entered.is_unseen() => Ok(Some(entered)),
            Some(entered) => {
                entered.leave(reactor)?;
                Self::enter(reactor)
            }
            None => Self::enter(reactor),
        }
    }

    fn enter(reactor: &Bound<'_, Reactor>) -> PyResult<Option<Self>> {
        let py = reactor.py();
        let asyncio = Asyncio::get(py)?;
        let Some(event_loop) = asyncio.running_loop(py)? else { return Ok(None) };
        let spare = reactor.get().hub.open()?.spare_task.take();
        let task = match spare {
            Some(task) if task.is_unseen_but_by(ONE) => task,
            _ => LightTask::new(py)?,
        };
        let previous = asyncio.swap(&event_loop, Some(task.bind(py)))?;
        asyncio.register(task.bind(py))?;
        let holders = task.holders();
        let (event_loop, previous) = (event_loop.unbind(), previous.map(Bound::unbind));
        Ok(Some(Self { task, event_loop, previous, holders }))
    }

    #[inline]
    pub fn task(&self) -> &LightTask {
        &self.task
    }

    #[inline]
    pub fn event_loop<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.event_loop.bind(py)
    }

    /// Nobody has looked at the task and nobody holds it: it can serve again.
    #[inline]
    pub fn is_unseen(&self) -> bool {
        self.task.is_unseen_but_by(self.holders)
    }

    /// The step is over; there may be another one in this turn.
    #[inline]
    pub fn stay(self, reactor: &Bound<'_, Reactor>) -> PyResult<()> {
        let mut hub = reactor.get().hub.open()?;
        if hub.in_turn && self.previous.is_none() && hub.light.is_none() {
            hub.light = Some(self);
            return Ok(());
        }
        drop(hub);
        self.leave(reactor).map(drop)
    }

    /// Make current again what was, and return it.
    pub fn leave<'py>(self, reactor: &Bound<'py, Reactor>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = reactor.py();
        let asyncio = Asyncio::get(py)?;
        let task = self.task.bind(py);
        let previous = self.previous.map(|previous| previous.into_bound(py));
        asyncio.swap(self.event_loop.bind(py), previous.as_ref())?;
        // Before 3.12 a real task is counted in the same place.
        if asyncio.is_eager() || self.task.is_untouched() {
            asyncio.unregister(task)?;
        }
        if self.task.is_unseen_but_by(ONE) {
            reactor.get().hub.open()?.spare_task = Some(self.task);
        }
        Ok(previous)
    }
}

/// One reference, none of them weak.
const ONE: (isize, usize) = (1, 0);

/// Anything else is to run: no empty task is current any more.
#[inline]
pub fn leave(reactor: &Bound<'_, Reactor>) -> PyResult<()> {
    let kept = reactor.get().hub.open()?.light.take();
    kept.map_or(Ok(()), |entered| entered.leave(reactor).map(drop))
}
