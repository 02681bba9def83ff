//! The slab of peers: an index that is reused, with a generation that is not.

use rustix::fd::OwnedFd;

use crate::memory::Inside;
use crate::output::Extra;
use crate::peer::{CloseReason, Millis};

/// Names one peer for as long as it lives; a later peer in the same place has another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl Key {
    /// The key as one number, for tokens and logs.
    #[inline]
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The inverse of [`Key::to_bits`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
    pub fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// What a slot's descriptor is for.
pub(crate) enum Socket {
    /// A peer that waits to reconnect.
    None,
    Listener(OwnedFd, u32),
    Connecting(OwnedFd),
    Stream(OwnedFd),
    /// A stream within the process.
    Memory(Inside),
    /// The last bytes are out; input is dropped until the other side closes too.
    Lingering(OwnedFd),
}

impl Socket {
    pub(crate) fn fd(&self) -> Option<&OwnedFd> {
        match self {
            Self::None | Self::Memory(_) => None,
            Self::Listener(fd, _)
            | Self::Connecting(fd)
            | Self::Stream(fd)
            | Self::Lingering(fd) => Some(fd),
        }
    }
}

/// One peer and what the reactor knows of its socket.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one socket")]
pub(crate) struct Slot<P> {
    pub(crate) generation: u32,
    pub(crate) socket: Socket,
    pub(crate) peer: Option<P>,
    /// What arrived and could not be consumed yet.
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    /// How much of `output` has left.
    pub(crate) written: usize,
    /// Files to send, and a cover.
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) deadline: Millis,
    /// Since when the socket takes no more output.
    pub(crate) stalled: Millis,
    /// When the wheel will look at this slot: what it brings at any other time is out of date.
    pub(crate) armed: Millis,
    /// Epoll flags registered now.
    pub(crate) interest: u32,
    pub(crate) held: bool,
    pub(crate) ended: bool,
    pub(crate) dirty: bool,
    pub(crate) queued: bool,
    /// The peer wants to know when its output has left.
    pub(crate) drain: bool,
    pub(crate) closing: Option<CloseReason>,
}

impl<P> Slot<P> {
    fn vacant() -> Self {
        Self {
            generation: 1,
            socket: Socket::None,
            peer: None,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            extra: None,
            deadline: Millis::MAX,
            stalled: Millis::MAX,
            armed: Millis::MAX,
            interest: 0,
            held: false,
            ended: false,
            dirty: false,
            queued: false,
            drain: false,
            closing: None,
        }
    }

    /// Forget everything about the last socket, keeping the peer and its timer.
    pub(crate) fn reset_socket(&mut self) {
        self.socket = Socket::None;
        self.input.clear();
        self.output.clear();
        self.written = 0;
        self.extra = None;
        self.stalled = Millis::MAX;
        self.interest = 0;
        self.held = false;
        self.ended = false;
        self.drain = false;
        self.closing = None;
    }
}

/// All slots, with a list of the free ones.
pub(crate) struct Slots<P> {
    slots: Vec<Slot<P>>,
    free: Vec<u32>,
}

impl<P> Default for Slots<P> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<P> Slots<P> {
    pub(crate) fn insert(&mut self, socket: Socket, peer: Option<P>) -> Key {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::vacant());
            u32::try_from(self.slots.len() - 1).expect("fewer than four billion peers")
        });
        let slot = &mut self.slots[index as usize];
        slot.socket = socket;
        slot.peer = peer;
        Key { index, generation: slot.generation }
    }

    #[inline]
    pub(crate) fn get(&mut self, key: Key) -> Option<&mut Slot<P>> {
        self.slots.get_mut(key.index as usize).filter(|slot| slot.generation == key.generation)
    }

    /// The slot that `key` once named, with the key of today.
    pub(crate) fn now_at(&mut self, key: Key) -> Option<(Key, &mut Slot<P>)> {
        let slot = self.slots.get_mut(key.index as usize)?;
        Some((Key { index: key.index, generation: slot.generation }, slot))
    }

    /// Empty the slot; its key is stale from now on. What the wheel holds for it stays.
    pub(crate) fn remove(&mut self, key: Key) {
        if let Some(slot) = self.get(key) {
            slot.reset_socket();
            slot.peer = None;
            slot.generation = slot.generation.wrapping_add(1).max(1);
            slot.deadline = Millis::MAX;
            slot.dirty = false;
            slot.queued = false;
            // A big buffer is given back; a small one serves the next peer.
            slot.input.shrink_to(4096);
            slot.output.shrink_to(4096);
            self.free.push(key.index);
        }
    }

    pub(crate) fn keys(&self) -> Vec<Key> {
        let in_use = |slot: &Slot<P>| slot.socket.fd().is_some() || slot.peer.is_some();
        self.slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| in_use(slot))
            .map(|(index, slot)| Key {
                index: u32::try_from(index).expect("fewer than four billion peers"),
                generation: slot.generation,
            })
            .collect()
    }

    /// Every peer in place.
    pub(crate) fn peers(&self) -> impl Iterator<Item = &P> {
        self.slots.iter().filter_map(|slot| slot.peer.as_ref())
    }
}
