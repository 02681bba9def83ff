//! Who waits for something of an exchange: bytes of its body, room for its answer, its client's end.

use std::sync::Arc;

use peers::Exchange;
use peers::http::{BodyState, Connection};
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::ffi_query::Handle;
use crate::hub::Hub;
use crate::names;
use crate::query::Query;
use crate::query_state::Progress;
use crate::reactor_class::Reactor;
use crate::server::Hooks;

/// The promises of one exchange that are not kept yet.
#[derive(Default)]
pub struct Waits {
    piece: Option<Handle>,
    room: Option<Handle>,
    gone: Vec<Handle>,
}

impl Waits {
    fn is_empty(&self) -> bool {
        self.piece.is_none() && self.room.is_none() && self.gone.is_empty()
    }
}

/// A piece of a body, or what there is instead.
pub enum Piece<'py> {
    Bytes(Bound<'py, PyBytes>),
    End,
    Later(Handle),
}

impl Hub {
    /// The next piece of a body that comes in pieces.
    pub fn next_piece<'py>(
        &mut self,
        py: Python<'py>,
        exchange: Exchange,
        hooks: &Arc<Hooks>,
    ) -> PyResult<Piece<'py>> {
        if let Some(piece) = self.piece_now(py, exchange)? {
            return Ok(piece);
        }
        let promise = Handle::new(py, Query::promise(hooks))?;
        self.waits.entry(exchange).or_default().piece = Some(promise.share(py));
        self.with_http(exchange, |connection, io, shared| {
            connection.want_body(exchange.number, io, shared);
        });
        Ok(Piece::Later(promise))
    }

    fn piece_now<'py>(
        &mut self,
        py: Python<'py>,
        exchange: Exchange,
    ) -> PyResult<Option<Piece<'py>>> {
        let mut bytes = Vec::new();
        let state = self.with_http(exchange, |connection, _, _| {
            connection.take_body(exchange.number, &mut bytes)
        });
        if !bytes.is_empty() {
            return Ok(Some(Piece::Bytes(PyBytes::new(py, &bytes))));
        }
        match state.flatten() {
            Some(BodyState::More) => Ok(None),
            Some(BodyState::Done) => Ok(Some(Piece::End)),
            Some(BodyState::Refused(refusal)) => {
                Err(names::http_error(py, refusal.status, refusal.reason))
            }
            Some(BodyState::TimedOut) => {
                Err(names::http_error(py, 408, "the body came too slowly"))
            }
            Some(BodyState::Cut) | None => Err(names::disconnected(py)),
        }
    }

    /// A promise that is kept when the next piece of the answer may be pushed.
    pub fn promise_room(
        &mut self,
        py: Python<'_>,
        exchange: Exchange,
        hooks: &Arc<Hooks>,
    ) -> PyResult<Handle> {
        let promise = Handle::new(py, Query::promise(hooks))?;
        self.waits.entry(exchange).or_default().room = Some(promise.share(py));
        self.with_http(exchange, |connection, io, _| {
            connection.want_room(exchange.number, io);
            // A client that leaves makes no room.
            connection.watch(exchange.number, io);
        });
        Ok(promise)
    }

    /// A promise that is kept when the client has gone.
    pub fn promise_gone(
        &mut self,
        py: Python<'_>,
        exchange: Exchange,
        hooks: &Arc<Hooks>,
    ) -> PyResult<Handle> {
        let promise = Handle::new(py, Query::promise(hooks))?;
        let left = self.with_http(exchange, |connection, io, _| {
            // Told at once: whoever only looks and gives up again would never hear of a step.
            if !connection.has_left() {
                connection.watch(exchange.number, io);
            }
            connection.has_left()
        });
        if left == Some(false) {
            self.waits.entry(exchange).or_default().gone.push(promise.share(py));
        } else {
            promise.finish(py, Progress::nothing(py), false)?;
        }
        Ok(promise)
    }

    /// Nobody waits for anything of it any more.
    pub fn forget_waits(&mut self, exchange: Exchange) {
        self.waits.remove(&exchange);
    }

    fn take(
        &mut self,
        exchange: Exchange,
        which: impl FnOnce(&mut Waits) -> Option<Handle>,
    ) -> Option<Handle> {
        let waits = self.waits.get_mut(&exchange)?;
        let promise = which(waits);
        if waits.is_empty() {
            self.waits.remove(&exchange);
        }
        promise
    }

    /// Let the connection of an exchange act.
    pub fn with_http<R>(
        &mut self,
        exchange: Exchange,
        act: impl FnOnce(
            &mut Connection,
            &mut reactor::Io<'_, crate::hub::Step>,
            &mut peers::Shared,
        ) -> R,
    ) -> Option<R> {
        self.reactor
            .with(exchange.key, |peer, io, shared| {
                peer.http().map(|connection| act(connection, io, shared))
            })
            .flatten()
    }
}

/// Something of the body has come.
pub fn readable(reactor: &Bound<'_, Reactor>, exchange: Exchange) -> PyResult<()> {
    let py = reactor.py();
    let mut hub = reactor.get().hub.open()?;
    let Some(promise) = hub.take(exchange, |waits| waits.piece.take()) else { return Ok(()) };
    if promise.get().is_done() {
        // Given up meanwhile: the bytes stay for whoever asks next.
        return Ok(());
    }
    let piece = hub.piece_now(py, exchange);
    if matches!(piece, Ok(None)) {
        hub.waits.entry(exchange).or_default().piece = Some(promise);
        return Ok(());
    }
    drop(hub);
    let progress = match piece {
        Ok(Some(Piece::Bytes(bytes))) => Progress::Done(bytes.into_any().into()),
        Ok(_) => Progress::failed(py, PyStopAsyncIteration::new_err(())),
        Err(error) => Progress::failed(py, error),
    };
    promise.finish(py, progress, true)
}

/// A full connection has room again.
pub fn writable(reactor: &Bound<'_, Reactor>, exchange: Exchange) -> PyResult<()> {
    let promise = reactor.get().hub.open()?.take(exchange, |waits| waits.room.take());
    promise.map_or(Ok(()), |promise| {
        let py = reactor.py();
        promise.finish(py, Progress::nothing(py), true)
    })
}

/// The client has gone; what it sent before may still be read.
pub fn gone(reactor: &Bound<'_, Reactor>, exchange: Exchange) -> PyResult<()> {
    let py = reactor.py();
    let mut hub = reactor.get().hub.open()?;
    let closed = hub.with_http(exchange, |_, _, _| ()).is_none();
    let mut gone = Vec::new();
    let room = hub.take(exchange, |waits| {
        gone = std::mem::take(&mut waits.gone);
        // One that closed only its own side still reads.
        if closed { waits.room.take() } else { None }
    });
    drop(hub);
    for promise in gone {
        promise.finish(py, Progress::nothing(py), true)?;
    }
    room.map_or(Ok(()), |promise| {
        promise.finish(py, Progress::failed(py, names::disconnected(py)), true)
    })
}
