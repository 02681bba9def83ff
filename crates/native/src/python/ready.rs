//! `Ready` and `Raises`: awaitables whose outcome is there already.

use pyo3::exceptions::{PyBaseException, PyStopIteration};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{PyTraverseError, PyVisit};

/// Awaited, it gives its result without suspending.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Ready {
    result: Py<PyAny>,
}

impl Ready {
    pub fn new(result: Py<PyAny>) -> Self {
        Self { result }
    }

    /// The one whose result is None.
    pub fn nothing(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static NOTHING: PyOnceLock<Py<Ready>> = PyOnceLock::new();
        let nothing = NOTHING.get_or_try_init(py, || Py::new(py, Self::new(py.None())))?;
        Ok(nothing.bind(py).clone().into_any())
    }
}

#[pymethods]
impl Ready {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if self.result.is_none(py) {
            // An end without an exception: that is None to whoever awaits, and costs nothing.
            return Ok(None);
        }
        Err(stop_iteration(py, self.result.clone_ref(py)))
    }
}

/// Awaited, it raises without suspending.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Raises {
    error: Py<PyBaseException>,
}

/// What `__anext__` returns: its error comes when it is awaited.
///
/// `anext(iterator, default)` takes the interpreter down where `__anext__` itself raises, before
/// `CPython` 3.12.10 and 3.13.3.
pub fn when_awaited<'py>(
    py: Python<'py>,
    outcome: PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match outcome {
        Ok(awaitable) => Ok(awaitable),
        Err(error) => Ok(Bound::new(py, Raises { error: error.into_value(py) })?.into_any()),
    }
}

#[pymethods]
impl Raises {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<()> {
        Err(PyErr::from_value(self.error.bind(py).clone().into_any()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.error)
    }
}

/// The exception that carries a result out of an awaitable.
pub fn stop_iteration(py: Python<'_>, result: Py<PyAny>) -> PyErr {
    // An instance of its own: a tuple or an exception as value would be taken apart otherwise.
    match py.get_type::<PyStopIteration>().call1((result,)) {
        Ok(stop) => PyErr::from_value(stop),
        Err(error) => error,
    }
}
