//! Pieces of the C API that pyo3 has no safe or no equally cheap form of.

use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

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

/// Runs what a slot does: an error and a panic both become the pending exception.
#[inline]
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>, failed: T) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            error.restore(py);
            failed
        }
        Err(_) => {
            PyRuntimeError::new_err("a panic in the native core: please report it").restore(py);
            failed
        }
    }
}

/// The entry of a type's members that tells where the interpreter finds something of its own.
pub fn member(name: &'static CStr, offset: usize) -> PyResult<ffi::PyMemberDef> {
    Ok(ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: ffi::Py_ssize_t::try_from(offset)?,
        flags: ffi::Py_READONLY,
        doc: null_mut(),
    })
}

/// The entry of a type's methods for a function that takes names.
pub fn method(
    name: &'static CStr,
    function: ffi::PyCFunctionFastWithKeywords,
    doc: &'static CStr,
) -> ffi::PyMethodDef {
    ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: doc.as_ptr(),
    }
}

/// A class from its slots; their functions and tables must live for ever.
pub fn make_type<'py>(
    py: Python<'py>,
    name: &'static CStr,
    size: usize,
    flags: c_ulong,
    slots: &[(c_int, *mut c_void)],
) -> PyResult<Bound<'py, PyType>> {
    let slots = slots.iter().copied().chain([(0, null_mut())]);
    let mut slots: Vec<_> = slots.map(|(slot, pfunc)| ffi::PyType_Slot { slot, pfunc }).collect();
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: c_int::try_from(size)?,
        itemsize: 0,
        flags: u32::try_from(ffi::Py_TPFLAGS_DEFAULT | flags)?,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the interpreter copies the slots; each function has the signature its slot asks for.
    let made = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))? };
    Ok(made.cast_into::<PyType>()?)
}
