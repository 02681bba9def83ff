//! One client of a server: head, body, hand over, answer.
//!
//! ```text
//!   (Preamble) ──► Head ──► Body ──► (pipeline) ──► Head …
//!        └────────────┴────────┴── refusal, close, end ──► Stopped ──► closed when all is answered
//! ```

use std::sync::Arc;

use http1::{Answer, Framing, Method, Owed, Progress};
use reactor::{Address, Advance, CloseReason, Io, Millis};

use super::body::{Incoming, Pace, Source};
use super::pipeline::{Pipeline, is_barrier};
use super::preamble::Preamble;
use super::websocket::WebSocket;
use crate::request::RequestData;
use crate::route::Routed;
use crate::shared::{Server, Shared};
use crate::step::{Exchange, Step};
use tls::Session;

/// What the next bytes are.
#[derive(Debug)]
pub(super) enum Reading {
    /// What comes before the first request: see `preamble`.
    Preamble(Preamble),
    Head,
    Body(Source),
    /// Frames: see `socket`.
    WebSocket,
    /// Nothing more is read; closed for this reason when all is answered.
    Stopped(CloseReason),
}

/// One connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one client")]
pub struct Connection {
    pub(super) server: u32,
    pub(super) from: Address,
    /// The client's side is encrypted, by ourselves or by a proxy.
    pub(super) secure: bool,
    /// What TLS agreed on, or will.
    pub(super) session: Option<Arc<Session>>,
    pub(super) reading: Reading,
    /// The request whose body is collected.
    pub(super) request: Option<Box<RequestData>>,
    /// The body that is handed out in pieces.
    pub(super) incoming: Option<Box<Incoming>>,
    pub(super) pace: Pace,
    pub(super) pipeline: Pipeline,
    /// When the first byte of the head that is being read came, or when nothing that came before
    /// it was owed any more.
    pub(super) head_since: Option<Millis>,
    /// Bytes of that head that were looked at already.
    pub(super) seen: usize,
    /// The next request is there, and has to wait until it is alone.
    pub(super) waits: bool,
    /// Exchanges whose writers wait for room.
    pub(super) blocked: Vec<u64>,
    /// Somebody wants to know when the client leaves.
    pub(super) watched: bool,
    /// It has left.
    pub(super) left: bool,
    /// What it has become by an upgrade.
    pub(super) socket: Option<Box<WebSocket>>,
}

/// What came of an attempt to go on.
pub(super) enum Outcome<W> {
    /// Try again: something was dealt with.
    Again,
    Done(Advance<Step<W>>),
}

impl Connection {
    /// Hand out the next request.
    #[inline]
    pub(crate) fn advance<W>(
        &mut self,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Advance<Step<W>> {
        loop {
            let outcome = match self.reading {
                Reading::Head => self.read_head(io, shared),
                Reading::Preamble(preamble) => self.read_preamble(preamble, io, shared),
                Reading::Body(_) => self.read_body(io, shared),
                Reading::WebSocket => match &mut self.socket {
                    Some(socket) => Outcome::Done(socket.advance(io)),
                    None => self.stop(CloseReason::Stopped),
                },
                Reading::Stopped(reason) => {
                    io.consume(io.input().len());
                    Outcome::Done(if self.pipeline.is_empty() {
                        Advance::Close(reason)
                    } else {
                        Advance::Starved
                    })
                }
            };
            if let Outcome::Done(advance) = outcome {
                return advance;
            }
        }
    }

    #[inline]
    fn read_head<W>(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) -> Outcome<W> {
        let Some(server) = shared.servers.get_mut(self.server as usize).and_then(Option::as_mut)
        else {
            return self.stop(CloseReason::Stopped);
        };
        if io.input().is_empty() {
            // Also while a request runs alone: a client that leaves is noticed.
            return self.starve(io, shared);
        }
        if self.pipeline.len() >= server.in_flight
            || self.pipeline.is_barred()
            || (self.waits && !self.pipeline.is_empty())
            || self.pipeline.parked() > server.queued_bytes
        {
            io.set_deadline(None);
            return Outcome::Done(Advance::Held);
        }
        let mut request = shared.pool.take();
        // The first piece is read to its end, for its faults; then only whole lines count.
        let seen = std::mem::take(&mut self.seen);
        let progress = match seen {
            0 => request.head.parse(io.input(), &server.limits),
            _ => request.head.parse_more(io.input(), seen, &server.limits),
        };
        match progress {
            Ok(Progress::Complete) => {}
            Ok(Progress::Partial) => {
                self.seen = io.input().len();
                shared.pool.give(request);
                return self.starve(io, shared);
            }
            Err(refusal) => {
                shared.pool.give(request);
                return self.refuse(&refusal, io, shared);
            }
        }
        let has_body = request.head.framing != Framing::None;
        if !self.pipeline.is_empty() && (has_body || is_barrier(&request.head)) {
            // Alone or not at all: parsed again when everything before it is answered.
            self.waits = true;
            self.head_since = None;
            shared.pool.give(request);
            io.set_deadline(None);
            return Outcome::Done(Advance::Held);
        }
        request.bytes.extend_from_slice(&io.input()[..request.head.len]);
        io.consume(request.head.len);
        self.head_since = None;
        self.waits = false;
        if has_body {
            return self.start_body(request, io, shared);
        }
        let Some(server) = self.settings(shared) else { return self.stop(CloseReason::Stopped) };
        route(&mut request, server);
        self.hand_over(request, io, shared)
    }

    /// The request is whole, or as whole as its route wants it: the driver answers it, or we do.
    #[inline]
    pub(super) fn hand_over<W>(
        &mut self,
        mut request: Box<RequestData>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        shared.requests += 1;
        let Some(server) = shared.servers.get_mut(self.server as usize).and_then(Option::as_mut)
        else {
            return self.stop(CloseReason::Stopped);
        };
        let head = &request.head;
        let owed = Owed {
            version: head.version,
            keep_alive: head.keep_alive && !server.draining,
            head_only: head.method == Method::Head,
        };
        let barrier = is_barrier(&request.head);
        if !owed.keep_alive {
            match &mut self.incoming {
                Some(incoming) if matches!(self.reading, Reading::Body(_)) => incoming.last = true,
                _ => self.reading = Reading::Stopped(CloseReason::Finished),
            }
        }
        io.set_deadline(None);
        server.running += 1;
        let observed = server.observer.is_some();
        let number = self.pipeline.push(owed, barrier);
        let ours = !matches!(request.routed, Routed::Found(..)) && !server.has_fallback;
        if observed {
            self.note_request(number, &request, shared);
        }
        if ours {
            self.answer_unrouted(number, &request.routed, io, shared);
            shared.pool.give(request);
            return Outcome::Again;
        }
        request.server = self.server;
        request.from.clone_from(&self.from);
        request.secure = self.secure;
        request.session.clone_from(&self.session);
        let exchange = Exchange { key: io.key, number };
        Outcome::Done(Advance::Step(Step::Request { exchange, data: request }))
    }

    /// Take the answer of an exchange. False: it was not owed any more.
    #[inline]
    pub fn answer<W>(
        &mut self,
        number: u64,
        answer: &Answer<'_>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> bool {
        if answer.status < 200 {
            // The client takes it for a preliminary one and the next answer for this exchange's.
            self.let_be_last(number, shared);
        }
        self.give(number, answer, io, shared)
    }

    /// [`Self::answer`], whatever the connection is to be afterwards.
    #[inline]
    pub(super) fn give<W>(
        &mut self,
        number: u64,
        answer: &Answer<'_>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> bool {
        let in_the_way = self.body_is_in_the_way(number);
        let Some(server) = self.server_of(shared) else { return false };
        let before = self.pipeline.len();
        let last = in_the_way || (server.draining && self.pipeline.is_newest(number));
        let note = server.observer.as_ref().and_then(|_| self.pipeline.take_note(number));
        if !self.pipeline.answer(number, answer, &server.prelude, last, io.output) {
            self.pipeline.set_note(number, note);
            return false;
        }
        if note.is_some() {
            self.note_answer(note, answer, shared);
        }
        if last && matches!(self.reading, Reading::Head) {
            self.reading = Reading::Stopped(CloseReason::Stopped);
        }
        self.after_answers(number, before, io, shared);
        true
    }

    /// An answer is complete, and with it perhaps others that waited for it.
    #[inline]
    pub(super) fn after_answers<W>(
        &mut self,
        number: u64,
        before: usize,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) {
        if self.incoming.is_some() {
            self.abandon_body(number);
        }
        self.pass_files(io);
        if !self.blocked.is_empty() {
            io.tell_when_drained();
        }
        let Some(server) = self.server_of(shared) else { return };
        server.running = server.running.saturating_sub(before - self.pipeline.len());
        let over = server.draining && self.pipeline.is_empty();
        if matches!(self.reading, Reading::Head) {
            if over {
                self.reading = Reading::Stopped(CloseReason::Stopped);
            } else if self.pipeline.is_empty() {
                // The time in which others were answered does not count against the next head.
                self.head_since = self.head_since.map(|_| io.now);
                self.be_patient(io, shared);
            }
        }
    }

    /// Set the deadline for what is awaited now: a body, a head, or any request at all.
    #[inline]
    pub(super) fn be_patient<W>(&self, io: &mut Io<'_, Step<W>>, shared: &Shared) {
        let Some(server) = self.settings(shared) else { return };
        let timeouts = &server.timeouts;
        let due = match self.head_since {
            _ if matches!(self.reading, Reading::Body(_)) => self.pace.due(io.now, server),
            Some(since) => since.saturating_add(timeouts.header),
            None => io.now.saturating_add(timeouts.idle),
        };
        io.set_deadline(Some(due));
    }

    /// Why the connection is to be closed now, if it is.
    #[inline]
    pub fn over(&self) -> Option<CloseReason> {
        match self.reading {
            Reading::Stopped(reason) if self.pipeline.is_empty() => Some(reason),
            _ => None,
        }
    }

    /// No whole head is there.
    #[inline]
    fn starve<W>(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) -> Outcome<W> {
        if io.ended {
            self.tell_gone(io);
            return self.stop(CloseReason::Finished);
        }
        if !io.input().is_empty() {
            self.head_since.get_or_insert(io.now);
        }
        if !self.pipeline.is_empty() {
            // A slow handler is not the client's fault.
            io.set_deadline(None);
            return Outcome::Done(Advance::Starved);
        }
        self.be_patient(io, shared);
        Outcome::Done(Advance::Settled)
    }

    #[inline]
    pub(super) fn server_of<'a>(&self, shared: &'a mut Shared) -> Option<&'a mut Server> {
        shared.servers.get_mut(self.server as usize)?.as_mut()
    }

    /// Read no more; close when all is answered.
    pub(super) fn stop<W>(&mut self, reason: CloseReason) -> Outcome<W> {
        self.reading = Reading::Stopped(reason);
        Outcome::Again
    }
}

/// Find where a request leads.
#[inline]
pub(super) fn route(request: &mut RequestData, server: &Server) {
    let head = &request.head;
    let name = head.method_name.of(&request.bytes);
    request.routed = server.router.find(head.method, name, head.path.of(&request.bytes));
}
