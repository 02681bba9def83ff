//! `Gate`: what a task waits for when it becomes a real one in the middle of its first step.
//!
//! Future-like. It opens when that step is over, and then the task goes on within the same turn.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::request::Request;
use crate::unsafe_thread_bound::ThreadBound;

/// The end of a first step.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Gate {
    event_loop: Py<PyAny>,
    state: ThreadBound<State>,
}

struct State {
    blocking: bool,
    wakeup: Option<Py<PyAny>>,
}

impl Gate {
    /// For a task of the thread that serves `request`.
    pub fn new(request: &Request, event_loop: &Bound<'_, PyAny>) -> Self {
        let state = State { blocking: true, wakeup: None };
        let event_loop = event_loop.clone().unbind();
        Self { event_loop, state: request.reactor().get().hub.beside(state) }
    }

    /// Let the task go on, in the context of the caller.
    pub fn open(slf: &Bound<'_, Self>) -> PyResult<()> {
        let wakeup = slf.get().state.open()?.wakeup.take();
        wakeup.map_or(Ok(()), |wakeup| wakeup.call1(slf.py(), (slf,)).map(drop))
    }
}

#[expect(clippy::unused_self, reason = "methods of a protocol")]
#[pymethods]
impl Gate {
    #[getter(_asyncio_future_blocking)]
    fn blocking(&self) -> PyResult<bool> {
        Ok(self.state.open()?.blocking)
    }

    #[setter(_asyncio_future_blocking)]
    fn set_blocking(&self, blocking: bool) -> PyResult<()> {
        self.state.open()?.blocking = blocking;
        Ok(())
    }

    fn get_loop(&self, py: Python<'_>) -> Py<PyAny> {
        self.event_loop.clone_ref(py)
    }

    #[pyo3(signature = (callback, *, context=None))]
    fn add_done_callback(&self, callback: Py<PyAny>, context: Option<Py<PyAny>>) -> PyResult<()> {
        // The context is the task's own, and it is entered when the gate opens.
        drop(context);
        let mut state = self.state.open()?;
        if state.wakeup.is_some() {
            return Err(PyRuntimeError::new_err("one task waits for its own first step"));
        }
        state.wakeup = Some(callback);
        Ok(())
    }

    fn result(&self) {}

    fn __repr__(&self) -> &'static str {
        "<the end of its first step>"
    }

    /// A step that runs cannot be cancelled: the task remembers that it is to be.
    #[pyo3(signature = (msg=None))]
    fn cancel(&self, msg: Option<Py<PyAny>>) -> bool {
        drop(msg);
        false
    }
}
