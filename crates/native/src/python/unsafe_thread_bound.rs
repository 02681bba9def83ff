//! A cell that only the thread that made it may open.

use std::cell::{RefCell, RefMut};

use pyo3::PyResult;
use pyo3::exceptions::PyRuntimeError;

/// Interior mutability for one thread, inside objects that Python may pass to any.
pub struct ThreadBound<T> {
    owner: usize,
    value: RefCell<T>,
}

// SAFETY: every borrow checks that it happens on the owning thread, so the `RefCell` is never
// touched by two threads. Dropping needs exclusive access already.
unsafe impl<T> Sync for ThreadBound<T> {}
// SAFETY: as above; the value itself is only reached on the owning thread or while dropping.
unsafe impl<T> Send for ThreadBound<T> {}

/// A number that differs between threads that live at the same time.
fn this_thread() -> usize {
    thread_local! {
        static MARK: u8 = const { 0 };
    }
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

impl<T> ThreadBound<T> {
    pub fn new(value: T) -> Self {
        Self { owner: this_thread(), value: RefCell::new(value) }
    }

    /// Another one, for the thread that this belongs to, whichever runs now.
    pub fn beside<U>(&self, value: U) -> ThreadBound<U> {
        ThreadBound { owner: self.owner, value: RefCell::new(value) }
    }

    /// Open it; fails on another thread and while it is open already.
    #[inline]
    pub fn open(&self) -> PyResult<RefMut<'_, T>> {
        if self.owner != this_thread() {
            return Err(PyRuntimeError::new_err("this object belongs to another thread"));
        }
        self.value
            .try_borrow_mut()
            .map_err(|_| PyRuntimeError::new_err("this object is in use further up the stack"))
    }

    /// Open it if that is possible here and now.
    #[inline]
    pub fn try_open(&self) -> Option<RefMut<'_, T>> {
        if self.owner == this_thread() { self.value.try_borrow_mut().ok() } else { None }
    }
}
