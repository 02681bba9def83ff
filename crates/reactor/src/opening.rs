//! How sockets come to be: listeners, accepted connections, connections of our own.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt;

use crate::peer::{CloseReason, Millis, Peer};
use crate::slots::{Key, Slot, Socket};
use crate::sockets::{self, Address};
use crate::turn::{READ, Reactor, WRITE};

/// How long a listener rests when the process or the machine has no descriptor left. The waiting
/// connection would keep it ready all the time, and every turn would fail the same way.
const REST: Millis = 100;

impl<P: Peer> Reactor<P> {
    /// Accept connections from a listening, non-blocking socket; `tag` comes with each of them.
    pub fn listen(&mut self, listener: OwnedFd, tag: u32) -> Result<Key, Errno> {
        let key = self.slots.insert(Socket::Listener(listener, tag), None);
        if let Err(error) = self.register(key, READ) {
            self.slots.remove(key);
            return Err(error);
        }
        Ok(key)
    }

    /// Open a socket for a peer that has none; how it went is told to the peer.
    pub fn connect(&mut self, key: Key, address: &Address) {
        let Some(slot) = self.slots.get(key) else { return };
        if !matches!(slot.socket, Socket::None) {
            return;
        }
        match sockets::connect(address) {
            Ok(fd) => {
                slot.socket = Socket::Connecting(fd);
                if let Err(error) = self.register(key, WRITE) {
                    self.drop_socket(key, CloseReason::Network(error.raw_os_error()));
                }
            }
            Err(error) => self.drop_socket(key, CloseReason::Network(error.raw_os_error())),
        }
    }

    pub(crate) fn accept(&mut self, key: Key) {
        for _ in 0..self.budget.accepts {
            let Some(Slot { socket: Socket::Listener(fd, tag), .. }) = self.slots.get(key) else {
                return;
            };
            let (fd, from) = match sockets::accept(fd) {
                Ok(accepted) => accepted,
                Err(Errno::AGAIN) => return,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    self.rest_listener(key);
                    return;
                }
                // The client went away before it was accepted.
                Err(_) => continue,
            };
            let tag = *tag;
            self.stats.accepts += 1;
            if let Some(peer) = P::accepted(tag, &from, &mut self.shared) {
                let key = self.slots.insert(Socket::Stream(fd), Some(peer));
                self.open(key);
            }
        }
    }

    /// Look away from a listener for a while.
    fn rest_listener(&mut self, key: Key) {
        let until = self.now + REST;
        let Some(slot) = self.slots.get(key) else { return };
        if let Socket::Listener(fd, _) = &slot.socket {
            // Should this fail, the next turn tries to accept again.
            let _ = self.poller.modify(fd, key.to_bits(), 0);
            slot.armed = self.wheel.insert(until, key);
        }
    }

    pub(crate) fn resume_listener(&mut self, key: Key) {
        let Some(slot) = self.slots.get(key) else { return };
        if let Socket::Listener(fd, _) = &slot.socket
            && self.poller.modify(fd, key.to_bits(), READ).is_err()
        {
            self.rest_listener(key);
        }
    }

    /// A connecting socket reported: it is open, or it failed.
    pub(crate) fn finish_connect(&mut self, key: Key) {
        let Some(slot) = self.slots.get(key) else { return };
        let Socket::Connecting(fd) = &slot.socket else { return };
        match sockopt::socket_error(fd).and_then(|outcome| outcome) {
            // What was reported was an earlier socket of this peer: this one is not there yet.
            Ok(()) if rustix::net::getpeername(fd).is_err() => {}
            Ok(()) => {
                self.poller.delete(fd);
                if let Socket::Connecting(fd) = std::mem::replace(&mut slot.socket, Socket::None) {
                    slot.socket = Socket::Stream(fd);
                }
                self.open(key);
            }
            Err(error) => self.drop_socket(key, CloseReason::Network(error.raw_os_error())),
        }
    }

    pub(crate) fn open(&mut self, key: Key) {
        if let Err(error) = self.register(key, READ) {
            self.drop_socket(key, CloseReason::Network(error.raw_os_error()));
            return;
        }
        if let Some(advance) = self.with(key, P::opened) {
            self.obey(key, advance);
        }
    }

    /// Put a new socket under the poller's eye.
    pub(crate) fn register(&mut self, key: Key, interest: u32) -> Result<(), Errno> {
        let Some(slot) = self.slots.get(key) else { return Ok(()) };
        let Some(fd) = slot.socket.fd() else { return Ok(()) };
        slot.interest = interest;
        self.poller.add(fd, key.to_bits(), interest)
    }
}
