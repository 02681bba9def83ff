//! From an accepted socket to the first request: a word of the proxy in front, then TLS.
//!
//! ```text
//!   accepted ──► Proxied ──► Sealed ──► Head
//!        └──► too many: 503
//! ```

use std::net::SocketAddr;

use http1::{Answer, Owed, Payload, Refusal, RefusalKind, Version, proxy_header, write_refusal};
use reactor::{Address, Advance, CloseReason, Io};

use super::body::Pace;
use super::connection::{Connection, Outcome, Reading};
use super::own_answers::TEXT;
use super::pipeline::Pipeline;
use crate::observe::Kind;
use crate::shared::{Server, Shared};
use crate::step::Step;

/// Clients beyond the limit that are told so at the same time; all others are cut off.
const TURNED_AWAY: usize = 32;
const NOT_TLS: Refusal =
    Refusal { status: 400, reason: "this port speaks TLS", kind: RefusalKind::Syntax };

/// What has to come before the first request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Preamble {
    /// A header of the PROXY protocol.
    Proxied,
    /// The client's first record of TLS.
    Sealed,
    /// Nothing: there are too many connections, and this one is told so.
    TooMany,
}

impl Preamble {
    fn of(server: &Server) -> Option<Self> {
        let sealed = server.tls.as_ref().map(|_| Self::Sealed);
        if server.proxy_protocol { Some(Self::Proxied) } else { sealed }
    }
}

impl Connection {
    pub(crate) fn accepted(number: u32, from: &Address, shared: &mut Shared) -> Option<Self> {
        let server = shared.server(number)?;
        let too_many = server.connections >= server.most_connections;
        if too_many && let Some(observer) = &mut server.observer {
            observer.metrics.count(Kind::CROWDED);
        }
        if server.draining || (too_many && !can_turn_away(server)) {
            return None;
        }
        server.connections += 1;
        let preamble = if too_many { Some(Preamble::TooMany) } else { Preamble::of(server) };
        Some(Self {
            server: number,
            from: from.clone(),
            secure: false,
            session: None,
            reading: preamble.map_or(Reading::Head, Reading::Preamble),
            request: None,
            incoming: None,
            pace: Pace::default(),
            pipeline: Pipeline::default(),
            head_since: None,
            seen: 0,
            waits: false,
            blocked: Vec::new(),
            watched: false,
            left: false,
            socket: None,
        })
    }

    pub(crate) fn opened<W>(
        &mut self,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Advance<Step<W>> {
        let Some(server) = self.settings(shared) else {
            return Advance::Abort(CloseReason::Stopped);
        };
        let timeouts = &server.timeouts;
        let patience = match self.reading {
            Reading::Preamble(Preamble::TooMany) => return turn_away(server, io),
            Reading::Preamble(_) => timeouts.handshake,
            _ => timeouts.header,
        };
        io.set_deadline(Some(io.now.saturating_add(patience)));
        Advance::Starved
    }

    /// Both sides of TLS have agreed: the first request may come.
    pub(crate) fn covered<W>(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) {
        if let Some(server) = self.settings(shared) {
            io.set_deadline(Some(io.now.saturating_add(server.timeouts.header)));
        }
    }

    /// No request could be read, or refused, yet.
    pub(super) fn is_preparing(&self) -> bool {
        matches!(self.reading, Reading::Preamble(_)) || self.is_agreeing()
    }

    /// The handshake of TLS has begun and is not done.
    pub(super) fn is_agreeing(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.agreed().is_none())
    }

    pub(super) fn read_preamble<W>(
        &mut self,
        preamble: Preamble,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        if io.input().is_empty() {
            return self.await_preamble(io);
        }
        match preamble {
            Preamble::Proxied => self.read_proxied(io, shared),
            Preamble::Sealed => self.start_tls(io, shared),
            Preamble::TooMany => self.stop(CloseReason::Refused),
        }
    }

    fn await_preamble<W>(&mut self, io: &Io<'_, Step<W>>) -> Outcome<W> {
        if io.ended { self.stop(CloseReason::Finished) } else { Outcome::Done(Advance::Starved) }
    }

    fn read_proxied<W>(&mut self, io: &mut Io<'_, Step<W>>, shared: &Shared) -> Outcome<W> {
        let proxied = match proxy_header(io.input()) {
            Ok(Some(proxied)) => proxied,
            Ok(None) => return self.await_preamble(io),
            // A proxy would not understand an answer.
            Err(_) => return Outcome::Done(Advance::Abort(CloseReason::Refused)),
        };
        io.consume(proxied.len);
        if let Some((address, port)) = proxied.source {
            self.from = Address::Tcp(SocketAddr::new(address, port));
        }
        self.secure = proxied.secure;
        let Some(server) = self.settings(shared) else { return self.stop(CloseReason::Stopped) };
        if server.tls.is_some() {
            self.reading = Reading::Preamble(Preamble::Sealed);
            return Outcome::Again;
        }
        let header = server.timeouts.header;
        self.reading = Reading::Head;
        if io.input().is_empty() && !io.ended {
            io.set_deadline(Some(io.now.saturating_add(header)));
            return Outcome::Done(Advance::Starved);
        }
        Outcome::Again
    }

    fn start_tls<W>(&mut self, io: &mut Io<'_, Step<W>>, shared: &Shared) -> Outcome<W> {
        let Some(server) = self.settings(shared) else { return self.stop(CloseReason::Stopped) };
        if io.input()[0].is_ascii_alphabetic() {
            // It speaks HTTP: no record of TLS begins with a letter.
            write_refusal(io.output, &server.prelude, &NOT_TLS);
            return self.stop(CloseReason::Refused);
        }
        let Some(Ok((cover, session))) = server.tls.as_ref().map(|acceptor| acceptor.cover())
        else {
            return Outcome::Done(Advance::Abort(CloseReason::Stopped));
        };
        self.secure = true;
        self.session = Some(session);
        self.reading = Reading::Head;
        Outcome::Done(Advance::Cover(cover))
    }
}

/// A few are told; where TLS or a proxy comes first, nobody would understand.
fn can_turn_away(server: &Server) -> bool {
    Preamble::of(server).is_none() && server.connections < server.most_connections + TURNED_AWAY
}

/// Tell a client that there is no room for it.
fn turn_away<W>(server: &Server, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
    let owed = Owed { version: Version::Http11, keep_alive: false, head_only: false };
    let payload = Payload::Bytes(b"too many connections");
    let fields = b"Retry-After: 1\r\n";
    let answer = Answer { status: 503, content_type: TEXT, fields, payload };
    http1::write(io.output, &server.prelude, owed, &answer);
    Advance::Close(CloseReason::Refused)
}
