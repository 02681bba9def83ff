//! What the Python classes of a connection and of a space inherit.
//!
//! Here stands what they hold; their methods, made by hand in `ffi_face`, save a query two Python
//! frames and a dictionary look-up for every default.

use std::cell::RefCell;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::link::Link;
use crate::unsafe_gil_bound::GilBound;
use crate::unsafe_held::Held;

/// What a connection inherits: `ping`, `call` and `eval` on the link that it uses.
#[pyclass(frozen, subclass, module = "tarmac._native")]
pub struct ConnectionBase {
    link: GilBound<RefCell<Option<Held<Link>>>>,
}

impl ConnectionBase {
    /// The link that queries go to at once; `None`: ask the Python method `link` for one.
    #[inline]
    pub fn link<'py>(&self, py: Python<'py>) -> Option<Bound<'py, Link>> {
        self.link.borrow().as_ref().map(|link| link.bind(py).clone())
    }
}

#[pymethods]
impl ConnectionBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self { link: GilBound::new(RefCell::new(None)) }
    }

    /// Send queries to that link from now on; `None`: ask `link()` at each query.
    fn _use(&self, link: Option<Bound<'_, Link>>) {
        let before = self.link.replace(link.map(Held::from));
        drop(before);
    }
}

/// What a space inherits: the operations on the rows of one space of a connection.
#[pyclass(frozen, subclass, module = "tarmac._native")]
pub struct SpaceBase {
    #[pyo3(get, name = "_connection")]
    connection: Py<PyAny>,
    #[pyo3(get)]
    name: Py<PyAny>,
    /// The same connection, if it is one of ours.
    base: Option<Py<ConnectionBase>>,
}

impl SpaceBase {
    #[inline]
    pub fn link<'py>(&self, py: Python<'py>) -> Option<Bound<'py, Link>> {
        self.base.as_ref()?.get().link(py)
    }

    #[inline]
    pub fn name<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.name.bind(py)
    }

    #[inline]
    pub fn connection<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.connection.bind(py)
    }
}

#[pymethods]
impl SpaceBase {
    #[new]
    fn new(connection: Bound<'_, PyAny>, name: Py<PyAny>) -> Self {
        let base = connection.cast::<ConnectionBase>().ok().map(|base| base.clone().unbind());
        Self { connection: connection.unbind(), name, base }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.connection)?;
        visit.call(&self.name)?;
        visit.call(&self.base)
    }
}
