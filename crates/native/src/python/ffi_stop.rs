//! How a result leaves an awaitable: as the value of a `StopIteration`.

use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;

/// Ends an iteration with `value`: what `tp_iternext` is to return, with the exception pending.
#[inline]
pub fn stop(value: Bound<'_, PyAny>) -> *mut ffi::PyObject {
    // To end without an exception means None.
    if !value.is_none() {
        raise(value);
    }
    null_mut()
}

/// As calling the class does it, less the search for the arguments. Always with an instance: a
/// tuple or an exception as value would be taken apart otherwise.
#[inline]
#[allow(deprecated, reason = "its successor is not there before Python 3.12")]
fn raise(value: Bound<'_, PyAny>) {
    // SAFETY: the class's `tp_new` makes an instance whose arguments are the tuple's and whose
    // value is null; it is ours alone until it becomes the pending exception, which takes it and a
    // reference to the class over.
    unsafe {
        let class = ffi::PyExc_StopIteration;
        let arguments = ffi::PyTuple_New(1);
        let make = (*class.cast::<ffi::PyTypeObject>()).tp_new;
        let Some(make) = make.filter(|_| !arguments.is_null()) else { return };
        ffi::PyTuple_SET_ITEM(arguments, 0, value.clone().into_ptr());
        let stop = make(class.cast(), arguments, null_mut());
        ffi::Py_DECREF(arguments);
        if stop.is_null() {
            return;
        }
        let place = &raw mut (*stop.cast::<ffi::PyStopIterationObject>()).value;
        debug_assert!((*place).is_null());
        place.write(value.into_ptr());
        ffi::Py_INCREF(class);
        ffi::PyErr_Restore(class, stop, null_mut());
    }
}
