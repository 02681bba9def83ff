//! The system calls on one connection, with their outcomes as data.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
    sockopt,
};

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// So many bytes.
    Bytes(usize),
    /// Nothing now.
    Blocked,
    /// The peer will send no more.
    Closed,
    /// The connection is broken.
    Broken,
}

/// The connection cannot be written to any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// Starts to connect without blocking, with `TCP_NODELAY`, watched by `epoll` edge-triggered.
///
/// Interest is registered once and for all; after this no `epoll_ctl` is ever needed.
pub fn open(address: &SocketAddr, epoll: &OwnedFd, token: u64) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    match connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    epoll::add(epoll, &socket, EventData::new_u64(token), interest)?;
    Ok(socket)
}

/// Whether a connection attempt that became ready has succeeded.
pub fn is_connected(socket: impl AsFd) -> bool {
    matches!(sockopt::socket_error(socket), Ok(Ok(())))
}

/// One read.
#[inline]
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> Received {
    loop {
        return match recv(&socket, &mut *buffer, RecvFlags::empty()) {
            Ok((_, 0)) => Received::Closed,
            Ok((_, len)) => Received::Bytes(len),
            Err(Errno::AGAIN) => Received::Blocked,
            Err(Errno::INTR) => continue,
            Err(_) => Received::Broken,
        };
    }
}

/// One write; `Ok` is how many bytes the system took, `Err` a broken connection.
#[inline]
pub fn transmit(socket: impl AsFd, bytes: &[u8]) -> Result<usize, Broken> {
    loop {
        return match send(&socket, bytes, SendFlags::NOSIGNAL) {
            Ok(len) => Ok(len),
            Err(Errno::AGAIN) => Ok(0),
            Err(Errno::INTR) => continue,
            Err(_) => Err(Broken),
        };
    }
}
