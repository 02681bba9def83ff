//! Request bodies: collected before the handler starts, or handed out in pieces while it runs.
//!
//! A body in pieces waits in the connection until the driver takes it. When more than a window's
//! worth waits, the socket is not read.

use http1::{Chunked, Framing, Refusal, write_continue};
use reactor::{Advance, CloseReason, Io, Millis};

use super::connection::{Connection, Outcome, Reading};
use crate::observe::Kind;
use crate::request::RequestData;
use crate::route::Routed;
use crate::shared::{Server, Shared};
use crate::step::{Exchange, Step};

/// What nobody wants any more is read up to this; beyond it the connection is closed instead.
const MOST_DISCARDED: u64 = 256 * 1024;

/// Where the bytes of a body end.
#[derive(Debug)]
pub(super) enum Source {
    /// So many are still to come.
    Length(u64),
    Chunked(Chunked),
}

impl Source {
    pub(super) fn of(framing: Framing, limit: u64) -> Option<Self> {
        match framing {
            Framing::None => None,
            Framing::Length(length) => Some(Self::Length(length)),
            Framing::Chunked => Some(Self::Chunked(Chunked::new(limit))),
        }
    }

    /// Decode what there is; tells how much that was, and whether it was the end.
    fn read(&mut self, input: &[u8], body: &mut Vec<u8>) -> Result<(usize, bool), Refusal> {
        match self {
            Self::Length(left) => {
                let count =
                    usize::try_from(*left).map_or(input.len(), |most| most.min(input.len()));
                body.extend_from_slice(&input[..count]);
                *left -= count as u64;
                Ok((count, *left == 0))
            }
            Self::Chunked(chunked) => {
                let decoded = chunked.decode(input, body)?;
                Ok((decoded.consumed, decoded.done))
            }
        }
    }

    /// Has all of it come?
    fn is_within(&self, input: &[u8]) -> bool {
        matches!(self, Self::Length(left) if *left <= input.len() as u64)
    }

    fn is_longer_than(&self, most: u64) -> bool {
        matches!(self, Self::Length(left) if *left > most)
    }
}

/// How far a body in pieces has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyState {
    /// More is to come.
    More,
    /// That was all.
    Done,
    /// It broke a rule or a limit.
    Refused(Refusal),
    /// It came too slowly.
    TimedOut,
    /// The client left before it was complete.
    Cut,
}

/// A body whose handler has started.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) number: u64,
    bytes: Vec<u8>,
    state: BodyState,
    /// The driver is to be told when there is something to take.
    wanted: bool,
    /// The client waits to be asked for it.
    continue_owed: bool,
    /// Nobody takes it any more; so much was dropped.
    abandoned: Option<u64>,
    /// The connection ends with this exchange.
    pub(super) last: bool,
}

/// How long a body takes, against how much of it came.
#[derive(Debug, Default)]
pub(super) struct Pace {
    since: Millis,
    bytes: u64,
    held: Option<Millis>,
}

impl Pace {
    fn start(&mut self, now: Millis) {
        *self = Self { since: now, bytes: 0, held: None };
    }

    /// The time in which the handler did not take anything is not the client's.
    fn go_on(&mut self, now: Millis) {
        if let Some(held) = self.held.take() {
            self.since += now.saturating_sub(held);
        }
    }

    /// When the patience ends, if nothing more comes.
    pub(super) fn due(&self, now: Millis, server: &Server) -> Millis {
        let gap = now.saturating_add(server.timeouts.body);
        let Some(earned) = self.bytes.saturating_mul(1000).checked_div(server.timeouts.body_rate)
        else {
            return gap;
        };
        gap.min(self.since.saturating_add(server.timeouts.body).saturating_add(earned))
    }
}

impl Connection {
    /// The head is there, and a body follows it.
    pub(super) fn start_body<W>(
        &mut self,
        mut request: Box<RequestData>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        let Some(server) = self.settings(shared) else { return self.stop(CloseReason::Stopped) };
        let Some(source) = Source::of(request.head.framing, server.limits.body_bytes) else {
            return self.hand_over(request, io, shared);
        };
        self.pace.start(io.now);
        let asked = request.head.expect_continue && io.input().is_empty();
        super::connection::route(&mut request, server);
        // A hosted application need not wait for one that has come with its head. A route's handler
        // gets what it asked for, whatever the network did.
        let is_here = source.is_within(io.input()) && request.routed == Routed::NotFound;
        self.reading = Reading::Body(source);
        if is_here || !server.streams(&request.routed) {
            if asked {
                write_continue(io.output);
            }
            self.request = Some(request);
            return Outcome::Again;
        }
        self.incoming = Some(Box::new(Incoming {
            number: self.pipeline.next_number(),
            bytes: Vec::new(),
            state: BodyState::More,
            wanted: false,
            continue_owed: asked,
            abandoned: None,
            last: false,
        }));
        request.in_pieces = true;
        self.hand_over(request, io, shared)
    }

    pub(super) fn read_body<W>(
        &mut self,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        match (self.request.take(), self.incoming.take()) {
            (Some(request), _) => self.collect(request, io, shared),
            (None, Some(incoming)) => self.take_in(incoming, io, shared),
            (None, None) => self.stop(CloseReason::Refused),
        }
    }

    /// A body that the handler gets as a whole.
    fn collect<W>(
        &mut self,
        mut request: Box<RequestData>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        let Reading::Body(source) = &mut self.reading else {
            return self.stop(CloseReason::Refused);
        };
        match source.read(io.input(), &mut request.body) {
            Ok((consumed, done)) => {
                io.consume(consumed);
                self.pace.bytes += consumed as u64;
                if done {
                    self.reading = Reading::Head;
                    return self.hand_over(request, io, shared);
                }
            }
            Err(refusal) => {
                shared.pool.give(request);
                return self.refuse(&refusal, io, shared);
            }
        }
        self.request = Some(request);
        if io.ended {
            return self.stop(CloseReason::Finished);
        }
        self.be_patient(io, shared);
        Outcome::Done(Advance::Starved)
    }

    /// A body in pieces: as much as the window holds.
    fn take_in<W>(
        &mut self,
        mut incoming: Box<Incoming>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        let window = self.settings(shared).map_or(0, |server| server.body_window);
        if incoming.abandoned.is_none() && incoming.bytes.len() >= window {
            self.pace.held.get_or_insert(io.now);
            self.incoming = Some(incoming);
            io.set_deadline(None);
            return Outcome::Done(Advance::Held);
        }
        self.pace.go_on(io.now);
        let Reading::Body(source) = &mut self.reading else {
            return self.stop(CloseReason::Refused);
        };
        let (consumed, done) = match source.read(io.input(), &mut incoming.bytes) {
            Ok(read) => read,
            Err(refusal) => {
                self.incoming = Some(incoming);
                self.note_count(Kind::refusal(refusal.kind), shared);
                return self.fail_body(BodyState::Refused(refusal), CloseReason::Refused, io);
            }
        };
        io.consume(consumed);
        self.pace.bytes += consumed as u64;
        if consumed > 0 {
            incoming.continue_owed = false;
        }
        if incoming.abandoned.is_some() {
            return self.discard(incoming, done, io, shared);
        }
        if done {
            incoming.state = BodyState::Done;
            self.reading =
                if incoming.last { Reading::Stopped(CloseReason::Finished) } else { Reading::Head };
        }
        let tell = incoming.wanted && (done || !incoming.bytes.is_empty());
        incoming.wanted &= !tell;
        let number = incoming.number;
        self.incoming = Some(incoming);
        if tell {
            let exchange = Exchange { key: io.key, number };
            return Outcome::Done(Advance::Step(Step::Readable { exchange }));
        }
        self.wait_for_body(done, io, shared)
    }

    fn wait_for_body<W>(
        &mut self,
        done: bool,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        if done {
            return Outcome::Again;
        }
        if io.ended {
            return self.fail_body(BodyState::Cut, CloseReason::Finished, io);
        }
        self.be_patient(io, shared);
        Outcome::Done(Advance::Starved)
    }

    /// Drop what comes: its exchange is over.
    fn discard<W>(
        &mut self,
        mut incoming: Box<Incoming>,
        done: bool,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        let dropped = incoming.abandoned.unwrap_or(0) + incoming.bytes.len() as u64;
        incoming.bytes.clear();
        incoming.abandoned = Some(dropped);
        let draining = self.settings(shared).is_none_or(|server| server.draining);
        if done {
            self.reading = if incoming.last || draining {
                Reading::Stopped(CloseReason::Finished)
            } else {
                Reading::Head
            };
            return Outcome::Again;
        }
        if dropped > MOST_DISCARDED || io.ended {
            return self.stop(CloseReason::Refused);
        }
        self.incoming = Some(incoming);
        self.be_patient(io, shared);
        Outcome::Done(Advance::Starved)
    }

    /// The body ends before its end: whoever reads it learns why, and nothing more is read.
    pub(super) fn fail_body<W>(
        &mut self,
        state: BodyState,
        reason: CloseReason,
        io: &mut Io<'_, Step<W>>,
    ) -> Outcome<W> {
        self.reading = Reading::Stopped(reason);
        if let Some(incoming) = &mut self.incoming
            && incoming.state == BodyState::More
        {
            incoming.state = state;
            if std::mem::take(&mut incoming.wanted) {
                let exchange = Exchange { key: io.key, number: incoming.number };
                io.emit(Step::Readable { exchange });
            }
        }
        Outcome::Again
    }

    /// Move what has come of a body to `out`. `None`: that exchange has no body in pieces.
    pub fn take_body(&mut self, number: u64, out: &mut Vec<u8>) -> Option<BodyState> {
        let incoming = self.incoming.as_mut().filter(|incoming| incoming.number == number)?;
        if out.is_empty() {
            std::mem::swap(out, &mut incoming.bytes);
        } else {
            out.append(&mut incoming.bytes);
        }
        Some(incoming.state)
    }

    /// Tell by [`Step::Readable`] when there is something to take.
    pub fn want_body<W>(&mut self, number: u64, io: &mut Io<'_, Step<W>>, shared: &Shared) {
        let Some(incoming) = self.incoming.as_mut().filter(|incoming| incoming.number == number)
        else {
            return;
        };
        if std::mem::take(&mut incoming.continue_owed) {
            write_continue(io.output);
        }
        if incoming.state == BodyState::More && incoming.bytes.is_empty() {
            incoming.wanted = true;
            self.pace.go_on(io.now);
            self.be_patient(io, shared);
        } else {
            io.emit(Step::Readable { exchange: Exchange { key: io.key, number } });
        }
    }

    /// Must the connection end with this answer, because of a body that nobody will read?
    pub(super) fn body_is_in_the_way(&self, number: u64) -> bool {
        let Some(incoming) = self.incoming.as_ref().filter(|one| one.number == number) else {
            return false;
        };
        let Reading::Body(source) = &self.reading else { return false };
        // Whether a client that was not asked for its body sends it, nobody can tell.
        incoming.continue_owed || source.is_longer_than(MOST_DISCARDED)
    }

    /// The exchange is over: what comes of its body is dropped.
    pub(super) fn abandon_body(&mut self, number: u64) {
        let in_the_way = self.body_is_in_the_way(number);
        let Some(incoming) = self.incoming.as_mut().filter(|one| one.number == number) else {
            return;
        };
        if in_the_way {
            self.reading = Reading::Stopped(CloseReason::Refused);
        } else if incoming.state == BodyState::More {
            incoming.abandoned = Some(0);
            incoming.wanted = false;
            incoming.bytes = Vec::new();
            return;
        }
        self.incoming = None;
    }
}
