//! What all connections of one reactor share: servers, buffers, the date.

use std::sync::Arc;

use http1::{Limits, Prelude};
use reactor::Millis;

use crate::observe::Observer;
use crate::request::Pool;
use crate::route::{Routed, Router};

/// How long a client may take, in milliseconds.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// For a header of the PROXY protocol and the handshake of TLS.
    pub handshake: Millis,
    /// From the first byte of a head to its end.
    pub header: Millis,
    /// Between two pieces of a body.
    pub body: Millis,
    /// Bytes per second that a body must come with, once `body` has passed; 0 for any.
    pub body_rate: u64,
    /// Without a request.
    pub idle: Millis,
    /// Without reading what is sent.
    pub write: Millis,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            handshake: 10_000,
            header: 10_000,
            body: 30_000,
            body_rate: 240,
            idle: 75_000,
            write: 30_000,
        }
    }
}

/// One listening application.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of one server")]
pub struct Server {
    /// Its routes.
    pub router: Router,
    /// Limits of one request.
    pub limits: Limits,
    /// Timeouts of one connection.
    pub timeouts: Timeouts,
    /// Requests of one connection that may run at the same time.
    pub in_flight: usize,
    /// Bytes that may wait for a connection's client before it is not read any more.
    pub queued_bytes: usize,
    /// Connections at the same time.
    pub most_connections: usize,
    /// `Server` and `Date` lines.
    pub prelude: Prelude,
    /// Bytes of a body in pieces that may wait for its handler.
    pub body_window: usize,
    /// Routes, by number, whose handlers take their bodies in pieces.
    pub streamed_routes: Vec<bool>,
    /// So does what answers where no route matches.
    pub streams_fallback: bool,
    /// The driver answers where no route matches, or none with this method.
    pub has_fallback: bool,
    /// Connections now.
    pub connections: usize,
    /// Requests now running.
    pub running: usize,
    /// Connections speak TLS.
    pub tls: Option<Arc<tls::Acceptor>>,
    /// A proxy in front tells whom it speaks for.
    pub proxy_protocol: bool,
    /// It stops: every answer is its connection's last.
    pub draining: bool,
    /// Counts and logs, if anybody wants to know.
    pub observer: Option<Box<Observer>>,
}

impl Server {
    /// Does the handler start before the body is there?
    #[inline]
    pub(crate) fn streams(&self, routed: &Routed) -> bool {
        match routed {
            Routed::Found(number, _) => {
                self.streamed_routes.get(*number as usize).copied().unwrap_or_default()
            }
            Routed::NotFound | Routed::NotAllowed(_) | Routed::Options(_) => {
                self.streams_fallback && self.has_fallback
            }
        }
    }
}

/// What all peers of one reactor share.
#[derive(Debug, Default)]
pub struct Shared {
    /// Servers by listener tag; a stopped one leaves its place empty.
    pub servers: Vec<Option<Server>>,
    /// Request buffers.
    pub pool: Pool,
    /// Requests received.
    pub requests: u64,
    /// Queries sent.
    pub queries: u64,
    /// Replies received.
    pub replies: u64,
    /// Seconds since 1970, for `Date`.
    pub unix_seconds: u64,
}

impl Shared {
    /// Add a server; its number is the tag for its listener.
    ///
    /// # Panics
    /// With four billion servers.
    pub fn add_server(&mut self, mut server: Server) -> u32 {
        server.prelude.set_time(self.unix_seconds);
        // Never the place of a stopped one: connections of that may still be about.
        self.servers.push(Some(server));
        u32::try_from(self.servers.len() - 1).expect("fewer than four billion servers")
    }

    /// A server by its number.
    #[inline]
    pub fn server(&mut self, number: u32) -> Option<&mut Server> {
        self.servers.get_mut(number as usize)?.as_mut()
    }

    /// The wall clock moved.
    pub fn set_time(&mut self, unix_seconds: u64) {
        if unix_seconds != self.unix_seconds {
            self.unix_seconds = unix_seconds;
            for server in self.servers.iter_mut().flatten() {
                server.prelude.set_time(unix_seconds);
            }
        }
    }
}
