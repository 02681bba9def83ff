//! Bytes in and out of one socket: receive, flush, close, linger.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};

use crate::files::Trouble;
use crate::output::Sent;
use crate::peer::{CloseReason, Fate, Millis, Peer};
use crate::slots::{Key, Slot, Socket};
use crate::turn::{READ, RESUME, Reactor, WRITE};

/// How long a refused client may take to read why.
const LINGER: Millis = 1000;
/// So many may take that time at once; others have to be quick.
const MOST_LINGERING: usize = 256;

/// Read once into the shared buffer; what comes behind bytes the slot holds already is put there.
///
/// Never straight into the slot: thousands of clients that each sent half a head would each hold
/// a buffer of a whole read.
pub(crate) fn receive<P>(slot: &mut Slot<P>, shared: &mut [u8], hot: bool) -> Result<usize, Errno> {
    let count = match &slot.socket {
        Socket::Memory(inside) => inside.receive(shared)?,
        other => {
            let fd = other.fd().ok_or(Errno::NOTCONN)?;
            rustix::net::recv(fd, &mut *shared, RecvFlags::empty())?.0
        }
    };
    if !hot {
        slot.input.extend_from_slice(&shared[..count]);
    }
    Ok(count)
}

impl<P: Peer> Reactor<P> {
    /// Write the output of every peer that has some.
    pub(crate) fn flush(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for key in dirty.drain(..) {
            self.flush_one(key);
        }
        // Peers that became dirty meanwhile wait for the next turn; keep the allocation.
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
        if !self.dirty.is_empty() {
            self.poller.wake();
        }
    }

    pub(crate) fn mark_dirty(&mut self, key: Key) {
        if let Some(slot) = self.slot(key)
            && !slot.dirty
        {
            slot.dirty = true;
            self.dirty.push(key);
        }
    }

    /// Write what there is to write; close if that was the last of it.
    pub(crate) fn flush_one(&mut self, key: Key) {
        let now = self.now;
        let Some(slot) = self.slots.get(key) else { return };
        slot.dirty = false;
        if !matches!(slot.socket, Socket::Stream(_) | Socket::Memory(_)) {
            return;
        }
        match slot.send(self.budget.share, &mut self.stats.writes, &mut self.scratch) {
            Ok(Sent::All) => slot.empty_output(),
            Ok(Sent::Some) => {
                slot.cut_output();
                slot.stalled = slot.stalled.min(now);
                self.update_interest(key);
                self.rearm(key);
                return;
            }
            Ok(Sent::Waiting) if slot.closing.is_none() => {
                slot.stalled = Millis::MAX;
                self.update_interest(key);
                return;
            }
            Ok(Sent::Waiting) => {}
            Err(trouble) => {
                self.drop_socket(key, trouble.reason());
                return;
            }
        }
        let held = slot.held;
        if std::mem::take(&mut slot.drain) {
            self.call(key, P::drained);
        }
        let Some(slot) = self.slots.get(key) else { return };
        if let Some(reason) = slot.closing {
            self.finish_close(key, reason);
        } else {
            self.update_interest(key);
            if held {
                self.queue(key, RESUME);
            }
        }
    }

    /// Watch for what the peer can use now.
    pub(crate) fn update_interest(&mut self, key: Key) {
        let Some(slot) = self.slots.get(key) else { return };
        let reads = !slot.held && !slot.ended && slot.closing.is_none();
        let fd = match &slot.socket {
            Socket::Stream(fd) => fd,
            Socket::Memory(inside) if reads && inside.is_readable() => {
                self.ready.push_back((key, READ));
                return;
            }
            _ => return,
        };
        let writes = slot.stalled != Millis::MAX;
        let interest = if reads { READ } else { 0 } | if writes { WRITE } else { 0 };
        if interest != slot.interest {
            slot.interest = interest;
            if let Err(error) = self.poller.modify(fd, key.to_bits(), interest) {
                self.drop_socket(key, CloseReason::Network(error.raw_os_error()));
            }
        }
    }

    /// Have the wheel look at this slot when its next deadline comes.
    pub(crate) fn rearm(&mut self, key: Key) {
        let Some(slot) = self.slots.get(key) else { return };
        let Some(peer) = slot.peer.as_ref() else { return };
        let stall = slot.stalled.saturating_add(peer.write_timeout(&self.shared));
        let due = slot.deadline.min(stall);
        if due < slot.armed && self.wheel.fires_at(due) < slot.armed {
            slot.armed = self.wheel.insert(due, key);
        }
    }

    /// The output is out. A client that may still be sending gets time to read it: closing at
    /// once would reset the connection and could destroy the last answer.
    fn finish_close(&mut self, key: Key, reason: CloseReason) {
        let Some(slot) = self.slots.get(key) else { return };
        let unread =
            reason == CloseReason::Refused || !slot.input.is_empty() || has_more(&slot.socket);
        let at_once = slot.ended || self.lingering >= MOST_LINGERING;
        if !unread || at_once || matches!(slot.socket, Socket::Memory(_)) {
            self.drop_socket(key, reason);
            return;
        }
        if self.part(key, reason) == Fate::Keep {
            self.release(key);
            self.rearm(key);
            return;
        }
        let linger_until = self.now + LINGER;
        let Some(slot) = self.slots.get(key) else { return };
        slot.peer = None;
        slot.input = Vec::new();
        if let Socket::Stream(fd) = std::mem::replace(&mut slot.socket, Socket::None) {
            // A failure means that the connection is gone, which the next read tells.
            let _ = rustix::net::shutdown(&fd, Shutdown::Write);
            let _ = self.poller.modify(&fd, key.to_bits(), READ);
            slot.socket = Socket::Lingering(fd);
            self.lingering += 1;
            slot.armed = self.wheel.insert(linger_until, key);
        }
    }

    /// Drop what a refused client still sends, until it closes.
    pub(crate) fn linger(&mut self, key: Key) {
        let mut scrap = [0_u8; 4096];
        let Some(Slot { socket: Socket::Lingering(fd), .. }) = self.slots.get(key) else { return };
        match rustix::net::recv(fd, &mut scrap, RecvFlags::empty()) {
            Ok((count, _)) if count > 0 => {}
            Err(Errno::AGAIN | Errno::INTR) => {}
            _ => self.drop_socket(key, CloseReason::Finished),
        }
    }

    /// Close the descriptor now and let the peer know.
    pub(crate) fn drop_socket(&mut self, key: Key, reason: CloseReason) {
        self.release(key);
        if self.part(key, reason) == Fate::Remove {
            self.slots.remove(key);
        } else {
            // What the peer may have written while it was told has nowhere to go.
            self.release(key);
            self.rearm(key);
        }
    }

    /// Close the descriptor and forget what was on its way.
    fn release(&mut self, key: Key) {
        self.forget_current(key);
        let Some(slot) = self.slots.get(key) else { return };
        self.lingering -= usize::from(matches!(slot.socket, Socket::Lingering(_)));
        if let Some(fd) = into_fd(std::mem::replace(&mut slot.socket, Socket::None)) {
            self.poller.delete(&fd);
        }
        slot.reset_socket();
    }
}

impl Trouble {
    fn reason(self) -> CloseReason {
        match self {
            Self::Socket(error) => CloseReason::Network(error.raw_os_error()),
            Self::File => CloseReason::Unreadable,
        }
    }
}

/// Has something arrived that nobody has read?
fn has_more(socket: &Socket) -> bool {
    socket.fd().is_some_and(|fd| rustix::io::ioctl_fionread(fd).is_ok_and(|count| count > 0))
}

fn into_fd(socket: Socket) -> Option<OwnedFd> {
    match socket {
        Socket::None | Socket::Memory(_) => None,
        Socket::Listener(fd, _)
        | Socket::Connecting(fd)
        | Socket::Stream(fd)
        | Socket::Lingering(fd) => Some(fd),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Address, Advance, Budget, CloseReason, Fate, Io, Millis, Peer, Reactor};

    /// Has nothing to say.
    struct Mute;

    impl Peer for Mute {
        type Step = ();
        type Shared = ();

        fn accepted(_: u32, _: &Address, (): &mut ()) -> Option<Self> {
            Some(Self)
        }

        fn opened(&mut self, _: &mut Io<'_, ()>, (): &mut ()) -> Advance<()> {
            Advance::Starved
        }

        fn advance(&mut self, _: &mut Io<'_, ()>, (): &mut ()) -> Advance<()> {
            Advance::Starved
        }

        fn timer(&mut self, _: &mut Io<'_, ()>, (): &mut ()) -> Advance<()> {
            Advance::Starved
        }

        fn closed(&mut self, _: CloseReason, _: &mut Io<'_, ()>, (): &mut ()) -> Fate {
            Fate::Remove
        }

        fn write_timeout(&self, (): &()) -> Millis {
            Millis::MAX
        }

        fn high_water(&self, (): &()) -> usize {
            usize::MAX
        }
    }

    #[test]
    fn entries_that_are_out_of_date_vanish_from_the_wheel() {
        let mut reactor = Reactor::<Mute>::new((), Budget::default()).expect("descriptors");
        let key = reactor.insert(Mute);
        // Nearer and nearer deadlines leave an entry each, and then the last one moves away.
        for wait in (1..10).rev() {
            reactor.with(key, |_, io, ()| io.set_deadline(Some(io.now + wait * 16)));
        }
        reactor.with(key, |_, io, ()| io.set_deadline(Some(io.now + 60_000)));
        assert!(reactor.wheel.len() > 1);
        let end = reactor.update_time() + 200;
        while reactor.update_time() < end {
            reactor.poll().expect("poll");
            assert!(reactor.next().is_none());
            reactor.end_turn();
        }
        assert_eq!(1, reactor.wheel.len());
    }

    #[test]
    fn what_was_reported_of_an_earlier_socket_does_not_open_a_new_one() {
        use crate::slots::Socket;
        use crate::turn::RESUME;
        use rustix::net::{self, AddressFamily, SocketType};

        let listener = net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("socket");
        let any = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
        net::bind(&listener, &any).expect("a free port");
        // Nobody accepts, and there is room for one or two: the others stay on their way.
        net::listen(&listener, 0).expect("a listener");
        let bound = net::getsockname(&listener).expect("bound");
        let address = Address::Tcp(bound.try_into().expect("an address of the internet"));
        let mut reactor = Reactor::<Mute>::new((), Budget::default()).expect("descriptors");
        let keys: Vec<_> = (0..8).map(|_| reactor.insert(Mute)).collect();
        for key in &keys {
            reactor.connect(*key, &address);
        }
        for key in keys.iter().chain(&keys) {
            reactor.queue(*key, RESUME);
        }
        reactor.poll().expect("poll");
        assert!(reactor.next().is_none());
        let last = reactor.slot(keys[7]).expect("it is there");
        assert!(matches!(last.socket, Socket::Connecting(_)));
    }
}
