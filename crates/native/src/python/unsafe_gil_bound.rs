//! A value inside a Python object or a static that the GIL guards.

use std::ops::Deref;

/// Shared by all threads, touched only by the one that holds the GIL.
///
/// Every way to it starts from an attached thread, and the module says `gil_used = true`, so an
/// interpreter without a GIL turns one on when it imports it.
pub struct GilBound<T>(T);

// SAFETY: only the thread that holds the GIL reaches the value; see above.
unsafe impl<T> Sync for GilBound<T> {}
// SAFETY: as above.
unsafe impl<T> Send for GilBound<T> {}

impl<T> GilBound<T> {
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for GilBound<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
