//! `WebSocket`: messages in both directions, awaited without futures.
//!
//! What a message is, and when the connection ends, `peers::http::WebSocket` knows; here is how
//! Python asks for it, by the methods in `websocket_methods`. What the connection tells comes in by
//! `websocket_news`.

use peers::http::{Received, Sent, WebSocket as Socket};
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use reactor::{CloseReason, Io};
use websocket::{Close, Kind, Opening};

use crate::ffi_query::Handle;
use crate::hub::{Hub, Step};
use crate::names;
use crate::query::Query;
use crate::query_state::Progress;
use crate::reactor_class::Reactor;
use crate::ready::Ready;
use crate::request::Request;
use crate::unsafe_thread_bound::ThreadBound;
use crate::websocket_opening::{self, WebSocketOptions};

/// One WebSocket of a server.
#[pyclass(frozen, module = "tarmac._native", weakref)]
pub struct WebSocket {
    pub request: Py<Request>,
    pub opening: Opening,
    pub options: WebSocketOptions,
    pub state: ThreadBound<State>,
}

/// What changes in its life.
pub struct State {
    pub phase: Phase,
    pub subprotocol: Option<String>,
    pub receiver: Option<(Handle, Want)>,
    /// Who waits for room, for a pong, for the end.
    pub room: Vec<Handle>,
    pub pongs: Vec<Handle>,
    pub goodbyes: Vec<Handle>,
}

/// How far it has come.
pub enum Phase {
    /// The client has asked for it and has no answer yet.
    Asked,
    /// It was answered that there is none.
    Refused,
    Open,
    /// The connection has gone; here is what can still be received.
    Ended(Box<Socket>),
}

/// What is asked for: how a message is handed out, and what the end is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Any,
    Text,
    Bytes,
    Json,
    /// The next one of an iteration, which the end ends.
    Next,
}

/// A message as it was made while the connection was held.
pub type Raw<'py> = (Kind, Bound<'py, PyAny>);

impl Want {
    /// The message as it was asked for.
    #[inline]
    pub fn convert(self, (kind, message): Raw<'_>) -> PyResult<Bound<'_, PyAny>> {
        match (self, kind) {
            (Self::Json, _) => names::json_loads(message.py())?.call1((message,)),
            (Self::Text, Kind::Binary) => {
                Err(PyValueError::new_err("a binary message came where text was expected"))
            }
            (Self::Bytes, Kind::Text) => {
                Err(PyValueError::new_err("a text message came where bytes were expected"))
            }
            _ => Ok(message),
        }
    }

    /// What is raised when there are no more.
    pub fn ended(self, py: Python<'_>, end: Option<&Close>) -> PyErr {
        if self == Self::Next { PyStopAsyncIteration::new_err(()) } else { closed_error(py, end) }
    }
}

/// A message as a Python object; runs no Python code.
#[inline]
pub fn raw<'py>(py: Python<'py>, kind: Kind, bytes: &[u8]) -> Raw<'py> {
    let object = match (kind, std::str::from_utf8(bytes)) {
        (Kind::Text, Ok(text)) => PyString::new(py, text).into_any(),
        _ => PyBytes::new(py, bytes).into_any(),
    };
    (kind, object)
}

/// `tarmac.WebSocketClosed` for an end; 1006 where nobody knows.
pub fn closed_error(py: Python<'_>, end: Option<&Close>) -> PyErr {
    let (code, reason) = end.map_or((Close::ABNORMAL, ""), |end| (end.code, end.reason.as_str()));
    names::websocket_closed(py, code, reason)
}

impl Hub {
    /// Let the WebSocket of an exchange act, while its connection lives.
    #[inline]
    pub fn with_socket<R>(
        &mut self,
        exchange: peers::Exchange,
        act: impl FnOnce(&mut Socket, &mut Io<'_, Step>) -> R,
    ) -> Option<R> {
        let key = exchange.key;
        self.reactor
            .with(key, |peer, io, _| peer.http()?.socket().map(|socket| act(socket, io)))
            .flatten()
    }
}

impl WebSocket {
    /// The WebSocket that a request asks for. Errors are answers.
    pub fn open<'py>(
        request: &Bound<'py, Request>,
        options: &WebSocketOptions,
    ) -> PyResult<Bound<'py, Self>> {
        let opening = websocket_opening::check(request, options)?;
        request.get().becomes_socket();
        let state = State {
            phase: Phase::Asked,
            subprotocol: None,
            receiver: None,
            room: Vec::new(),
            pongs: Vec::new(),
            goodbyes: Vec::new(),
        };
        let socket = Self {
            request: request.clone().unbind(),
            opening,
            options: options.clone(),
            state: ThreadBound::new(state),
        };
        Bound::new(request.py(), socket)
    }

    #[inline]
    pub fn reactor(&self) -> &Py<Reactor> {
        self.request.get().reactor()
    }

    /// Accept it now, if that was not done before.
    #[inline]
    pub fn ensure_answered(slf: &Bound<'_, Self>) -> PyResult<()> {
        if matches!(slf.get().state.open()?.phase, Phase::Asked) {
            websocket_opening::accept(slf, None, None)?;
        }
        Ok(())
    }

    /// The oldest message; with nothing there, the connection will tell of the next one.
    #[inline]
    pub fn take<'py>(&self, py: Python<'py>, state: &mut State) -> PyResult<Received<Raw<'py>>> {
        let request = self.request.get();
        match &mut state.phase {
            Phase::Ended(socket) => Ok(socket.receive(|kind, bytes| raw(py, kind, bytes))),
            Phase::Refused => Ok(Received::Ended),
            Phase::Asked | Phase::Open => {
                let mut hub = request.reactor().get().hub.open()?;
                let received = hub.with_socket(request.exchange(), |socket, _| {
                    let received = socket.receive(|kind, bytes| raw(py, kind, bytes));
                    if matches!(received, Received::Nothing) {
                        socket.want();
                    }
                    received
                });
                // Without a connection its end is on its way.
                Ok(received.unwrap_or(Received::Nothing))
            }
        }
    }

    /// Why nothing more is sent or received.
    pub fn end(&self, state: &State) -> PyResult<Option<Close>> {
        match &state.phase {
            Phase::Ended(socket) => Ok(socket.end().cloned()),
            Phase::Asked | Phase::Refused => Ok(None),
            Phase::Open => {
                let request = self.request.get();
                let mut hub = request.reactor().get().hub.open()?;
                let end = hub.with_socket(request.exchange(), |socket, _| socket.end().cloned());
                // The connection has gone, and its last word is on its way.
                let gone = || Some(Close { code: Close::ABNORMAL, reason: String::new() });
                Ok(end.unwrap_or_else(gone))
            }
        }
    }

    #[inline]
    pub fn receive_as<'py>(slf: &Bound<'py, Self>, want: Want) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        Self::ensure_answered(slf)?;
        let mut state = this.state.open()?;
        if state.receiver.as_ref().is_some_and(|(promise, _)| !promise.get().is_done()) {
            return Err(PyRuntimeError::new_err("another task waits for a message already"));
        }
        let received = this.take(py, &mut state)?;
        // A connection that was held because too much waited goes on.
        Reactor::go_on(this.reactor().bind(py))?;
        match received {
            Received::Message(message) => {
                drop(state);
                Ok(Bound::new(py, Ready::new(want.convert(message)?.unbind()))?.into_any())
            }
            Received::Ended => {
                let end = this.end(&state)?;
                Err(want.ended(py, end.as_ref()))
            }
            Received::Nothing => {
                let promise = Handle::new(py, Query::promise(this.request.get().hooks()))?;
                let before = state.receiver.replace((promise.share(py), want));
                drop(state);
                drop(before);
                Ok(promise.bind(py).to_owned())
            }
        }
    }

    #[inline]
    pub fn send_as<'py>(
        slf: &Bound<'py, Self>,
        kind: Kind,
        message: &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        Self::ensure_answered(slf)?;
        let request = this.request.get();
        let mut hub = request.reactor().get().hub.open()?;
        let sent = hub.with_socket(request.exchange(), |socket, io| {
            let sent = socket.send(kind, message, io);
            if sent == Sent::Full {
                socket.want_room(io);
            }
            sent
        });
        let in_turn = hub.in_turn;
        drop(hub);
        let outcome = match sent {
            Some(Sent::Room) => Ready::nothing(py),
            Some(Sent::Full) => this.promise(py, |state| &mut state.room),
            Some(Sent::Ended | Sent::Flooded) | None => {
                // Raised to whoever awaits it: who sends to many must not stumble over one.
                let end = this.end(&*this.state.open()?)?;
                let promise = Handle::new(py, Query::promise(request.hooks()))?;
                let error = closed_error(py, end.as_ref());
                promise.finish(py, Progress::failed(py, error), false)?;
                Ok(promise.bind(py).to_owned())
            }
        };
        if sent == Some(Sent::Flooded) {
            let mut hub = this.reactor().get().hub.open()?;
            hub.reactor.abort(request.exchange().key, CloseReason::SlowReader);
        }
        if !in_turn {
            Reactor::request_flush(this.reactor().bind(py))?;
        }
        outcome
    }

    /// Something that the connection will tell.
    pub fn promise<'py>(
        &self,
        py: Python<'py>,
        list: impl FnOnce(&mut State) -> &mut Vec<Handle>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let promise = Handle::new(py, Query::promise(self.request.get().hooks()))?;
        list(&mut *self.state.open()?).push(promise.share(py));
        Ok(promise.bind(py).to_owned())
    }
}
