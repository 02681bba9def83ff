//! From what a handler returned to the bytes of the answer.

use http1::{Answer, Payload};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::names;
use crate::request::Request;
use crate::request_inner::Inner;
use crate::response::{Content, Response};
use crate::writer::Writer;

const TEXT: &[u8] = b"text/plain; charset=utf-8";
const BYTES: &[u8] = b"application/octet-stream";
const JSON: &[u8] = b"application/json";

/// What an answer is still to be written by: the coroutine of a body in pieces.
pub type Pump<'py> = Option<Bound<'py, PyAny>>;

/// Answer an exchange with a handler's result; a second answer is a `RuntimeError`.
#[inline]
pub fn respond<'py>(
    request: &Bound<'py, Request>,
    result: &Bound<'py, PyAny>,
) -> PyResult<Pump<'py>> {
    respond_with(request, result, None)
}

fn respond_with<'py>(
    request: &Bound<'py, Request>,
    result: &Bound<'py, PyAny>,
    status: Option<u16>,
) -> PyResult<Pump<'py>> {
    let this = request.get();
    let ok = status.unwrap_or(200);
    if let Ok(text) = result.cast_exact::<PyString>() {
        return send(this, ok, Some(TEXT), &[], text.to_str()?.as_bytes());
    }
    if let Ok(response) = result.cast::<Response>() {
        return send_response(request, response, status);
    }
    if let Ok(bytes) = result.cast::<PyBytes>() {
        return send(this, ok, Some(BYTES), &[], bytes.as_bytes());
    }
    if result.is_instance_of::<PyDict>() || result.is_instance_of::<PyList>() {
        let text = names::json_dumps(request.py())?.call1((result,))?;
        return send(this, ok, Some(JSON), &[], text.cast::<PyString>()?.to_str()?.as_bytes());
    }
    if result.is_none() {
        return send(this, status.unwrap_or(204), None, &[], b"");
    }
    if let Ok(pair) = result.cast::<PyTuple>()
        && pair.len() == 2
        && status.is_none()
    {
        return respond_with(request, &pair.get_item(0)?, Some(pair.get_item(1)?.extract()?));
    }
    if let Ok(text) = result.cast::<PyString>() {
        return send(this, ok, Some(TEXT), &[], text.to_str()?.as_bytes());
    }
    let text = names::encode_model(request.py())?.call1((result,))?;
    send(this, ok, Some(JSON), &[], text.cast::<PyString>()?.to_str()?.as_bytes())
}

fn send_response<'py>(
    request: &Bound<'py, Request>,
    response: &Bound<'py, Response>,
    status: Option<u16>,
) -> PyResult<Pump<'py>> {
    let status = adapt(request, response, status)?;
    let this = response.borrow();
    let py = response.py();
    let body = match &this.content {
        None => &[],
        Some(Content::Producer(producer)) => {
            return begin(request, &this, producer.bind(py), status.unwrap_or(this.status))
                .map(Some);
        }
        Some(Content::Text(text)) => text.bind(py).to_str()?.as_bytes(),
        Some(Content::Bytes(bytes)) => bytes.bind(py).as_bytes(),
    };
    let content_type = this.content_type.as_deref().map(str::as_bytes);
    send(request.get(), status.unwrap_or(this.status), content_type, &this.fields, body)?;
    if let Some(background) = &this.background {
        names::in_background(py)?.call1((background,))?;
    }
    Ok(None)
}

/// Let a body that depends on its request (a file, with its conditions) change the answer; the
/// status that still has to be put in place of the answer's own.
fn adapt<'py>(
    request: &Bound<'py, Request>,
    response: &Bound<'py, Response>,
    status: Option<u16>,
) -> PyResult<Option<u16>> {
    let py = response.py();
    let producer = match &response.borrow().content {
        Some(Content::Producer(producer)) => producer.clone_ref(py).into_bound(py),
        _ => return Ok(status),
    };
    let Some(adapt) = producer.getattr_opt(intern!(py, "for_request"))? else { return Ok(status) };
    if let Some(status) = status {
        response.borrow_mut().status = status;
    }
    adapt.call1((request, response)).map(|_| None)
}

/// Give the head; what it returns writes the rest.
fn begin<'py>(
    request: &Bound<'py, Request>,
    response: &Response,
    producer: &Bound<'py, PyAny>,
    status: u16,
) -> PyResult<Bound<'py, PyAny>> {
    let py = request.py();
    let length = producer.getattr_opt(intern!(py, "length"))?;
    let length = length.map(|length| length.extract::<Option<u64>>()).transpose()?.flatten();
    let content_type = response.content_type.as_deref().map(str::as_bytes);
    let writer = Writer::begin(request, status, content_type, &response.fields, length)?;
    names::pump(py)?.call1((request, producer, writer, &response.background))
}

#[inline]
fn send(
    request: &Request,
    status: u16,
    content_type: Option<&[u8]>,
    fields: &[u8],
    body: &[u8],
) -> PyResult<Pump<'static>> {
    let mut hub = request.reactor().get().hub.open()?;
    if !request.claim() {
        return Err(PyRuntimeError::new_err("this request has been answered already"));
    }
    let payload = Payload::Bytes(body);
    // A client that has gone is no error of the handler's.
    hub.answer(request.exchange(), &Answer { status, content_type, fields, payload });
    Ok(None)
}

/// An answer of our own, when Python could not give one.
pub fn plain(request: &Request, status: u16, text: &'static [u8]) {
    // Answered meanwhile: then there is nothing left to say.
    let _ = send(request, status, Some(TEXT), &[], text);
}

/// No WebSocket is opened, although the handler wanted it.
pub fn turned_away(hub: &mut crate::hub::Hub, exchange: peers::Exchange) {
    let payload = Payload::Bytes(b"Service Unavailable");
    hub.answer(exchange, &Answer { status: 503, content_type: Some(TEXT), fields: &[], payload });
}

/// Nobody holds the request any more and nobody has answered it.
pub fn abandoned(request: &Inner) {
    let payload = Payload::Bytes(b"Internal Server Error");
    let answer = Answer { status: 500, content_type: Some(TEXT), fields: &[], payload };
    let owed = request
        .reactor()
        .get()
        .hub
        .try_open()
        .map(|mut hub| hub.answer(request.exchange(), &answer));
    if owed == Some(true) {
        Python::attach(|py| {
            let reactor = request.reactor().bind(py);
            if let Err(error) = crate::reactor_class::Reactor::request_flush(reactor) {
                error.write_unraisable(py, Some(reactor));
            }
        });
    }
}
