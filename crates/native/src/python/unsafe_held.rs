//! References to Python objects that are given back without asking whether the thread is attached.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use pyo3::ffi;
use pyo3::prelude::*;

/// A `Py<T>` whose drop is one decrement: pyo3's own looks a thread-local up first.
///
/// It may only live inside Python objects and in what a turn handles: both are dropped by a
/// thread that is attached. Nothing of this crate moves one into `Python::detach`.
pub struct Held<T>(ManuallyDrop<Py<T>>);

impl<T> Held<T> {
    /// Takes the reference over.
    #[inline]
    pub fn new(object: Py<T>) -> Self {
        Self(ManuallyDrop::new(object))
    }

    /// One more reference to the same object.
    #[inline]
    pub fn share(&self, py: Python<'_>) -> Self {
        Self::new(self.0.clone_ref(py))
    }
}

impl<T> From<Bound<'_, T>> for Held<T> {
    #[inline]
    fn from(object: Bound<'_, T>) -> Self {
        Self::new(object.unbind())
    }
}

impl<T> Deref for Held<T> {
    type Target = Py<T>;

    #[inline]
    fn deref(&self) -> &Py<T> {
        &self.0
    }
}

impl<T> Drop for Held<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference is owned and given back once; by the type's contract this thread
        // is attached.
        unsafe {
            debug_assert_eq!(1, ffi::PyGILState_Check(), "dropped by a detached thread");
            ffi::Py_DECREF(self.0.as_ptr());
        }
    }
}
