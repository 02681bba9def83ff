//! The attribute look-up that every object has, for classes that put their own in front of it.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// `object.__getattribute__(object, name)`.
pub fn generic_attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: both pointers come from live `Bound`s, so they are valid and the interpreter is
    // attached; the result is a new reference, or null with an exception set.
    unsafe {
        let found = ffi::PyObject_GenericGetAttr(object.as_ptr(), name.as_ptr());
        Bound::from_owned_ptr_or_err(object.py(), found)
    }
}
