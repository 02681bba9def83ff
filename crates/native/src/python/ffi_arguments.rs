//! Arguments of methods that the interpreter calls without packing them.

use std::slice::from_raw_parts;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use pyo3::{Borrowed, ffi};

type Pointer = *mut ffi::PyObject;

/// What was given for each name.
pub type Arguments<'a, 'py, const N: usize> = [Option<Borrowed<'a, 'py, PyAny>>; N];

/// What a method takes.
pub struct Signature<const N: usize> {
    pub method: &'static str,
    pub names: [&'static str; N],
    /// How many there must be.
    pub required: usize,
    /// How many may be given without their names.
    pub positional: usize,
}

impl<const N: usize> Signature<N> {
    /// The arguments in the order of the names.
    ///
    /// # Safety
    /// The arguments are those that the interpreter passes to a vectorcall, live for `'a`.
    #[inline]
    pub unsafe fn read<'a, 'py>(
        &self,
        py: Python<'py>,
        arguments: *const Pointer,
        count: isize,
        keywords: Pointer,
    ) -> PyResult<Arguments<'a, 'py, N>> {
        // SAFETY: by the contract above.
        let (found, rest) = unsafe { self.read_with_rest(py, arguments, count, keywords)? };
        if rest.is_empty() { Ok(found) } else { Err(self.too_many(count.unsigned_abs())) }
    }

    /// The arguments in the order of the names, and those behind the last that needs no name.
    ///
    /// # Safety
    /// As for [`Signature::read`].
    #[inline]
    pub unsafe fn read_with_rest<'a, 'py>(
        &self,
        py: Python<'py>,
        arguments: *const Pointer,
        count: isize,
        keywords: Pointer,
    ) -> PyResult<(Arguments<'a, 'py, N>, &'a [Pointer])> {
        let count = count.unsigned_abs();
        let named = count.min(self.positional);
        let mut found = [None; N];
        // SAFETY: there are `count` live arguments; with none, there may be no pointer either.
        let all = if count == 0 { &[] } else { unsafe { from_raw_parts(arguments, count) } };
        for (found, argument) in found.iter_mut().zip(&all[..named]) {
            // SAFETY: a live argument.
            *found = Some(unsafe { Borrowed::from_ptr(py, *argument) });
        }
        if !keywords.is_null() {
            // SAFETY: a live tuple of names, and as many live arguments behind the others.
            unsafe { self.read_named(py, arguments.add(count), keywords, &mut found)? };
        }
        if found[..self.required].iter().any(Option::is_none) {
            return Err(self.missing(&found));
        }
        Ok((found, &all[named..]))
    }

    /// # Safety
    /// `keywords` is a live tuple of strings with as many live `arguments`.
    unsafe fn read_named<'py>(
        &self,
        py: Python<'py>,
        arguments: *const Pointer,
        keywords: Pointer,
        found: &mut [Option<Borrowed<'_, 'py, PyAny>>; N],
    ) -> PyResult<()> {
        // SAFETY: by the contract above.
        let keywords = unsafe { Borrowed::from_ptr(py, keywords) };
        for (offset, name) in keywords.cast::<PyTuple>()?.iter_borrowed().enumerate() {
            let name = name.cast::<PyString>()?;
            let name = name.to_str()?;
            let place = self.names.iter().position(|known| *known == name);
            let place = place.ok_or_else(|| self.unexpected(name))?;
            if found[place].is_some() {
                return Err(self.doubled(name));
            }
            // SAFETY: by the contract above.
            found[place] = Some(unsafe { Borrowed::from_ptr(py, *arguments.add(offset)) });
        }
        Ok(())
    }

    #[cold]
    fn too_many(&self, count: usize) -> PyErr {
        let (method, most) = (self.method, self.positional);
        let message =
            format!("{method}() takes {most} positional arguments but {count} were given");
        PyTypeError::new_err(message)
    }

    #[cold]
    fn unexpected(&self, name: &str) -> PyErr {
        let method = self.method;
        PyTypeError::new_err(format!("{method}() got an unexpected keyword argument '{name}'"))
    }

    #[cold]
    fn doubled(&self, name: &str) -> PyErr {
        let method = self.method;
        PyTypeError::new_err(format!("{method}() got multiple values for argument '{name}'"))
    }

    #[cold]
    fn missing(&self, found: &[Option<Borrowed<'_, '_, PyAny>>; N]) -> PyErr {
        let names = self.names.iter().zip(found).take(self.required);
        let names = names.filter(|(_, found)| found.is_none());
        let names: Vec<_> = names.map(|(name, _)| format!("'{name}'")).collect();
        let (method, names) = (self.method, names.join(", "));
        PyTypeError::new_err(format!("{method}() is missing its required arguments {names}"))
    }
}
