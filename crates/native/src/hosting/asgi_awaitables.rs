//! What `receive` and `send` return: awaitables that are coroutines too, since applications give
//! them to `asyncio.create_task`.

use std::cell::RefCell;

use pyo3::exceptions::{PyBaseException, PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use pyo3::{PyTraverseError, PyVisit};

use crate::asgi_exchange::AsgiExchange;
use crate::asgi_receive::Received;
use crate::ffi_query::Handle;
use crate::ready::stop_iteration;
use crate::unsafe_gil_bound::GilBound;

/// An event was taken and nothing has to wait. The same object every time.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Sent;

/// An event was taken and the next one has to wait; or it was refused, which is told when this is
/// awaited, as with a coroutine.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Sending(Outcome);

enum Outcome {
    Later(GilBound<Handle>),
    Failed(Py<PyBaseException>),
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
    pub fn later(py: Python<'_>, promise: Handle) -> PyResult<Bound<'_, PyAny>> {
        Ok(Bound::new(py, Self(Outcome::Later(GilBound::new(promise))))?.into_any())
    }

    pub fn failed(py: Python<'_>, error: PyErr) -> PyResult<Bound<'_, PyAny>> {
        Ok(Bound::new(py, Self(Outcome::Failed(error.into_value(py))))?.into_any())
    }
}

impl Receiving {
    pub fn new(exchange: Py<AsgiExchange>) -> Self {
        Self { exchange, promise: GilBound::new(RefCell::new(None)) }
    }

    /// Is that how the promise failed? A task throws it in.
    fn is_told_by(&self, error: &PyErr, py: Python<'_>) -> bool {
        let promise = self.promise.borrow();
        let Some(promise) = promise.as_ref().map(Handle::get) else { return false };
        !promise.is_cancelled()
            && matches!(promise.outcome(py), Some(Err(known)) if known.value(py).is(error.value(py)))
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
        match &self.0 {
            Outcome::Failed(error) => Err(PyErr::from_value(error.bind(py).clone().into_any())),
            Outcome::Later(promise) => match promise.get().outcome(py) {
                None => Ok(Some(wait_for(py, promise))),
                Some(outcome) => outcome.map(|_| None),
            },
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

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.0 {
            Outcome::Failed(error) => visit.call(error),
            // A promise that is not kept is its server's.
            Outcome::Later(_) => Ok(()),
        }
    }
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
    fn throw<'py>(
        &self,
        kind: &Bound<'py, PyAny>,
        value: Option<&Bound<'py, PyAny>>,
        _traceback: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = kind.py();
        let error = thrown(kind, value)?;
        if self.is_told_by(&error, py) {
            // Why there is no more of the body is told by an event.
            return self.__next__(py);
        }
        self.close(py)?;
        Err(error)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let given_up = self.promise.borrow_mut().take();
        drop(given_up);
        self.exchange.get().wake_others(py)
    }
}
