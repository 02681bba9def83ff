//! `Query`: one operation in flight, awaited like a future but without one.

use std::sync::atomic::{AtomicBool, Ordering};

use peers::{Failure, Reply};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{PyTraverseError, PyVisit};

use crate::dispatch::ordinary;
use crate::ffi_call::call_in_context;
use crate::link::Link;
use crate::operation::Operation;
use crate::query_state::{Callback, Progress, State};
use crate::ready::stop_iteration;
use crate::unsafe_thread_bound::ThreadBound;
use crate::{names, result};

/// One database operation: awaitable, and future-like for gather, shield and `wait_for`.
#[pyclass(frozen, module = "tarmac._native", weakref)]
pub struct Query {
    pub link: Py<Link>,
    pub state: ThreadBound<State>,
    /// When to give it up, in the reactor's milliseconds.
    pub deadline: u64,
    blocking: AtomicBool,
}

impl Query {
    pub fn new(link: &Bound<'_, Link>, operation: Operation, deadline: u64) -> Self {
        Self {
            link: link.clone().unbind(),
            state: ThreadBound::new(State::new(operation)),
            deadline,
            blocking: AtomicBool::new(false),
        }
    }

    /// The server answered.
    #[inline]
    pub fn replied(slf: &Bound<'_, Self>, reply: Reply) -> PyResult<()> {
        let py = slf.py();
        let (kind, format) = {
            let mut state = slf.get().state.open()?;
            if state.is_done() {
                return Ok(());
            }
            let Some(operation) = state.operation.take() else { return Ok(()) };
            (operation.kind, state.format.take())
        };
        let progress = match result::of(py, kind, reply, format.as_ref()) {
            Ok(result) => Progress::Done(result),
            Err(error) => Progress::Failed(error),
        };
        Self::finish(slf, progress, true)
    }

    /// The query failed, in the words of the connection.
    pub fn failed(slf: &Bound<'_, Self>, failure: &Failure) -> PyResult<()> {
        let error = slf.get().link.bind(slf.py()).get().error(slf.py(), failure);
        Self::finish(slf, Progress::Failed(error), true)
    }

    /// Done, one way or the other. `direct`: whoever waits may run now, at the turn's own level.
    pub fn finish(slf: &Bound<'_, Self>, progress: Progress, direct: bool) -> PyResult<()> {
        let (first, more) = {
            let mut state = slf.get().state.open()?;
            if state.is_done() {
                return Ok(());
            }
            state.progress = progress;
            state.operation = None;
            state.format = None;
            state.take_callbacks()
        };
        for callback in first.into_iter().chain(more) {
            Self::wake(slf, &callback, direct)?;
        }
        Ok(())
    }

    /// Run one done callback, now if it can be, else through the loop.
    fn wake(slf: &Bound<'_, Self>, callback: &Callback, direct: bool) -> PyResult<()> {
        let py = slf.py();
        let function = callback.function.bind(py);
        let event_loop = slf.get().link.get().event_loop(py);
        if direct || event_loop.is_none() {
            let outcome = match &callback.context {
                Some(context) => call_in_context(context.bind(py), function, slf.as_any()),
                None => function.call1((slf,)).map(Some),
            };
            match outcome {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {}
                Err(error) => return report(slf, &event_loop, ordinary(py, error)?),
            }
        }
        call_soon(slf, &event_loop, callback)
    }

    /// The result, or the exception that says why there is none.
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<PyResult<Py<PyAny>>>> {
        let state = self.state.open()?;
        Ok(match &state.progress {
            Progress::Waiting | Progress::Sent(_) => None,
            Progress::Done(result) => Some(Ok(result.clone_ref(py))),
            Progress::Failed(error) => Some(Err(error.clone_ref(py))),
            Progress::Cancelled(message) => {
                Some(Err(cancelled(py, message.as_ref().map(|text| text.bind(py)))))
            }
        })
    }
}

fn call_soon(
    query: &Bound<'_, Query>,
    event_loop: &Bound<'_, PyAny>,
    callback: &Callback,
) -> PyResult<()> {
    let py = query.py();
    let options = PyDict::new(py);
    if let Some(context) = &callback.context {
        options.set_item("context", context)?;
    }
    event_loop.call_method("call_soon", (&callback.function, query), Some(&options))?;
    Ok(())
}

/// A done callback raised: nobody above can use the exception.
fn report(query: &Bound<'_, Query>, event_loop: &Bound<'_, PyAny>, error: PyErr) -> PyResult<()> {
    let py = query.py();
    if event_loop.is_none() {
        error.write_unraisable(py, Some(query));
        return Ok(());
    }
    let context = PyDict::new(py);
    context.set_item("message", "a done callback of a query raised")?;
    context.set_item("exception", error.into_value(py))?;
    event_loop.call_method1("call_exception_handler", (context,))?;
    Ok(())
}

fn cancelled(py: Python<'_>, message: Option<&Bound<'_, PyAny>>) -> PyErr {
    let made = names::cancelled_error(py).and_then(|class| match message {
        Some(message) => class.call1((message,)),
        None => class.call0(),
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

fn not_done(py: Python<'_>) -> PyErr {
    match names::invalid_state_error(py).and_then(|class| class.call1(("the query is not done",))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

#[pymethods]
impl Query {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let this = slf.get();
        match this.outcome(slf.py())? {
            None => {
                this.blocking.store(true, Ordering::Relaxed);
                Ok(slf.clone().into_any().unbind())
            }
            Some(Ok(result)) => Err(stop_iteration(slf.py(), result)),
            Some(Err(error)) => Err(error),
        }
    }

    #[getter(_asyncio_future_blocking)]
    fn blocking(&self) -> bool {
        self.blocking.load(Ordering::Relaxed)
    }

    #[setter(_asyncio_future_blocking)]
    fn set_blocking(&self, value: bool) {
        self.blocking.store(value, Ordering::Relaxed);
    }

    fn done(&self) -> PyResult<bool> {
        Ok(self.state.open()?.is_done())
    }

    fn cancelled(&self) -> PyResult<bool> {
        Ok(matches!(self.state.open()?.progress, Progress::Cancelled(_)))
    }

    fn result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.outcome(py)?.unwrap_or_else(|| Err(not_done(py)))
    }

    fn exception(&self, py: Python<'_>) -> PyResult<Option<Py<PyBaseException>>> {
        if self.cancelled()? {
            return Err(cancelled(py, None));
        }
        match self.outcome(py)? {
            None => Err(not_done(py)),
            Some(Ok(_)) => Ok(None),
            Some(Err(error)) => Ok(Some(error.into_value(py))),
        }
    }

    #[pyo3(signature = (msg=None))]
    fn cancel(slf: &Bound<'_, Self>, msg: Option<Py<PyAny>>) -> PyResult<bool> {
        let this = slf.get();
        let sync = match this.state.open()?.progress {
            Progress::Waiting => None,
            Progress::Sent(sync) => Some(sync),
            _ => return Ok(false),
        };
        if let Some(sync) = sync {
            // Its reply will be skipped by length.
            let abandoned = this.link.get().abandon(slf.py(), sync)?;
            drop(abandoned);
        }
        Self::finish(slf, Progress::Cancelled(msg), false)?;
        Ok(true)
    }

    /// Read by `asyncio.gather`.
    #[getter(_cancel_message)]
    fn cancel_message(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        Ok(match &self.state.open()?.progress {
            Progress::Cancelled(message) => message.as_ref().map(|message| message.clone_ref(py)),
            _ => None,
        })
    }

    /// Called by `asyncio.gather`.
    #[pyo3(name = "_make_cancelled_error")]
    fn make_cancelled_error(&self, py: Python<'_>) -> PyResult<Py<PyBaseException>> {
        let message = self.cancel_message(py)?;
        Ok(cancelled(py, message.as_ref().map(|text| text.bind(py))).into_value(py))
    }

    #[pyo3(signature = (callback, *, context=None))]
    fn add_done_callback(
        slf: &Bound<'_, Self>,
        callback: Py<PyAny>,
        context: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let callback = Callback { function: callback, context };
        let mut state = slf.get().state.open()?;
        if !state.is_done() {
            state.add_callback(callback);
            return Ok(());
        }
        drop(state);
        Self::wake(slf, &callback, false)
    }

    fn remove_done_callback(&self, callback: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.state.open()?.remove_callbacks(callback)
    }

    fn get_loop<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.link.get().event_loop(py)
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        _item: &Bound<'py, PyAny>,
    ) -> Bound<'py, PyType> {
        class.clone()
    }

    fn __repr__(&self) -> PyResult<&'static str> {
        Ok(match self.state.open()?.progress {
            Progress::Waiting => "<Query waiting>",
            Progress::Sent(_) => "<Query sent>",
            Progress::Done(_) => "<Query done>",
            Progress::Failed(_) => "<Query failed>",
            Progress::Cancelled(_) => "<Query cancelled>",
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.state.try_open().map_or(Ok(()), |state| state.traverse(&visit))
    }

    fn __clear__(&self) {
        if let Some(mut state) = self.state.try_open() {
            let callbacks = state.take_callbacks();
            let progress = std::mem::replace(&mut state.progress, Progress::Cancelled(None));
            // Dropping may run Python code: with the cell closed.
            drop(state);
            drop((callbacks, progress));
        }
    }
}
