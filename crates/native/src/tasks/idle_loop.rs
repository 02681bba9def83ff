//! `IdleLoop`: the loop of a task that nobody has looked at, for those who look past the object.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A loop that never runs anything.
#[pyclass(frozen, module = "tarmac._native")]
pub struct IdleLoop;

#[expect(clippy::unused_self, reason = "methods of a protocol")]
#[pymethods]
impl IdleLoop {
    fn get_debug(&self) -> bool {
        false
    }

    /// What a new task asks for first: it is not to take a step.
    #[pyo3(signature = (*arguments, **options))]
    fn call_soon(&self, arguments: &Bound<'_, PyTuple>, options: Option<&Bound<'_, PyDict>>) {
        let _ = (arguments, options);
    }
}
