//! `Writer`: an answer whose content comes in pieces.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http1::{Answer, Payload};
use peers::http::{Connection, FilePiece, Pushed};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use reactor::Io;

use crate::hub::{Step, os_error};
use crate::reactor_class::Reactor;
use crate::ready::Ready;
use crate::request::Request;
use crate::response::{Content, content};
use crate::{ffi_fd, names};

/// The head of an answer has been given; its content is written here.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Writer {
    request: Py<Request>,
    /// Nothing more is to come.
    over: AtomicBool,
}

impl Writer {
    /// Begin the answer of a request.
    pub fn begin(
        request: &Bound<'_, Request>,
        status: u16,
        content_type: Option<&[u8]>,
        fields: &[u8],
        length: Option<u64>,
    ) -> PyResult<Self> {
        let this = request.get();
        if !this.claim() {
            return Err(PyRuntimeError::new_err("this request has been answered already"));
        }
        this.will_stream();
        let payload = length.map_or(Payload::Chunked, Payload::Length);
        let answer = Answer { status, content_type, fields, payload };
        let (exchange, mut hub) = (this.exchange(), this.reactor().get().hub.open()?);
        // A client that has gone is told of by the first write.
        hub.with_http(exchange, |connection, io, shared| {
            connection.begin(exchange.number, &answer, io, shared)
        });
        drop(hub);
        Reactor::request_flush(this.reactor().bind(request.py()))?;
        Ok(Self { request: request.clone().unbind(), over: AtomicBool::new(false) })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let request = self.request.get();
        let whole = request.reactor().get().hub.open()?.end(request.exchange());
        Reactor::request_flush(request.reactor().bind(py))?;
        if whole {
            return Ok(());
        }
        Err(PyValueError::new_err("fewer bytes were written than announced"))
    }

    /// Send a piece; awaitable until there is room for the next one.
    fn push<'py>(
        &self,
        py: Python<'py>,
        push: impl FnOnce(&mut Connection, u64, &mut Io<'_, Step>) -> Pushed,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.over.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err("this answer has ended"));
        }
        let request = self.request.get();
        let (exchange, mut hub) = (request.exchange(), request.reactor().get().hub.open()?);
        let pushed =
            hub.with_http(exchange, |connection, io, _| push(connection, exchange.number, io));
        let promise = match pushed.unwrap_or(Pushed::Gone) {
            Pushed::Room => None,
            Pushed::Full => {
                request.will_wait();
                Some(hub.promise_room(py, exchange, request.hooks())?)
            }
            Pushed::Gone => return Err(names::disconnected(py)),
            Pushed::TooLong => {
                return Err(PyValueError::new_err("more bytes were written than announced"));
            }
        };
        drop(hub);
        Reactor::request_flush(request.reactor().bind(py))?;
        Ok(match promise {
            Some(promise) => promise.bind(py).to_owned(),
            None => Bound::new(py, Ready::new(py.None()))?.into_any(),
        })
    }

    /// The rest will not come.
    fn cut(&self, py: Python<'_>) -> PyResult<()> {
        if self.over.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let request = self.request.get();
        request.reactor().get().hub.open()?.cut(request.exchange());
        Reactor::request_flush(request.reactor().bind(py))
    }
}

#[pymethods]
impl Writer {
    fn write<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let data = content(data)?;
        let bytes = match &data {
            Content::Text(text) => text.bind(py).to_str()?.as_bytes(),
            Content::Bytes(bytes) => bytes.bind(py).as_bytes(),
            Content::Producer(_) => {
                return Err(pyo3::exceptions::PyTypeError::new_err("a piece must be str or bytes"));
            }
        };
        self.push(py, |connection, number, io| connection.push(number, bytes, io))
    }

    fn send_file<'py>(
        &self,
        py: Python<'py>,
        fd: RawFd,
        offset: u64,
        length: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        // The caller may close his at once.
        let file = Arc::new(ffi_fd::duplicate(fd).map_err(os_error)?);
        let piece = FilePiece::new(file, offset, length);
        self.push(py, |connection, number, io| connection.send_file(number, piece, io))
    }

    fn end(&self, py: Python<'_>) -> PyResult<()> {
        if self.over.swap(true, Ordering::Relaxed) { Ok(()) } else { self.finish(py) }
    }

    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.cut(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.request)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        Python::attach(|py| {
            if let Err(error) = self.cut(py) {
                error.write_unraisable(py, None);
            }
        });
    }
}
