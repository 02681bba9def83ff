//! `HandlerCoroutine`: an asynchronous handler that answers its request when it ends.
//!
//! The task runs this object instead of the handler's own coroutine, so the answer is given in the
//! very step in which the handler returns: no done callback, no further pass of the loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyStopIteration;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{PyTraverseError, PyVisit};

use crate::ffi_call::{Sent, send};
use crate::first_step::{Kept, Resumed};
use crate::reactor_class::Reactor;
use crate::request::Request;
use crate::server::Hooks;
use crate::unsafe_thread_bound::ThreadBound;
use crate::{call, websocket_news};

/// A handler's coroutine and the request that its result answers.
#[pyclass(frozen, module = "tarmac._native", weakref)]
pub struct HandlerCoroutine {
    coroutine: Py<PyAny>,
    /// What writes the answer's body, when the handler has returned one that comes in pieces.
    pump: OnceLock<Py<PyAny>>,
    request: Py<Request>,
    hooks: Arc<Hooks>,
    ended: AtomicBool,
    /// The task that runs it, once it has been suspended.
    task: ThreadBound<Option<Py<PyAny>>>,
    /// What it did before there was a task to run it.
    kept: ThreadBound<Option<Kept>>,
}

impl HandlerCoroutine {
    /// Run `coroutine` as a task that answers `request`.
    pub fn start(
        hooks: &Arc<Hooks>,
        request: &Bound<'_, Request>,
        coroutine: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = request.py();
        let handler = Self::made(py, hooks, request, coroutine, None)?;
        let task = hooks.start.bind(py).call((&handler,), Some(hooks.options.bind(py)))?;
        handler.get().keep(&task)
    }

    /// For a coroutine whose first step was taken, or is being taken, without it.
    pub fn begun<'py>(
        py: Python<'py>,
        hooks: &Arc<Hooks>,
        request: &Bound<'_, Request>,
        coroutine: &Bound<'_, PyAny>,
        kept: Kept,
    ) -> PyResult<Bound<'py, Self>> {
        Self::made(py, hooks, request, coroutine, Some(kept))
    }

    fn made<'py>(
        py: Python<'py>,
        hooks: &Arc<Hooks>,
        request: &Bound<'_, Request>,
        coroutine: &Bound<'_, PyAny>,
        kept: Option<Kept>,
    ) -> PyResult<Bound<'py, Self>> {
        let hub = &request.get().reactor().get().hub;
        let handler = Self {
            coroutine: coroutine.clone().unbind(),
            pump: OnceLock::new(),
            request: request.clone().unbind(),
            hooks: Arc::clone(hooks),
            ended: AtomicBool::new(matches!(kept, Some(Kept::Ended(_)))),
            task: hub.beside(None),
            kept: hub.beside(kept),
        };
        Bound::new(py, handler)
    }

    /// The first step is over.
    pub fn settle(&self, settled: Kept) -> PyResult<()> {
        self.ended.store(matches!(settled, Kept::Ended(_)), Ordering::Relaxed);
        if let Some(kept) = &mut *self.kept.open()? {
            kept.settle(settled);
        }
        Ok(())
    }

    /// Hold the task until the handler ends: the loop itself holds tasks weakly.
    pub fn keep(&self, task: &Bound<'_, PyAny>) -> PyResult<()> {
        if !self.ended.load(Ordering::Relaxed) {
            self.hooks.running.bind(task.py()).add(task)?;
            *self.task.open()? = Some(task.clone().unbind());
        }
        Ok(())
    }

    /// A step of the task, maybe to throw an exception. `None`: it ended.
    fn step(
        &self,
        py: Python<'_>,
        thrown: Option<PyErr>,
        act: impl FnOnce() -> PyResult<Sent>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let kept = self.kept.open()?.take();
        match kept {
            None => self.after(py, act()),
            Some(kept) => self.resume(py, kept, thrown),
        }
    }

    /// The first step of a task that came late.
    #[cold]
    fn resume(
        &self,
        py: Python<'_>,
        kept: Kept,
        thrown: Option<PyErr>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let (resumed, kept) = match kept.resume(py, thrown) {
            Ok(resumed) => resumed,
            Err(error) => (Resumed::Throw(error), None),
        };
        *self.kept.open()? = kept;
        let next = match resumed {
            Resumed::Yield(value) => Ok(Some(value)),
            Resumed::After(sent) => self.after(py, sent),
            Resumed::Pump(pump) => self.pump(py, pump),
            Resumed::Throw(error) => self.after(py, self.throw_in(py, (error,))),
            Resumed::End(ended) => ended.map(|()| None),
        };
        if matches!(next, Ok(None))
            && let Some(Kept::Throw(error)) = self.kept.open()?.take()
        {
            // It came too late for the coroutine; the task itself is cancelled.
            return Err(error);
        }
        next
    }

    fn throw_in<'py>(&self, py: Python<'py>, arguments: impl PyCallArgs<'py>) -> PyResult<Sent> {
        match self.current(py).call_method1(intern!(py, "throw"), arguments) {
            Ok(value) => Ok(Sent::Yielded(value.unbind())),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                let value = error.value(py).getattr(intern!(py, "value"))?;
                Ok(Sent::Returned(value.unbind()))
            }
            Err(error) => Err(error),
        }
    }

    /// What the coroutine did, as this object's own next value. `None`: it ended.
    fn after(&self, py: Python<'_>, sent: PyResult<Sent>) -> PyResult<Option<Py<PyAny>>> {
        let outcome = match sent {
            Ok(Sent::Yielded(value)) => return Ok(Some(value)),
            Ok(Sent::Returned(result)) => Ok(result),
            Err(error) => Err(error),
        };
        let request = self.request.bind(py);
        let answered = match outcome {
            outcome if request.get().is_socket() => {
                websocket_news::handler_ended(&self.hooks, request, outcome).map(|()| None)
            }
            Ok(result) => call::finish(&self.hooks, request, result.bind(py)),
            Err(error) => call::give_up(&self.hooks, request, error).map(|()| None),
        };
        if let Ok(Some(pump)) = answered {
            return self.pump(py, pump.unbind());
        }
        self.ended.store(true, Ordering::Relaxed);
        // Taken, not read: the task holds this object.
        let task = self.task.open()?.take();
        if let Some(task) = task {
            self.hooks.running.bind(py).discard(task)?;
        }
        Reactor::request_flush(request.get().reactor().bind(py))?;
        answered.map(|_| None)
    }

    /// The same task goes on with the answer's body: whoever asks is still inside this request.
    fn pump(&self, py: Python<'_>, pump: Py<PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let pump = self.pump.get_or_init(|| pump).bind(py);
        let none = py.None();
        self.after(py, send(pump, none.bind(py)))
    }

    /// What runs now.
    #[inline]
    fn current<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        self.pump.get().unwrap_or(&self.coroutine).bind(py)
    }
}

#[pymethods]
impl HandlerCoroutine {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let none = py.None();
        self.step(py, None, || send(self.current(py), none.bind(py)))
    }

    fn send(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let next = self.step(py, None, || send(self.current(py), value))?;
        next.ok_or_else(|| PyStopIteration::new_err(()))
    }

    #[pyo3(signature = (*arguments))]
    fn throw(&self, py: Python<'_>, arguments: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let exception = arguments.get_item(0)?;
        let next =
            self.step(py, Some(PyErr::from_value(exception)), || self.throw_in(py, arguments))?;
        next.ok_or_else(|| PyStopIteration::new_err(()))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.current(py).call_method0(intern!(py, "close")).map(drop)
    }

    /// Everything else is the handler's own: `cr_frame`, `cr_await`, its name.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.current(py).getattr(name)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.current(py).repr()?.to_string())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.coroutine)?;
        visit.call(self.pump.get())?;
        visit.call(&self.request)?;
        self.task.try_open().map_or(Ok(()), |task| visit.call(&*task))
    }
}
