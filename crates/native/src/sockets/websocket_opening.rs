//! The opening of a WebSocket: is it one, may this client have it, and the 101.

use http1::{Answer, Method, Payload, Version, push_field};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use websocket::{Deflate, Opening, Windows};

use crate::reactor_class::Reactor;
use crate::request::Request;
use crate::response::Response;
use crate::websocket::{Phase, WebSocket};
use crate::{answer, names};

/// What a route says of its WebSockets.
#[pyclass(frozen, module = "tarmac._native")]
#[derive(Clone)]
pub struct WebSocketOptions {
    message_bytes: Option<usize>,
    compress: bool,
    /// Whose pages may connect; `None` for everybody's.
    origins: Option<Vec<String>>,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self { message_bytes: None, compress: true, origins: None }
    }
}

#[pymethods]
impl WebSocketOptions {
    #[new]
    #[pyo3(signature = (*, message_bytes=None, compress=true, origins=None))]
    fn new(message_bytes: Option<usize>, compress: bool, origins: Option<Vec<String>>) -> Self {
        Self { message_bytes, compress, origins }
    }
}

/// What the client asks for, if it may. Errors are answers.
pub fn check(request: &Bound<'_, Request>, options: &WebSocketOptions) -> PyResult<Opening> {
    let py = request.py();
    let data = request.get().data();
    let head = &data.head;
    let fields = head.fields.iter();
    let opening = Opening::read(
        head.method == Method::Get,
        head.version == Version::Http11,
        fields.map(|field| (field.name.of(&data.bytes), field.value.of(&data.bytes))),
    );
    let opening = opening.map_err(|refusal| {
        let headers = PyDict::new(py);
        let told = (|| {
            if refusal.status == 426 {
                headers.set_item("Upgrade", "websocket")?;
            }
            if refusal.tells_version {
                headers.set_item("Sec-WebSocket-Version", "13")?;
            }
            Ok(())
        })();
        told.map_or_else(
            |error| error,
            |()| names::http_error_with(py, refusal.status, refusal.reason, &headers),
        )
    })?;
    if let (Some(origins), Some(origin)) = (&options.origins, data.field("origin")) {
        let host = head.host.map_or(&[][..], |host| host.of(&data.bytes));
        if !origins.iter().any(|allowed| allows(allowed, origin, host)) {
            return Err(names::http_error(py, 403, "this origin may not connect"));
        }
    }
    Ok(opening)
}

/// Is it this origin? `same` stands for the one that the page itself has.
fn allows(allowed: &str, origin: &[u8], host: &[u8]) -> bool {
    if allowed != "same" {
        return origin.eq_ignore_ascii_case(allowed.as_bytes());
    }
    let own = origin.windows(3).position(|part| part == b"://").map(|place| &origin[place + 3..]);
    own.is_some_and(|own| own.eq_ignore_ascii_case(host))
}

/// Answer 101: from here on it is a WebSocket.
pub fn accept(
    slf: &Bound<'_, WebSocket>,
    subprotocol: Option<&str>,
    headers: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (py, this) = (slf.py(), slf.get());
    if !matches!(this.state.open()?.phase, Phase::Asked) {
        return Err(PyRuntimeError::new_err("this WebSocket has been answered already"));
    }
    let agreed = this.options.compress.then_some(&this.opening.extensions);
    let agreed = agreed.and_then(|offers| Deflate::negotiate(offers, Windows::default()));
    let fields = fields(this, subprotocol, headers, agreed)?;
    let request = this.request.get();
    if !request.claim() {
        return Err(PyRuntimeError::new_err("this request has been answered already"));
    }
    let answer =
        Answer { status: 101, content_type: None, fields: &fields, payload: Payload::Bytes(b"") };
    let mut settings = request.hooks().sockets.clone();
    if let Some(message_bytes) = this.options.message_bytes {
        settings.message_bytes = message_bytes;
    }
    let exchange = request.exchange();
    let mut hub = request.reactor().get().hub.open()?;
    let upgraded = hub.reactor.with(exchange.key, |peer, io, shared| {
        let connection = peer.http()?;
        Some(connection.upgrade(exchange.number, &answer, settings, agreed, io, shared))
    });
    if upgraded.flatten() != Some(true) {
        answer::turned_away(&mut hub, exchange);
        drop(hub);
        this.state.open()?.phase = Phase::Refused;
        Reactor::request_flush(request.reactor().bind(py))?;
        return Err(names::websocket_closed(py, 1006, "the connection is being closed"));
    }
    hub.sockets.insert(exchange, slf.clone().unbind());
    drop(hub);
    let mut state = this.state.open()?;
    state.phase = Phase::Open;
    state.subprotocol = subprotocol.map(str::to_owned);
    drop(state);
    Reactor::request_flush(request.reactor().bind(py))
}

/// The lines of the answer.
fn fields(
    this: &WebSocket,
    subprotocol: Option<&str>,
    headers: Option<&Bound<'_, PyAny>>,
    agreed: Option<Deflate>,
) -> PyResult<Vec<u8>> {
    let mut fields = Vec::new();
    let mut add = |name: &str, value: &str| {
        push_field(&mut fields, name.as_bytes(), value.as_bytes())
            .map_err(|error| PyValueError::new_err(format!("header {name:?}: {error}")))
    };
    add("Upgrade", "websocket")?;
    add("Sec-WebSocket-Accept", &this.opening.accept)?;
    if let Some(name) = subprotocol {
        if !this.opening.protocols.iter().any(|offered| offered == name) {
            let offered = &this.opening.protocols;
            let text = format!("the client offers the sub-protocols {offered:?}, not {name:?}");
            return Err(PyValueError::new_err(text));
        }
        add("Sec-WebSocket-Protocol", name)?;
    }
    if let Some(agreed) = agreed {
        add("Sec-WebSocket-Extensions", &agreed.answer())?;
    }
    if let Some(headers) = headers {
        fields.extend_from_slice(&Response::head(101, None, Some(headers))?.fields);
    }
    Ok(fields)
}
