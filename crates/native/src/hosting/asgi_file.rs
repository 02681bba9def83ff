//! `http.response.pathsend`: a file as the whole content of an answer, without copying it.

use std::path::Path;
use std::sync::Arc;

use peers::http::FilePiece;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rustix::fs::{self, FileType, Mode, OFlags};

use crate::asgi_answer;
use crate::asgi_start::Start;
use crate::hub::os_error;
use crate::request::Request;

/// Send the file as it is now. Errors come before anything is sent.
pub fn send(py: Python<'_>, request: &Request, start: &Start, path: &Path) -> PyResult<()> {
    // A pipe must not stop the loop before it can be seen to be one.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = fs::open(path, flags, Mode::empty()).map_err(os_error)?;
    let status = fs::fstat(&file).map_err(os_error)?;
    if !FileType::from_raw_mode(status.st_mode).is_file() {
        let path = path.display();
        return Err(PyRuntimeError::new_err(format!("{path} is no regular file")));
    }
    let length = u64::try_from(status.st_size)?;
    if let Some(announced) = start.length.filter(|&announced| announced != length) {
        return Err(asgi_answer::mismatch(announced, length));
    }
    asgi_answer::begin(request, start, Some(length))?;
    let exchange = request.exchange();
    let piece = FilePiece::new(Arc::new(file), 0, length);
    // A client that has gone is no error: what follows the answer is still done.
    request
        .reactor()
        .get()
        .hub
        .open()?
        .with_http(exchange, |connection, io, _| connection.send_file(exchange.number, piece, io));
    asgi_answer::end(py, request)
}
