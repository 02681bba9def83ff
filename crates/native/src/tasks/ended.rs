//! `Ended`: the coroutine of a task whose request was answered long ago.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

/// A coroutine that has nothing to do.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Ended;

#[expect(clippy::unused_self, reason = "methods of a protocol")]
#[pymethods]
impl Ended {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> Option<Py<PyAny>> {
        None
    }

    fn send(&self, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let _ = value;
        Err(PyStopIteration::new_err(()))
    }

    fn throw(&self, exception: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(PyErr::from_value(exception.clone()))
    }

    fn close(&self) {}
}
