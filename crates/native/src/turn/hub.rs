//! The reactor with its peers, and what Python hangs on it.

use std::collections::HashMap;
use std::sync::Arc;

use peers::{Connection, Exchange, Shared};
use pyo3::prelude::*;
use reactor::{CloseReason, Io, Key};
use rustc_hash::FxHashMap;

use crate::access_log::AccessLog;
use crate::ffi_light_task::LightTask;
use crate::ffi_query::Handle;
use crate::light_current::Entered;
use crate::memory_class::Memories;
use crate::request::Request;
use crate::server::Hooks;
use crate::waits::Waits;
use crate::websocket::WebSocket;

/// Whoever waits for a reply.
pub type Waiter = Handle;
/// One thing to do.
pub type Step = peers::Step<Waiter>;

/// Everything that lives on one descriptor.
pub struct Hub {
    pub reactor: reactor::Reactor<Connection<Waiter>>,
    /// What Python gave for each server, by server number.
    pub hooks: Vec<Option<Arc<Hooks>>>,
    /// The numbers of servers that stop: when their last connections have gone, so do their hooks.
    pub stopping: Vec<u32>,
    /// Clients without sockets.
    pub memories: Memories,
    /// Where each server logs, by server number; empty while none does.
    pub logs: Vec<Option<Py<AccessLog>>>,
    /// A request object that nobody holds any more.
    pub spare: Option<Py<Request>>,
    /// Who waits for something of an exchange.
    pub waits: HashMap<Exchange, Waits>,
    /// The empty task that is current, between two steps of one turn.
    pub light: Option<Entered>,
    /// An empty task that nobody holds any more.
    pub spare_task: Option<LightTask>,
    /// WebSockets by the exchange that was upgraded to them, while their connections live.
    pub sockets: FxHashMap<Exchange, Py<WebSocket>>,
    /// How to ask the loop for a flush.
    pub scheduler: Option<Py<PyAny>>,
    /// A flush is on its way.
    pub scheduled: bool,
    /// A turn is running: what is queued leaves at its end.
    pub in_turn: bool,
}

impl Hub {
    pub fn new() -> PyResult<Self> {
        let budget = reactor::Budget::default();
        let reactor = reactor::Reactor::new(Shared::default(), budget).map_err(os_error)?;
        Ok(Self {
            reactor,
            hooks: Vec::new(),
            stopping: Vec::new(),
            logs: Vec::new(),
            memories: Memories::default(),
            spare: None,
            waits: HashMap::new(),
            light: None,
            spare_task: None,
            sockets: FxHashMap::default(),
            scheduler: None,
            scheduled: false,
            in_turn: false,
        })
    }

    /// Let a link act.
    #[inline]
    pub fn with_link<R>(
        &mut self,
        key: Key,
        act: impl FnOnce(&mut peers::tarantool::Link<Waiter>, &mut Io<'_, Step>, &mut Shared) -> R,
    ) -> Option<R> {
        self.reactor
            .with(key, |peer, io, shared| peer.link().map(|link| act(link, io, shared)))
            .flatten()
    }

    /// Answer an exchange. False: it was not owed any more.
    #[inline]
    pub fn answer(&mut self, exchange: Exchange, answer: &http1::Answer<'_>) -> bool {
        let outcome = self.reactor.with(exchange.key, |peer, io, shared| {
            let connection = peer.http()?;
            let taken = connection.answer(exchange.number, answer, io, shared);
            Some((taken, connection.over()))
        });
        let Some(Some((taken, over))) = outcome else { return false };
        if let Some(reason) = over {
            self.reactor.close(exchange.key, reason);
        }
        taken
    }

    /// All pieces of an answer have come. False: fewer bytes than announced, and it is broken off.
    pub fn end(&mut self, exchange: Exchange) -> bool {
        let ended = self.with_http(exchange, |connection, io, shared| {
            (connection.end(exchange.number, io, shared), connection.over())
        });
        match ended {
            Some((Some(_), _)) => {
                self.cut(exchange);
                return false;
            }
            Some((None, Some(reason))) => self.reactor.close(exchange.key, reason),
            Some((None, None)) | None => {}
        }
        true
    }

    /// Break an answer off: the client learns from its connection that the rest is missing.
    pub fn cut(&mut self, exchange: Exchange) {
        let (key, number) = (exchange.key, exchange.number);
        let owed = self.with_http(exchange, |connection, _, _| {
            connection.awaits(number).then(|| connection.ends_by_close(number))
        });
        match owed.flatten() {
            Some(true) => self.reactor.reset(key, CloseReason::Stopped),
            // What was written leaves; that it is not all is plain to see.
            Some(false) => self.reactor.close(key, CloseReason::Stopped),
            None => {}
        }
    }

    /// Has the client of this exchange closed its side, or the connection?
    pub fn has_left(&mut self, exchange: Exchange) -> bool {
        self.with_http(exchange, |connection, _, _| connection.has_left()).unwrap_or(true)
    }

    /// What Python gave for servers that have stopped; to be dropped when the hub is closed.
    pub fn hooks_of_stopped(&mut self) -> Vec<Arc<Hooks>> {
        if self.reactor.has_work() {
            return Vec::new(); // what connections left behind is still to be seen to
        }
        let Self { reactor, hooks, stopping, .. } = self;
        let mut gone = Vec::new();
        stopping.retain(|&number| {
            let stays = reactor.shared.server(number).is_some_and(|server| server.connections > 0);
            if !stays {
                gone.extend(hooks.get_mut(number as usize).and_then(Option::take));
            }
            stays
        });
        gone
    }

    /// Close every connection that `which` picks, as soon as its output is out.
    pub fn close_where(
        &mut self,
        reason: CloseReason,
        which: impl Fn(&mut peers::http::Connection) -> bool,
    ) {
        for key in self.reactor.keys() {
            let picked = self.reactor.with(key, |peer, _, _| peer.http().is_some_and(&which));
            if picked == Some(true) {
                self.reactor.close(key, reason);
            }
        }
    }
}

/// An errno as `OSError`.
pub fn os_error(error: rustix::io::Errno) -> PyErr {
    std::io::Error::from(error).into()
}
