//! `Asgi`: one hosted ASGI application, called for every request that no route takes.

use peers::RequestData;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::asgi_answer;
use crate::asgi_exchange::AsgiExchange;
use crate::asgi_scope::Scopes;
use crate::ffi_call::is_coroutine;
use crate::request::Request;
use crate::websocket::WebSocket;
use crate::websocket_opening::WebSocketOptions;

/// An ASGI 3 application as a server calls it.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Asgi {
    app: Py<PyAny>,
    as_coroutine: Py<PyAny>,
    /// Answers for WebSockets, if there may be any.
    websocket: Option<Py<PyAny>>,
    /// It is an `async def`: to call it runs nothing of it.
    is_function: bool,
    scopes: Scopes,
}

#[pymethods]
impl Asgi {
    #[new]
    #[pyo3(signature = (app, *, as_coroutine, websocket=None, is_function=false, server=None, root_path="",
        state=None),
        text_signature = "(app, *, as_coroutine, websocket=None, is_function=False, server=None, \
root_path='', state=None)")]
    fn new(
        app: &Bound<'_, PyAny>,
        as_coroutine: Py<PyAny>,
        websocket: Option<Py<PyAny>>,
        is_function: bool,
        server: Option<&Bound<'_, PyAny>>,
        root_path: &str,
        state: Option<Py<PyDict>>,
    ) -> PyResult<Self> {
        let scopes = Scopes::new(app.py(), server, root_path, state)?;
        Ok(Self { app: app.clone().unbind(), as_coroutine, websocket, is_function, scopes })
    }
}

impl Asgi {
    /// The coroutine that answers a request.
    pub fn call<'py>(&self, request: &Bound<'py, Request>) -> PyResult<Bound<'py, PyAny>> {
        let py = request.py();
        let this = request.get();
        if let Some(websocket) = self.websocket.as_ref().filter(|_| asks_for_websocket(this.data()))
        {
            return self.call_websocket(websocket.bind(py), request);
        }
        let scope = self.scopes.http(py, this.data(), this.inner_scheme())?;
        let exchange = AsgiExchange::open(request)?;
        let receive = exchange.getattr(intern!(py, "receive"))?;
        let send = exchange.getattr(intern!(py, "send"))?;
        let called = self.app.bind(py).call1((scope, receive, send))?;
        if is_coroutine(&called) {
            return Ok(called);
        }
        // Some other awaitable: a Cython function's, a future.
        self.as_coroutine.bind(py).call1((called,))
    }

    /// May a request start without a look at what is current? See `call::is_light`.
    pub fn is_light(&self, data: &RequestData) -> bool {
        self.is_function && !data.head.upgrade
    }

    /// The coroutine that answers for a WebSocket.
    fn call_websocket<'py>(
        &self,
        websocket: &Bound<'py, PyAny>,
        request: &Bound<'py, Request>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (request.py(), request.get());
        let socket = WebSocket::open(request, &WebSocketOptions::default())?;
        let offered = &socket.get().opening.protocols;
        let scope = self.scopes.websocket(py, this.data(), this.inner_scheme(), offered)?;
        websocket.call1((self.app.bind(py), scope, socket))
    }
}

/// Does the client want to go on with a WebSocket? A wrong opening wants that too, and is refused.
fn asks_for_websocket(data: &RequestData) -> bool {
    let names = || data.field("upgrade").unwrap_or_default().split(|&byte| byte == b',');
    data.head.upgrade && names().any(|name| name.trim_ascii().eq_ignore_ascii_case(b"websocket"))
}

/// The application has returned, and has begun to answer: is the answer complete?
pub fn returned(request: &Request) -> PyResult<()> {
    if !asgi_answer::cut(request) {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "the ASGI application returned in the middle of its answer: the connection is closed",
    ))
}

/// The application ended without an answer: why, in words for its author.
pub fn unanswered(result: &Bound<'_, PyAny>) -> PyErr {
    if result.is_none() {
        return PyRuntimeError::new_err(
            "the ASGI application returned without a whole answer: it has to send \
             http.response.start and http.response.body",
        );
    }
    let kind = result.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("an ASGI application returns None, not {kind}"))
}
