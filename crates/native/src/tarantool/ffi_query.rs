//! The Python object of a query: its memory, and the handle by which this crate holds it.
//!
//! By hand, because every call through pyo3 and every drop of its pointers looks up thread-locals:
//! a query is made, asked and dropped some ten times by one `await`.

use std::cell::RefCell;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::prelude::*;
use pyo3::{Borrowed, ffi};

use crate::ffi_query_type;
use crate::query::Query;
use crate::unsafe_gil_bound::GilBound;

/// A query as Python sees it.
#[repr(C)]
pub struct Object {
    head: ffi::PyObject,
    pub weak_references: *mut ffi::PyObject,
    query: Query,
}

type Pointer = *mut ffi::PyObject;

/// Memory of queries that have gone, to be used again.
static FREE: GilBound<RefCell<Vec<Pointer>>> = GilBound::new(RefCell::new(Vec::new()));
/// A burst of so many queries is served from it.
const MOST_FREE: usize = 128;

/// The class, once it was made.
static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// One reference to a query. As with `Held`, only an attached thread may drop it.
#[derive(Debug)]
pub struct Handle(NonNull<ffi::PyObject>);

impl Handle {
    /// A query as a new Python object.
    #[inline]
    pub fn new(py: Python<'_>, query: Query) -> PyResult<Self> {
        let kind = query_type(py)?;
        let free = FREE.borrow_mut().pop();
        // SAFETY: the memory has the size of `Object`, which is the type's basic size, and comes
        // with a collector's head; the collector sees it when everything is in place.
        unsafe {
            let object = match free {
                Some(object) => ffi::PyObject_Init(object, kind),
                None => ffi::PyObject_GC_New::<ffi::PyObject>(kind),
            };
            let Some(object) = NonNull::new(object) else { return Err(PyErr::fetch(py)) };
            let place = object.cast::<Object>().as_ptr();
            debug_assert!(place.is_aligned());
            (&raw mut (*place).weak_references).write(null_mut());
            (&raw mut (*place).query).write(query);
            ffi::PyObject_GC_Track(place.cast());
            Ok(Self(object))
        }
    }

    #[inline]
    pub fn get(&self) -> &Query {
        // SAFETY: a live object of the type; the query is only written before and after it lives.
        unsafe { &(*self.0.cast::<Object>().as_ptr()).query }
    }

    /// One more reference to the same query.
    #[inline]
    pub fn share(&self, _py: Python<'_>) -> Self {
        // SAFETY: a live object, of an attached thread.
        unsafe { ffi::Py_INCREF(self.0.as_ptr()) };
        Self(self.0)
    }

    #[inline]
    pub fn bind<'a, 'py>(&'a self, py: Python<'py>) -> Borrowed<'a, 'py, PyAny> {
        // SAFETY: a live object, which `self` keeps alive.
        unsafe { Borrowed::from_ptr(py, self.0.as_ptr()) }
    }

    /// The reference, to be given to the interpreter.
    #[inline]
    pub fn into_ptr(self) -> Pointer {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }

    /// The query behind a pointer whose owner is somebody else: it must not be dropped.
    ///
    /// # Safety
    /// `object` is a live object of the type, and stays so while the result is used.
    #[inline]
    pub unsafe fn borrowed(object: Pointer) -> std::mem::ManuallyDrop<Self> {
        // SAFETY: by the contract above it is not null.
        std::mem::ManuallyDrop::new(Self(unsafe { NonNull::new_unchecked(object) }))
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference is owned and given back once, by an attached thread.
        unsafe { ffi::Py_DECREF(self.0.as_ptr()) };
    }
}

/// The class `Query`.
pub fn query_class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the class is never given back.
    Ok(unsafe { Bound::from_borrowed_ptr(py, query_type(py)?.cast()) })
}

#[inline]
fn query_type(py: Python<'_>) -> PyResult<*mut ffi::PyTypeObject> {
    let known = TYPE.load(Ordering::Relaxed);
    if !known.is_null() {
        return Ok(known);
    }
    // It lives for ever.
    let made = ffi_query_type::make(py)?.into_ptr().cast();
    TYPE.store(made, Ordering::Relaxed);
    Ok(made)
}

/// # Safety
/// The slot of the type: the last reference to a query is gone.
pub unsafe extern "C" fn dealloc(object: Pointer) {
    // SAFETY: nobody else looks any more, so the query is dropped once; the memory goes back to
    // where it came from, or to the list, untracked; the object held a reference to its type.
    unsafe {
        let place = object.cast::<Object>();
        ffi::PyObject_GC_UnTrack(object.cast());
        if !(*place).weak_references.is_null() {
            ffi::PyObject_ClearWeakRefs(object);
        }
        let kind = ffi::Py_TYPE(object);
        std::ptr::drop_in_place(&raw mut (*place).query);
        let mut free = FREE.borrow_mut();
        if free.len() < MOST_FREE {
            free.push(object);
        } else {
            drop(free);
            ffi::PyObject_GC_Del(object.cast());
        }
        ffi::Py_DECREF(kind.cast());
    }
}
