//! What `receive` and `send` return: awaitables that are coroutines too, since applications give
//! them to `asyncio.create_task`.

use std::cell::RefCell;

use pyo3::exceptions::{PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::asgi_exchange::AsgiExchange;
use crate::asgi_receive::Received;
use crate::ffi_query::Handle;
use crate::ready::stop_iteration;
use crate::unsafe_gil_bound::GilBound;

/// An event was taken and nothing has to wait. The same object every time.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Sent;

/// An event was taken; the next one has to wait.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Sending {
    promise: GilBound<Handle>,
}

/// An event is being waited for, from the moment at which this is awaited.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Receiving {
    exchange: Py<AsgiExchange>,
    promise: GilBound<RefCell<Option<Handle>>>,
}

impl Sent {
    #[inline]
    pub fn get(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static SENT: PyOnceLock<Py<Sent>> = PyOnceLock::new();
        let sent = SENT.get_or_try_init(py, || Py::new(py, Self))?;
        Ok(sent.bind(py).clone().into_any())
    }
}

impl Sending {
    pub fn new(promise: Handle) -> Self {
        Self { promise: GilBound::new(promise) }
    }
}

impl Receiving {
    pub fn new(exchange: Py<AsgiExchange>) -> Self {
        Self { exchange, promise: GilBound::new(RefCell::new(None)) }
    }

    fn step<'py>(&self, py: Python<'py>) -> PyResult<Step<'py>> {
        if let Some(promise) = &*self.promise.borrow()
            && !promise.get().is_done()
        {
            return Ok(Step::Yield(wait_for(py, promise)));
        }
        match self.exchange.get().poll(py)? {
            Received::Event(event) => Ok(Step::Return(event.into_any())),
            Received::Later(promise) => {
                let yielded = wait_for(py, &promise);
                *self.promise.borrow_mut() = Some(promise);
                Ok(Step::Yield(yielded))
            }
        }
    }
}

/// What one step of an awaitable gives.
enum Step<'py> {
    Yield(Bound<'py, PyAny>),
    Return(Bound<'py, PyAny>),
}

/// The promise, marked as asyncio's tasks want it.
fn wait_for<'py>(py: Python<'py>, promise: &Handle) -> Bound<'py, PyAny> {
    promise.get().blocking.set(true);
    promise.bind(py).to_owned()
}

/// The exception that is thrown into a coroutine: given, or made of its class and arguments.
fn thrown(kind: &Bound<'_, PyAny>, value: Option<&Bound<'_, PyAny>>) -> PyResult<PyErr> {
    if !kind.is_instance_of::<PyType>() {
        return Ok(PyErr::from_value(kind.clone()));
    }
    match value {
        None => Ok(PyErr::from_value(kind.call0()?)),
        Some(value) if value.is_instance(kind)? => Ok(PyErr::from_value(value.clone())),
        Some(_) => Err(PyTypeError::new_err("throw() takes an exception")),
    }
}

#[pymethods]
impl Sent {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[expect(clippy::unused_self, reason = "a method for Python")]
    fn __next__(&self) -> Option<Py<PyAny>> {
        None
    }

    #[expect(clippy::unused_self, reason = "a method for Python")]
    fn send(&self, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyStopIteration::new_err(()))
    }

    #[pyo3(signature = (kind, value=None, _traceback=None))]
    #[expect(clippy::unused_self, reason = "a method for Python")]
    fn throw(
        &self,
        kind: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        Err(thrown(kind, value)?)
    }

    #[expect(clippy::unused_self, reason = "a method for Python")]
    fn close(&self) {}
}

#[pymethods]
impl Sending {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.promise.get().outcome(py) {
            None => Ok(Some(wait_for(py, &self.promise))),
            Some(outcome) => outcome.map(|_| None),
        }
    }

    fn send<'py>(&self, py: Python<'py>, _value: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.__next__(py)?.ok_or_else(|| PyStopIteration::new_err(()))
    }

    #[pyo3(signature = (kind, value=None, _traceback=None))]
    #[expect(clippy::unused_self, reason = "a method for Python")]
    fn throw(
        &self,
        kind: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        Err(thrown(kind, value)?)
    }

    #[expect(clippy::unused_self, reason = "a method for Python")]
    fn close(&self) {}
}

#[pymethods]
impl Receiving {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.step(py)? {
            Step::Yield(promise) => Ok(promise),
            Step::Return(event) => Err(stop_iteration(py, event.unbind())),
        }
    }

    fn send<'py>(&self, py: Python<'py>, _value: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.__next__(py)
    }

    #[pyo3(signature = (kind, value=None, _traceback=None))]
    fn throw(
        &self,
        kind: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.close(kind.py())?;
        Err(thrown(kind, value)?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let given_up = self.promise.borrow_mut().take();
        drop(given_up);
        self.exchange.get().wake_others(py)
    }
}
