//! The answer of a hosted application on its way to the client: whole, or piece by piece.

use http1::{Answer, Method, Payload};
use peers::http::Pushed;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::asgi_start::Start;
use crate::ffi_query::Handle;
use crate::names;
use crate::reactor_class::Reactor;
use crate::request::Request;

/// Send a whole answer. A client that has gone is no error: what follows the answer is still done.
pub fn whole(py: Python<'_>, request: &Request, start: &Start, body: &[u8]) -> PyResult<()> {
    let payload = match start.length {
        // A HEAD without a body says nothing about the length.
        None if body.is_empty() && is_head(request) => Payload::Chunked,
        Some(length) if is_head(request) => Payload::Length(length),
        Some(length) if length != body.len() as u64 && may_have_content(start) => {
            return Err(mismatch(length, body.len() as u64));
        }
        _ => Payload::Bytes(body),
    };
    if !request.claim() {
        return Ok(());
    }
    let exchange = request.exchange();
    let mut hub = request.reactor().get().hub.open()?;
    if start.closes {
        hub.with_http(exchange, |connection, _, shared| {
            connection.let_be_last(exchange.number, shared);
        });
    }
    hub.answer(exchange, &start.answer(payload));
    drop(hub);
    Reactor::request_flush(request.reactor().bind(py))
}

/// Send the head of an answer whose content follows.
pub fn begin(request: &Request, start: &Start, length: Option<u64>) -> PyResult<()> {
    if !request.claim() {
        // The server has answered meanwhile: what follows finds nobody.
        return Ok(());
    }
    request.will_stream();
    let exchange = request.exchange();
    let answer = start.answer(length.map_or(Payload::Chunked, Payload::Length));
    request.reactor().get().hub.open()?.with_http(exchange, |connection, io, shared| {
        if start.closes {
            connection.let_be_last(exchange.number, shared);
        }
        connection.begin(exchange.number, &answer, io, shared)
    });
    Ok(())
}

/// Send a piece. Tells for what to wait before the next one, if for anything.
pub fn push(py: Python<'_>, request: &Request, piece: &[u8]) -> PyResult<Option<Handle>> {
    let exchange = request.exchange();
    let mut hub = request.reactor().get().hub.open()?;
    let pushed =
        hub.with_http(exchange, |connection, io, _| connection.push(exchange.number, piece, io));
    let promise = match pushed.unwrap_or(Pushed::Gone) {
        Pushed::Room => None,
        Pushed::Full => {
            request.will_wait();
            Some(hub.promise_room(py, exchange, request.hooks())?)
        }
        Pushed::Gone => return Err(names::disconnected(py)),
        Pushed::TooLong => {
            return Err(PyRuntimeError::new_err("the answer is longer than its Content-Length"));
        }
    };
    drop(hub);
    Reactor::request_flush(request.reactor().bind(py))?;
    Ok(promise)
}

/// All pieces have been sent.
pub fn end(py: Python<'_>, request: &Request) -> PyResult<()> {
    request.has_streamed();
    let whole = request.reactor().get().hub.open()?.end(request.exchange());
    Reactor::request_flush(request.reactor().bind(py))?;
    if whole {
        return Ok(());
    }
    Err(PyRuntimeError::new_err("the answer is shorter than its Content-Length"))
}

/// Break the connection off if its client still waits for the rest of an answer. True: it did.
pub fn cut(request: &Request) -> bool {
    if !request.is_streaming() {
        return false;
    }
    let exchange = request.exchange();
    let Some(mut hub) = request.reactor().get().hub.try_open() else { return false };
    let waits = hub.with_http(exchange, |connection, _, _| connection.awaits(exchange.number));
    hub.cut(exchange);
    waits == Some(true)
}

impl Start {
    fn answer<'a>(&'a self, payload: Payload<'a>) -> Answer<'a> {
        Answer { status: self.status, content_type: None, fields: &self.fields, payload }
    }
}

fn is_head(request: &Request) -> bool {
    request.data().head.method == Method::Head
}

/// With these statuses the length, if any, is that of an answer to another request.
fn may_have_content(start: &Start) -> bool {
    !http1::has_no_content(start.status)
}

pub fn mismatch(length: u64, actual: u64) -> PyErr {
    let how = if actual > length { "longer" } else { "shorter" };
    PyRuntimeError::new_err(format!(
        "the answer is {how} than its Content-Length: {actual} bytes, not {length}"
    ))
}
