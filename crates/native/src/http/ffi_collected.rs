//! Requests that the garbage collector is told of only while they may be part of a cycle.

use pyo3::ffi;
use pyo3::prelude::*;

use crate::request::Request;

/// The collector need not look at this one, and nobody finds it through the collector.
pub fn hide(request: &Bound<'_, Request>) {
    // SAFETY: a live object of a class that is collected; one that is hidden already stays so.
    unsafe { ffi::PyObject_GC_UnTrack(request.as_ptr().cast()) };
}

/// From here on it may be part of a cycle.
pub fn show(request: &Bound<'_, Request>) {
    // SAFETY: a live object of a class that is collected, whole, and not shown yet.
    unsafe {
        if ffi::PyObject_GC_IsTracked(request.as_ptr()) == 0 {
            ffi::PyObject_GC_Track(request.as_ptr().cast());
        }
    }
}
