//! A value inside a Python object that is replaced while nobody else can see the object.

use std::cell::UnsafeCell;
use std::ops::Deref;

use pyo3::PyClass;
use pyo3::prelude::*;

/// Shared like any field of a frozen class, except for [`Renewable::renew`].
pub struct Renewable<T>(UnsafeCell<T>);

// SAFETY: shared access gives out `&T` only; `renew` requires that no other reference exists.
unsafe impl<T: Sync> Sync for Renewable<T> {}

impl<T> Renewable<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Swap in another value, if `object` has no owner but the caller. `cell` leads to the value.
    ///
    /// The class must not support weak references: one could bring a second owner back.
    #[inline]
    pub fn renew<C>(
        object: &mut Bound<'_, C>,
        value: T,
        cell: impl FnOnce(&C) -> &Self,
    ) -> Result<T, T>
    where
        C: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync,
    {
        // SAFETY: reads the count of a live object.
        if unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) } != 1 {
            return Err(value);
        }
        let place = cell(object.get()).0.get();
        // SAFETY: the caller's is the only reference to the object, and it is borrowed mutably
        // here, so no `&T` made from it is alive; other threads have none to make one from.
        Ok(unsafe { std::mem::replace(&mut *place, value) })
    }
}

impl<T> Deref for Renewable<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `renew` only writes while no reference is alive.
        unsafe { &*self.0.get() }
    }
}
