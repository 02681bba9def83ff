//! A piece of a file on its way to a socket, in the kernel where that can be.
//!
//! `sendfile` raises SIGPIPE where `send` can be told not to; Python and Rust's own runtime both
//! ignore that signal from the start.

use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::slots::Socket;

/// Bytes of one read, where the kernel does not send the file by itself.
const READ: usize = 64 * 1024;

/// Part of a file that is to be sent.
pub(crate) struct File {
    fd: Arc<OwnedFd>,
    offset: u64,
    pub(crate) left: u64,
    /// The bytes of the output up to here leave before it.
    pub(crate) at: usize,
    /// The kernel refused to send it.
    reads: bool,
}

/// Why a piece could not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Socket(Errno),
    /// The file cannot be read, or is shorter than it was said to be.
    File,
}

impl File {
    pub(crate) fn new(fd: Arc<OwnedFd>, offset: u64, length: u64, at: usize) -> Self {
        Self { fd, offset, left: length, at, reads: false }
    }

    /// Send up to `most` bytes; tells how many went.
    pub(crate) fn send(
        &mut self,
        socket: &Socket,
        most: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<usize, Trouble> {
        let most = usize::try_from(self.left).map_or(most, |left| left.min(most));
        if let (false, Some(socket)) = (self.reads, socket.fd()) {
            let mut offset = self.offset;
            match rustix::fs::sendfile(socket, &self.fd, Some(&mut offset), most) {
                Ok(0) | Err(Errno::IO) => return Err(Trouble::File),
                Ok(count) => return Ok(self.went(count)),
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::OVERFLOW) => {
                    self.reads = true;
                }
                Err(error) => return Err(Trouble::Socket(error)),
            }
        }
        let count = self.read(most, scratch)?;
        let sent = socket.send(&scratch[..count], SendFlags::NOSIGNAL);
        sent.map(|count| self.went(count)).map_err(Trouble::Socket)
    }

    /// Read the next bytes, up to `most`, into the front of `scratch`; they are not gone yet.
    pub(crate) fn read(&self, most: usize, scratch: &mut Vec<u8>) -> Result<usize, Trouble> {
        scratch.resize(READ, 0);
        let most = usize::try_from(self.left).map_or(most, |left| left.min(most)).min(READ);
        loop {
            match rustix::io::pread(&self.fd, &mut scratch[..most], self.offset) {
                Ok(0) => return Err(Trouble::File),
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Trouble::File),
            }
        }
    }

    /// So many bytes are dealt with.
    pub(crate) fn went(&mut self, count: usize) -> usize {
        self.offset += count as u64;
        self.left -= count as u64;
        count
    }
}
