//! A connection without a socket: both directions are buffers that somebody fills and empties.
//!
//! ```text
//!   Memory::send ──► to_peer ──► Inside::receive ──► the peer
//!   Memory::take ◄── from_peer ◄── Inside::send ◄──┘
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::peer::Peer;
use crate::slots::{Key, Socket};
use crate::sockets::Address;
use crate::turn::{READ, Reactor, WRITE};

/// The far end of a connection without a socket. After each call that changes something
/// [`Reactor::look_at`] has the peer take notice.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Mutex<Pipe>>);

/// The end in the slot; dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Inside(Arc<Mutex<Pipe>>);

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one connection")]
struct Pipe {
    to_peer: Vec<u8>,
    from_peer: Vec<u8>,
    /// How much may wait in `from_peer`, as a kernel's send buffer is bounded.
    room: usize,
    /// The far end sends no more.
    ended: bool,
    /// The far end is gone without a goodbye.
    broken: bool,
    /// The peer has closed.
    closed: bool,
    /// Something came for the far end, or the connection closed, since it was asked.
    news: bool,
}

fn open(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    // Nothing in here can panic half way.
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// Hand bytes to the peer.
    pub fn send(&self, bytes: &[u8]) {
        open(&self.0).to_peer.extend_from_slice(bytes);
    }

    /// Send no more: the peer meets the end of its input.
    pub fn end(&self) {
        open(&self.0).ended = true;
    }

    /// Go without a goodbye: whatever the peer does next fails.
    pub fn reset(&self) {
        open(&self.0).broken = true;
    }

    /// What the peer has written since the last time.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut open(&self.0).from_peer)
    }

    /// Has the peer closed?
    pub fn is_closed(&self) -> bool {
        open(&self.0).closed
    }

    /// Did anything come, or the end, since this was last asked?
    pub fn has_news(&self) -> bool {
        std::mem::take(&mut open(&self.0).news)
    }
}

impl Inside {
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut pipe = open(&self.0);
        if pipe.broken {
            return Err(Errno::CONNRESET);
        }
        let count = pipe.to_peer.len().min(buffer.len());
        if count == 0 && !pipe.ended {
            return Err(Errno::AGAIN);
        }
        buffer[..count].copy_from_slice(&pipe.to_peer[..count]);
        pipe.to_peer.drain(..count);
        Ok(count)
    }

    pub(crate) fn send(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let mut pipe = open(&self.0);
        if pipe.broken {
            return Err(Errno::PIPE);
        }
        let count = bytes.len().min(pipe.room.saturating_sub(pipe.from_peer.len()));
        if count == 0 {
            return Err(Errno::AGAIN);
        }
        pipe.from_peer.extend_from_slice(&bytes[..count]);
        pipe.news = true;
        Ok(count)
    }

    /// Would a read give something now?
    pub(crate) fn is_readable(&self) -> bool {
        let pipe = open(&self.0);
        !pipe.to_peer.is_empty() || pipe.ended || pipe.broken
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut pipe = open(&self.0);
        pipe.closed = true;
        pipe.news = true;
    }
}

impl<P: Peer> Reactor<P> {
    /// Accept a connection that has no socket, as the listener with this tag would; `room` is how
    /// many bytes may wait for the far end. `None`: it was refused.
    pub fn open_memory(&mut self, tag: u32, from: &Address, room: usize) -> Option<(Key, Memory)> {
        let peer = P::accepted(tag, from, &mut self.shared)?;
        let pipe = Arc::new(Mutex::new(Pipe {
            to_peer: Vec::new(),
            from_peer: Vec::new(),
            room,
            ended: false,
            broken: false,
            closed: false,
            news: false,
        }));
        self.stats.accepts += 1;
        let inside = Inside(Arc::clone(&pipe));
        let key = self.slots.insert(Socket::Memory(inside), Some(peer));
        self.open(key);
        if !self.dirty.is_empty() {
            // It has something to say already.
            self.poller.wake();
        }
        Some((key, Memory(pipe)))
    }

    /// The far end of this connection has done something.
    pub fn look_at(&mut self, key: Key) {
        self.ready.push_back((key, READ | WRITE));
        self.poller.wake();
    }
}
