//! One turn: what is ready becomes steps, one at a time, and output leaves once per socket.

use std::collections::VecDeque;
use std::time::Instant;

use rustix::event::epoll::EventFlags;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::net::sockopt;

use crate::budget::Budget;
use crate::current::Current;
use crate::peer::{Advance, CloseReason, Fate, Io, Millis, Peer};
use crate::poller::Poller;
use crate::slots::{Key, Slot, Slots, Socket};
use crate::wheel::Wheel;

pub(crate) const READ: u32 = EventFlags::IN.bits();
pub(crate) const WRITE: u32 = EventFlags::OUT.bits();
/// A peer that was held may be able to go on.
pub(crate) const RESUME: u32 = 1 << 24;
const TIMER: u32 = 1 << 25;
/// While so many wait for their turn, no more are asked for: the kernel remembers the others.
const ENOUGH: usize = 256;

/// Counters since the reactor was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Looks at the descriptors.
    pub polls: u64,
    /// System calls that read from a socket.
    pub reads: u64,
    /// System calls that wrote to a socket.
    pub writes: u64,
    /// Connections accepted.
    pub accepts: u64,
    /// Entries in the timer wheel now.
    pub timers: u64,
}

/// All peers of one thread, and the one descriptor that tells when they need a turn.
pub struct Reactor<P: Peer> {
    /// What all peers share.
    pub shared: P::Shared,
    pub(crate) poller: Poller,
    pub(crate) slots: Slots<P>,
    pub(crate) stats: Stats,
    pub(crate) now: Millis,
    pub(crate) dirty: Vec<Key>,
    pub(crate) ready: VecDeque<(Key, u32)>,
    pub(crate) wheel: Wheel,
    pub(crate) budget: Budget,
    steps: VecDeque<(Key, P::Step)>,
    pub(crate) current: Option<Current>,
    pub(crate) hot: Vec<u8>,
    /// Refused clients that are given time to read why.
    pub(crate) lingering: usize,
    /// For what is read only to be sent.
    pub(crate) scratch: Vec<u8>,
    due: Vec<(Millis, Key)>,
    /// Between a look at the descriptors and the end of its turn: the time stands still.
    turning: bool,
    clock: Instant,
}

impl<P: Peer> Reactor<P> {
    /// A reactor without peers.
    pub fn new(shared: P::Shared, budget: Budget) -> Result<Self, Errno> {
        Ok(Self {
            shared,
            poller: Poller::new()?,
            slots: Slots::default(),
            stats: Stats::default(),
            now: 0,
            dirty: Vec::new(),
            ready: VecDeque::new(),
            wheel: Wheel::default(),
            budget,
            steps: VecDeque::new(),
            current: None,
            hot: vec![0; budget.read],
            lingering: 0,
            scratch: Vec::new(),
            due: Vec::new(),
            turning: false,
            clock: Instant::now(),
        })
    }

    /// The descriptor to watch: readable when a turn is due.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }

    /// The time of this turn, in milliseconds since the reactor was made.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// Counters since the start.
    pub fn stats(&self) -> Stats {
        Stats { timers: self.wheel.len() as u64, ..self.stats }
    }

    /// Read the clock, outside a turn as well.
    pub fn update_time(&mut self) -> Millis {
        self.now = u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.now
    }

    /// Look once at all descriptors; tells how much there is to do.
    pub fn poll(&mut self) -> Result<usize, Errno> {
        self.update_time();
        self.turning = true;
        let ready = &mut self.ready;
        if ready.len() < ENOUGH {
            self.stats.polls += 1;
            self.poller.poll(|token, flags| ready.push_back((Key::from_bits(token), flags)))?;
        }
        self.wheel.advance(self.now, &mut self.due);
        for (at, key) in self.due.drain(..) {
            // An entry serves its slot, whoever lives there now: a reused slot needs no new one.
            if let Some((key, slot)) = self.slots.now_at(key)
                && slot.armed == at
            {
                slot.armed = Millis::MAX;
                ready.push_back((key, TIMER));
            }
        }
        Ok(self.ready.len() + self.steps.len() + usize::from(self.current.is_some()))
    }

    /// The next step; `None` when all that is ready is dealt with.
    // `next` is the word of the design for it; an iterator would borrow the reactor.
    #[expect(clippy::should_implement_trait, reason = "an iterator would hold the borrow")]
    pub fn next(&mut self) -> Option<(Key, P::Step)> {
        loop {
            if let Some(step) = self.steps.pop_front() {
                return Some(step);
            }
            if self.current.is_some() {
                if let Some(step) = self.advance_current() {
                    return Some(step);
                }
            } else {
                let (key, flags) = self.ready.pop_front()?;
                self.begin(key, flags);
            }
        }
    }

    /// Write what is queued and set the timer; unfinished work makes the descriptor readable.
    pub fn end_turn(&mut self) {
        self.flush();
        self.turning = false;
        self.update_time();
        self.poller.arm(self.wheel.next_deadline(), self.now);
        if !self.ready.is_empty() || !self.steps.is_empty() || self.current.is_some() {
            self.poller.wake();
        }
    }

    /// Is there work that needs no look at the descriptors?
    pub fn has_work(&self) -> bool {
        !self.steps.is_empty()
            || !self.ready.is_empty()
            || !self.dirty.is_empty()
            || self.current.is_some()
    }

    /// Let a peer act, outside its own `advance`. `None` when it is gone.
    #[inline]
    pub fn with<R>(
        &mut self,
        key: Key,
        act: impl FnOnce(&mut P, &mut Io<'_, P::Step>, &mut P::Shared) -> R,
    ) -> Option<R> {
        let (result, _) = self.call(key, |peer, io, shared| act(peer, io, shared))?;
        if self.slots.get(key).is_some_and(|slot| slot.held) {
            self.queue(key, RESUME);
        }
        Some(result)
    }

    /// Add a peer that has no socket yet.
    pub fn insert(&mut self, peer: P) -> Key {
        self.slots.insert(Socket::None, Some(peer))
    }

    /// All keys in use.
    pub fn keys(&self) -> Vec<Key> {
        self.slots.keys()
    }

    /// All peers.
    pub fn peers(&self) -> impl Iterator<Item = &P> {
        self.slots.peers()
    }

    /// Send what is queued, then close.
    pub fn close(&mut self, key: Key, reason: CloseReason) {
        let Some(slot) = self.slots.get(key) else { return };
        match slot.socket {
            Socket::Stream(_) | Socket::Memory(_) => {
                slot.closing.get_or_insert(reason);
                self.mark_dirty(key);
            }
            _ => self.drop_socket(key, reason),
        }
    }

    /// Close now; what is queued is lost.
    pub fn abort(&mut self, key: Key, reason: CloseReason) {
        self.drop_socket(key, reason);
    }

    /// Close now, so that the other side takes what it got for the torso that it is.
    pub fn reset(&mut self, key: Key, reason: CloseReason) {
        if let Some(fd) = self.slots.get(key).and_then(|slot| slot.socket.fd()) {
            // Not every kind of socket knows it; then the end is an ordinary one.
            let _ = sockopt::set_socket_linger(fd, Some(std::time::Duration::ZERO));
        }
        self.drop_socket(key, reason);
    }

    /// Put a key into the ready queue, once.
    pub(crate) fn queue(&mut self, key: Key, flags: u32) {
        if let Some(slot) = self.slots.get(key)
            && !slot.queued
        {
            slot.queued = true;
            self.ready.push_back((key, flags));
        }
    }

    /// Call into a peer and look after what it changed. Tells how much input it consumed.
    #[inline]
    pub(crate) fn call<R>(
        &mut self,
        key: Key,
        act: impl FnOnce(&mut P, &mut Io<'_, P::Step>, &mut P::Shared) -> R,
    ) -> Option<(R, usize)> {
        if !self.turning {
            // A turn may be long ago: deadlines set now must not start in the past.
            self.update_time();
        }
        let slot = self.slots.get(key)?;
        let input = match &self.current {
            Some(current) if current.key == key && current.hot => {
                &self.hot[current.start..current.end]
            }
            Some(current) if current.key == key => &slot.input[current.start..],
            _ => &slot.input[..],
        };
        let mut io = Io {
            key,
            now: self.now,
            output: &mut slot.output,
            ended: slot.ended,
            input,
            consumed: 0,
            written: slot.written,
            extra: &mut slot.extra,
            deadline: slot.deadline,
            drain: false,
            steps: &mut self.steps,
        };
        let peer = slot.peer.as_mut()?;
        let result = act(peer, &mut io, &mut self.shared);
        let consumed = io.consumed;
        if io.drain {
            slot.drain = true;
            if !slot.dirty {
                slot.dirty = true;
                self.dirty.push(key);
            }
        }
        slot.deadline = io.deadline;
        if slot.deadline < slot.armed && self.wheel.fires_at(slot.deadline) < slot.armed {
            slot.armed = self.wheel.insert(slot.deadline, key);
        }
        if slot.has_output() && !slot.dirty {
            slot.dirty = true;
            self.dirty.push(key);
        }
        Some((result, consumed))
    }

    /// Carry out what a peer answered outside the straight line.
    pub(crate) fn obey(&mut self, key: Key, advance: Advance<P::Step>) {
        match advance {
            Advance::Step(step) => self.steps.push_back((key, step)),
            Advance::Starved | Advance::Settled | Advance::Held => {}
            Advance::Cover(cover) => self.put_on(key, cover),
            Advance::Connect(address) => self.connect(key, &address),
            Advance::Close(reason) => self.close(key, reason),
            Advance::Abort(reason) => self.abort(key, reason),
        }
    }

    /// Start on what one descriptor reported.
    fn begin(&mut self, key: Key, flags: u32) {
        let Some(slot) = self.slots.get(key) else { return };
        slot.queued &= flags & RESUME == 0;
        if flags & TIMER != 0 {
            self.fire(key);
            return;
        }
        match slot.socket {
            Socket::None => {}
            Socket::Listener(..) => self.accept(key),
            Socket::Connecting(_) => self.finish_connect(key),
            Socket::Lingering(_) => self.linger(key),
            Socket::Stream(_) | Socket::Memory(_) => self.begin_stream(key, flags),
        }
    }

    fn begin_stream(&mut self, key: Key, flags: u32) {
        if flags & WRITE != 0 {
            self.mark_dirty(key);
        }
        let Some(slot) = self.slots.get(key) else { return };
        if slot.closing.is_some() {
            self.mark_dirty(key);
        } else if flags & RESUME != 0 {
            self.set_current(key, None);
        } else if slot.queued {
            // It has input enough for another stretch; more is read when that is used up.
        } else if flags & !WRITE != 0 && !slot.held && !slot.ended {
            if slot.is_covered() {
                self.read_covered(key);
                return;
            }
            let hot = slot.input.is_empty();
            if let Some(count) = self.read(key, hot) {
                self.set_current(key, hot.then_some(count));
            }
        } else if flags & (EventFlags::ERR | EventFlags::HUP).bits() != 0 {
            self.drop_socket(key, CloseReason::Network(0));
        }
    }

    /// One read; `None` when there was nothing or the connection broke.
    pub(crate) fn read(&mut self, key: Key, hot: bool) -> Option<usize> {
        let slot = self.slots.get(key)?;
        self.stats.reads += 1;
        match crate::io::receive(slot, &mut self.hot, hot) {
            Ok(0) => {
                slot.ended = true;
                self.update_interest(key);
                Some(0)
            }
            Ok(count) => Some(count),
            Err(Errno::AGAIN | Errno::INTR) => None,
            Err(error) => {
                self.drop_socket(key, CloseReason::Network(error.raw_os_error()));
                None
            }
        }
    }

    /// A deadline came; it may have moved since the wheel was armed.
    fn fire(&mut self, key: Key) {
        let now = self.now;
        let Some(slot) = self.slots.get(key) else { return };
        match slot.socket {
            Socket::Lingering(_) => return self.drop_socket(key, CloseReason::Finished),
            Socket::Listener(..) => return self.resume_listener(key),
            _ => {}
        }
        let Some(peer) = slot.peer.as_ref() else { return };
        let stall = slot.stalled.saturating_add(peer.write_timeout(&self.shared));
        if stall <= now {
            self.drop_socket(key, CloseReason::SlowReader);
        } else if slot.deadline <= now && slot.closing.is_none() {
            slot.deadline = Millis::MAX;
            if let Some((advance, _)) = self.call(key, P::timer) {
                self.obey(key, advance);
            }
        }
        self.rearm(key);
    }

    /// Tell the peer that its socket is gone, and keep or forget it.
    pub(crate) fn part(&mut self, key: Key, reason: CloseReason) -> Fate {
        let fate = self.call(key, |peer, io, shared| peer.closed(reason, io, shared));
        fate.map_or(Fate::Remove, |(fate, _)| fate)
    }

    /// The slot of a key, for the parts of the reactor that move bytes.
    pub(crate) fn slot(&mut self, key: Key) -> Option<&mut Slot<P>> {
        self.slots.get(key)
    }
}

impl<P: Peer> std::fmt::Debug for Reactor<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reactor").field("fd", &self.as_fd().as_fd()).finish_non_exhaustive()
    }
}
