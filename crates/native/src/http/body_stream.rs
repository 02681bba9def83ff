//! `BodyStream`: a request's body, piece by piece.

use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{PyTraverseError, PyVisit};

use crate::reactor_class::Reactor;
use crate::ready::{Ready, when_awaited};
use crate::request::Request;
use crate::waits::Piece;

/// An asynchronous iterator over the pieces of one body.
#[pyclass(frozen, module = "tarmac._native")]
pub struct BodyStream {
    request: Py<Request>,
}

impl BodyStream {
    pub fn new(request: Py<Request>) -> Self {
        Self { request }
    }
}

#[pymethods]
impl BodyStream {
    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        when_awaited(py, self.next(py))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.request)
    }
}

impl BodyStream {
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let request = self.request.get();
        let ready = |bytes: Bound<'py, PyBytes>| {
            Ok(Bound::new(py, Ready::new(bytes.into_any().unbind()))?.into_any())
        };
        if !request.comes_in_pieces(py) {
            return match request.whole_once(py) {
                Some(body) => ready(PyBytes::new(py, body)),
                None => Err(PyStopAsyncIteration::new_err(())),
            };
        }
        let mut hub = request.reactor().get().hub.open()?;
        request.will_wait();
        let piece = hub.next_piece(py, request.exchange(), request.hooks())?;
        drop(hub);
        match piece {
            Piece::Bytes(bytes) => ready(bytes),
            Piece::End => Err(PyStopAsyncIteration::new_err(())),
            Piece::Later(promise) => {
                // The client may have to be told to go on.
                Reactor::request_flush(request.reactor().bind(py))?;
                Ok(promise.bind(py).to_owned())
            }
        }
    }
}
