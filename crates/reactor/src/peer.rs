//! What a protocol implements to live on the reactor.

use std::collections::VecDeque;
use std::sync::Arc;

use rustix::fd::OwnedFd;

use crate::cover::Cover;
use crate::files::File;
use crate::output::Extra;
use crate::slots::Key;
use crate::sockets::Address;

/// Milliseconds since the reactor was made.
pub type Millis = u64;

/// One end of a connection: reads its input, writes its output, hands out steps.
pub trait Peer: Sized {
    /// What the peer asks its driver to do.
    type Step;
    /// What all peers of one reactor share: routes, limits, tables.
    type Shared;

    /// A listener accepted a connection; `None` refuses it.
    fn accepted(listener: u32, from: &Address, shared: &mut Self::Shared) -> Option<Self>;

    /// The connection is open. Whoever has nothing to say yet is starved.
    fn opened(
        &mut self,
        io: &mut Io<'_, Self::Step>,
        shared: &mut Self::Shared,
    ) -> Advance<Self::Step>;

    /// The cover that it asked for has agreed with the other side.
    fn covered(&mut self, _: &mut Io<'_, Self::Step>, _: &mut Self::Shared) {}

    /// Take the next thing out of the input. Called again until it is starved or held.
    fn advance(
        &mut self,
        io: &mut Io<'_, Self::Step>,
        shared: &mut Self::Shared,
    ) -> Advance<Self::Step>;

    /// The deadline set through [`Io::set_deadline`] has passed.
    fn timer(
        &mut self,
        io: &mut Io<'_, Self::Step>,
        shared: &mut Self::Shared,
    ) -> Advance<Self::Step>;

    /// The socket is gone. Steps may be emitted; `Fate::Keep` keeps the peer without a socket.
    fn closed(
        &mut self,
        reason: CloseReason,
        io: &mut Io<'_, Self::Step>,
        shared: &mut Self::Shared,
    ) -> Fate;

    /// All output has left, as [`Io::tell_when_drained`] asked to be told. Steps may be emitted.
    fn drained(&mut self, _io: &mut Io<'_, Self::Step>, _shared: &mut Self::Shared) {}

    /// How long unsent output may wait for a slow reader.
    fn write_timeout(&self, shared: &Self::Shared) -> Millis;

    /// Above how many unsent bytes the peer is not read.
    fn high_water(&self, shared: &Self::Shared) -> usize;
}

/// What came of one call of [`Peer::advance`].
pub enum Advance<S> {
    /// Hand this to the driver, then go on.
    Step(S),
    /// Nothing more can be done until bytes arrive; the output leaves at the end of the turn.
    Starved,
    /// As `Starved`, and nothing is owed any more: the output leaves at once.
    Settled,
    /// Input waits, but may not be taken now; try again after the next answer or write.
    Held,
    /// Put this between the peer and its socket: the rest of the input goes through it.
    Cover(Box<dyn Cover>),
    /// Open a socket for this peer, which has none.
    Connect(Address),
    /// Send what is queued, then close.
    Close(CloseReason),
    /// Close now; what is queued is lost.
    Abort(CloseReason),
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The other side closed or asked for it, or all is said.
    Finished,
    /// The other side broke the protocol; it has been told.
    Refused,
    /// A deadline passed.
    TimedOut,
    /// The other side does not read.
    SlowReader,
    /// The network failed: an errno, or 0 for an unexpected end.
    Network(i32),
    /// A file that was being sent cannot be read, or has become too short.
    Unreadable,
    /// This side stops.
    Stopped,
}

/// What becomes of a peer whose socket is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Forget it.
    Remove,
    /// Keep it: it will ask for a new socket.
    Keep,
}

/// A peer's view of its own socket during one call.
pub struct Io<'a, S> {
    /// The peer's own key.
    pub key: Key,
    /// The time of this turn, or of this call outside a turn.
    pub now: Millis,
    /// Bytes for the socket; they leave once, at the end of the turn.
    pub output: &'a mut Vec<u8>,
    /// The other side has ended its half of the connection.
    pub ended: bool,
    pub(crate) input: &'a [u8],
    pub(crate) consumed: usize,
    pub(crate) written: usize,
    pub(crate) extra: &'a mut Option<Box<Extra>>,
    pub(crate) deadline: Millis,
    pub(crate) drain: bool,
    pub(crate) steps: &'a mut VecDeque<(Key, S)>,
}

impl<'a, S> Io<'a, S> {
    /// Bytes that have arrived and are not consumed yet.
    #[inline]
    pub fn input(&self) -> &'a [u8] {
        &self.input[self.consumed..]
    }

    /// The first `count` bytes of the input are dealt with.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.consumed += count;
        debug_assert!(self.consumed <= self.input.len(), "consumed more than there is");
    }

    /// Output that has not left yet, in bytes.
    #[inline]
    pub fn queued(&self) -> usize {
        let bytes = self.output.len() - self.written;
        self.extra.as_ref().map_or(bytes, |extra| bytes.saturating_add(extra.queued()))
    }

    /// Send `length` bytes of a file from `offset` on, after what is in the output now and before
    /// what comes later. It must not become shorter meanwhile: the connection is cut then.
    pub fn send_file(&mut self, file: Arc<OwnedFd>, offset: u64, length: u64) {
        self.send_file_at(self.output.len(), file, offset, length);
    }

    /// The same, with the place in the output where it comes: none before that of an earlier file.
    pub fn send_file_at(&mut self, at: usize, file: Arc<OwnedFd>, offset: u64, length: u64) {
        debug_assert!(at <= self.output.len(), "a file behind the end");
        if length > 0 {
            let extra = self.extra.get_or_insert_default();
            debug_assert!(extra.files.back().is_none_or(|last| last.at <= at), "files in disorder");
            extra.files.push_back(File::new(file, offset, length, at));
            extra.file_bytes = extra.file_bytes.saturating_add(length);
        }
    }

    /// When [`Peer::timer`] is to be called; `None` for never.
    #[inline]
    pub fn set_deadline(&mut self, deadline: Option<Millis>) {
        self.deadline = deadline.unwrap_or(Millis::MAX);
    }

    /// Have [`Peer::drained`] called, once, when the output has left.
    pub fn tell_when_drained(&mut self) {
        self.drain = true;
    }

    /// Hand out a step from a call that returns none.
    pub fn emit(&mut self, step: S) {
        self.steps.push_back((self.key, step));
    }
}
