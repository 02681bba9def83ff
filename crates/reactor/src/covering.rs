//! A slot whose bytes go through a cover: put it on, and open what arrives.

use crate::cover::{Cover, Covering};
use crate::peer::{CloseReason, Peer};
use crate::slots::{Key, Slot};
use crate::turn::{RESUME, Reactor};

impl<P> Slot<P> {
    #[inline]
    pub(crate) fn is_covered(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.covering.is_some())
    }
}

/// Where the bytes are that a cover is to open.
enum Received {
    /// So many in the shared buffer.
    Hot(usize),
    Kept(Vec<u8>),
}

impl<P: Peer> Reactor<P> {
    /// Put a cover between a peer and its socket; what has arrived already goes through it. Files
    /// cannot be on their way then.
    pub(crate) fn put_on(&mut self, key: Key, cover: Box<dyn Cover>) {
        let Some(slot) = self.slots.get(key) else { return };
        let received = std::mem::take(&mut slot.input);
        // What was said before leaves as it is.
        let said = slot.output.split_off(slot.written);
        slot.drop_output();
        slot.extra.get_or_insert_default().covering = Some(Covering::new(cover, said));
        self.open_received(key, &Received::Kept(received));
    }

    /// One read, through the cover.
    pub(crate) fn read_covered(&mut self, key: Key) {
        if let Some(count) = self.read(key, true) {
            self.open_received(key, &Received::Hot(count));
        }
    }

    /// Open what the socket brought: plain bytes are the peer's input.
    fn open_received(&mut self, key: Key, received: &Received) {
        let received = match received {
            Received::Hot(count) => &self.hot[..*count],
            Received::Kept(bytes) => bytes,
        };
        let Some(slot) = self.slots.get(key) else { return };
        let Slot { extra: Some(extra), input, .. } = slot else { return };
        let Some(covering) = &mut extra.covering else { return };
        let opened = covering.cover.open(received, input, &mut covering.sealed);
        let ready = opened.is_ok_and(|opened| opened.ready) && !covering.ready;
        if let Ok(opened) = opened {
            covering.ready |= ready;
            slot.ended |= opened.ended;
        } else {
            covering.finished = true;
            slot.drop_output();
            slot.closing.get_or_insert(CloseReason::Refused);
        }
        let goes_on = !slot.input.is_empty() || slot.ended;
        self.mark_dirty(key);
        if ready {
            self.with(key, P::covered);
        }
        self.update_interest(key);
        if !goes_on {
            return;
        }
        if self.current.is_none() {
            self.set_current(key, None);
        } else {
            self.queue(key, RESUME);
        }
    }
}
