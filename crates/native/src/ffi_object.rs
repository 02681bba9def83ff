//! Pieces of the C API that pyo3 has no safe or no equally cheap form of.

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

/// A string of ASCII bytes: one pass to see that they are, one to copy them. `None` if not.
#[inline]
pub fn ascii_string<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !bytes.is_ascii() {
        return Ok(None);
    }
    // SAFETY: a fresh string for that many characters up to 127 has that many bytes of one
    // character each, and nobody has seen it; the empty one is shared, and nothing is copied.
    unsafe {
        let string = ffi::PyUnicode_New(bytes.len().cast_signed(), 127);
        let string = Bound::from_owned_ptr_or_err(py, string)?;
        debug_assert_eq!(bytes.len().cast_signed(), ffi::PyUnicode_GET_LENGTH(string.as_ptr()));
        let data = ffi::PyUnicode_DATA(string.as_ptr()).cast::<u8>();
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Ok(Some(string))
    }
}
