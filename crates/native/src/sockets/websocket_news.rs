//! What a connection tells of its WebSocket, and what the end of a handler means to it.

use std::sync::Arc;

use peers::http::Received;
use peers::{Exchange, News};
use pyo3::prelude::*;

use crate::dispatch::ordinary;
use crate::ffi_query::Handle;
use crate::hub::Hub;
use crate::query_state::Progress;
use crate::reactor_class::Reactor;
use crate::request::Request;
use crate::request_inner::Inner;
use crate::server::Hooks;
use crate::websocket::{Phase, State, WebSocket, closed_error};
use crate::{answer, call, names};

/// Act on what a connection tells of its WebSocket.
#[inline]
pub fn news(reactor: &Bound<'_, Reactor>, exchange: Exchange, news: News) -> PyResult<()> {
    let py = reactor.py();
    let mut hub = reactor.get().hub.open()?;
    if let News::Ended(left) = news {
        let socket = hub.sockets.remove(&exchange);
        drop(hub);
        let Some(socket) = socket else { return Ok(()) };
        let socket = socket.bind(py);
        socket.get().state.open()?.phase = Phase::Ended(left);
        return ended(socket);
    }
    let Some(socket) = hub.sockets.get(&exchange).map(|socket| socket.clone_ref(py)) else {
        return Ok(());
    };
    drop(hub);
    let socket = socket.bind(py);
    match news {
        News::Readable => readable(socket),
        News::Writable => {
            let waiting = std::mem::take(&mut socket.get().state.open()?.room);
            keep(py, waiting)
        }
        News::Pong => {
            let waiting = std::mem::take(&mut socket.get().state.open()?.pongs);
            keep(py, waiting)
        }
        News::Ended(_) => Ok(()),
    }
}

/// There is a message, or the end: whoever waits for it gets it.
#[inline]
fn readable(socket: &Bound<'_, WebSocket>) -> PyResult<()> {
    let (py, this) = (socket.py(), socket.get());
    let mut state = this.state.open()?;
    let Some((promise, want)) = state.receiver.take() else { return Ok(()) };
    if promise.get().is_done() {
        // Given up meanwhile: the message stays for whoever asks next.
        drop(state);
        return Ok(());
    }
    let progress = match this.take(py, &mut state)? {
        Received::Message(message) => {
            drop(state);
            Progress::of(py, want.convert(message))
        }
        Received::Ended => {
            let end = this.end(&state)?;
            drop(state);
            Progress::failed(py, want.ended(py, end.as_ref()))
        }
        Received::Nothing => {
            state.receiver = Some((promise, want));
            return Ok(());
        }
    };
    promise.finish(py, progress, true)
}

/// The connection has gone: nobody waits in vain.
pub fn ended(socket: &Bound<'_, WebSocket>) -> PyResult<()> {
    let (py, this) = (socket.py(), socket.get());
    readable(socket)?;
    let mut state = this.state.open()?;
    let end = this.end(&state)?;
    let State { room, pongs, goodbyes, .. } = &mut *state;
    let (room, pongs) = (std::mem::take(room), std::mem::take(pongs));
    let goodbyes = std::mem::take(goodbyes);
    drop(state);
    for promise in room.into_iter().chain(pongs) {
        promise.finish(py, Progress::failed(py, closed_error(py, end.as_ref())), true)?;
    }
    keep(py, goodbyes)
}

fn keep(py: Python<'_>, promises: Vec<Handle>) -> PyResult<()> {
    for promise in promises {
        promise.finish(py, Progress::nothing(py), true)?;
    }
    Ok(())
}

/// The handler of a request that was made a WebSocket has ended.
pub fn handler_ended(
    hooks: &Arc<Hooks>,
    request: &Bound<'_, Request>,
    outcome: PyResult<Py<PyAny>>,
) -> PyResult<()> {
    let py = request.py();
    let this = request.get();
    let open = this.is_answered();
    match outcome {
        Ok(_) if open => hang_up(this, 1000),
        Ok(result) if result.is_none(py) => {
            answer::plain(this, 403, b"Forbidden");
            Ok(())
        }
        Ok(result) => call::finish(hooks, request, result.bind(py)).map(drop),
        Err(error) if error.is_instance(py, names::websocket_closed_class(py)?) => {
            if !open {
                answer::plain(this, 503, b"Service Unavailable");
            }
            hang_up(this, 1000)
        }
        Err(error) if open => {
            let defect = ordinary(py, error);
            hang_up(this, 1011)?;
            report(hooks, request, defect?)
        }
        Err(error) => call::give_up(hooks, request, error),
    }
}

/// Close it, if that was not done before.
fn hang_up(request: &Inner, code: u16) -> PyResult<()> {
    let mut hub = request.reactor().get().hub.open()?;
    hub.with_socket(request.exchange(), |socket, io| socket.close(code, "", io));
    Ok(())
}

/// Let the application know of a defect; there is nobody left to answer.
fn report(hooks: &Hooks, request: &Bound<'_, Request>, error: PyErr) -> PyResult<()> {
    let py = request.py();
    let said = hooks.on_error.bind(py).call1((request, error.into_value(py)));
    match said {
        Ok(result) if crate::ffi_call::is_coroutine(&result) => {
            result.call_method0("close").map(drop)
        }
        Ok(_) => Ok(()),
        Err(error) => {
            ordinary(py, error)?.write_unraisable(py, Some(hooks.on_error.bind(py)));
            Ok(())
        }
    }
}

impl Hub {
    /// Say goodbye on every WebSocket of a server.
    pub fn close_sockets(&mut self, server: u32, code: u16, reason: &str) {
        for key in self.reactor.keys() {
            self.reactor.with(key, |peer, io, _| {
                if let Some(connection) = peer.http()
                    && connection.server() == server
                    && let Some(socket) = connection.socket()
                {
                    socket.close(code, reason, io);
                }
            });
        }
    }
}

/// The reactor has closed: as `ended`, without a word from the connection.
pub fn abandoned(py: Python<'_>, socket: &Py<WebSocket>) {
    let socket = socket.bind(py);
    if let Some(mut state) = socket.get().state.try_open() {
        state.phase = Phase::Refused;
    }
    if let Err(error) = ended(socket) {
        error.write_unraisable(py, Some(socket));
    }
}
