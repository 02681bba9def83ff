//! The peer whose input is being worked on: step by step, until it is starved or held.

use crate::peer::{Advance, Peer};
use crate::slots::Key;
use crate::turn::{RESUME, Reactor};

/// A buffer that grew beyond this for one large message is given back after it.
const KEEP_INPUT: usize = 256 * 1024;
/// What an empty buffer may hold: thousands of connections are idle.
const KEEP_EMPTY: usize = 1024;

/// The peer whose input is being worked on.
pub(crate) struct Current {
    pub(crate) key: Key,
    /// The bytes are in the shared receive buffer, not in the slot's own.
    pub(crate) hot: bool,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) steps_left: u32,
}

impl<P: Peer> Reactor<P> {
    /// Work on `hot` bytes of the shared buffer, or on the slot's own input.
    pub(crate) fn set_current(&mut self, key: Key, hot: Option<usize>) {
        let steps_left = self.budget.steps_per_peer;
        let end = hot.unwrap_or(0);
        self.current = Some(Current { key, hot: hot.is_some(), start: 0, end, steps_left });
    }

    /// One step of the current peer, or the end of its stretch.
    pub(crate) fn advance_current(&mut self) -> Option<(Key, P::Step)> {
        let current = self.current.as_mut()?;
        let key = current.key;
        if current.steps_left == 0 {
            self.leave_current();
            self.queue(key, RESUME);
            return None;
        }
        current.steps_left -= 1;
        let Some(slot) = self.slots.get(key) else {
            self.current = None;
            return None;
        };
        if slot.closing.is_some() || slot.peer.is_none() {
            // Somebody closed it between two steps: what it sent after is not taken any more.
            self.leave_current();
            return None;
        }
        let backlog = slot.queued();
        let shared = &self.shared;
        let over = |peer: &P| backlog > peer.high_water(shared);
        let (advance, consumed) = if slot.peer.as_ref().is_some_and(over) {
            (Advance::Held, 0)
        } else {
            self.call(key, P::advance)?
        };
        if let Some(current) = self.current.as_mut() {
            current.start += consumed;
        }
        match advance {
            Advance::Step(step) => return Some((key, step)),
            Advance::Starved => self.settle(key, false),
            Advance::Settled => {
                self.settle(key, false);
                self.flush_one(key);
            }
            Advance::Held => self.settle(key, true),
            Advance::Cover(cover) => {
                self.leave_current();
                self.put_on(key, cover);
            }
            other => {
                self.leave_current();
                self.obey(key, other);
            }
        }
        None
    }

    /// The current peer can do no more for now.
    fn settle(&mut self, key: Key, held: bool) {
        self.leave_current();
        if let Some(slot) = self.slots.get(key) {
            slot.held = held;
            self.update_interest(key);
        }
    }

    /// Keep what the current peer left of its input.
    fn leave_current(&mut self) {
        let Some(current) = self.current.take() else { return };
        let Some(slot) = self.slots.get(current.key) else { return };
        if current.hot {
            slot.input.extend_from_slice(&self.hot[current.start..current.end]);
        } else {
            slot.input.drain(..current.start);
            if slot.input.is_empty() && slot.input.capacity() > KEEP_EMPTY {
                slot.input = Vec::new();
            } else if slot.input.capacity() > KEEP_INPUT && slot.input.len() < KEEP_INPUT / 4 {
                slot.input.shrink_to(KEEP_INPUT);
            }
        }
    }

    /// The socket under work is gone, and with it its input.
    pub(crate) fn forget_current(&mut self, key: Key) {
        if self.current.as_ref().is_some_and(|current| current.key == key) {
            self.current = None;
        }
    }
}
