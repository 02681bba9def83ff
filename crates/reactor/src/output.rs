//! What a slot has to send: bytes, files between them, and a cover over both.

use std::collections::VecDeque;

use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::cover::Covering;
use crate::files::{File, Trouble};
use crate::peer::Millis;
use crate::slots::{Slot, Socket};

/// Sealed bytes that are enough to write; the rest stays plain until they have left.
const SEALED: usize = 64 * 1024;
/// A buffer that grew beyond this is given back when it is empty: thousands of connections are idle.
const KEEP_OUTPUT: usize = 4096;
/// Bytes that have left are cut off the front of an output that is never empty.
const CUT: usize = 64 * 1024;

/// Files of the output, and the cover. Most slots have neither.
#[derive(Default)]
pub(crate) struct Extra {
    pub(crate) files: VecDeque<File>,
    /// Bytes of all files that have not left.
    pub(crate) file_bytes: u64,
    pub(crate) covering: Option<Covering>,
}

impl Extra {
    /// Bytes that wait beside the output's own.
    pub(crate) fn queued(&self) -> usize {
        let sealed = self.covering.as_ref().map_or(0, Covering::unsent);
        usize::try_from(self.file_bytes).unwrap_or(usize::MAX).saturating_add(sealed)
    }
}

/// How far the output has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    All,
    /// The rest leaves when the socket takes it.
    Some,
    /// The rest cannot be sealed before the other side has spoken.
    Waiting,
}

impl<P> Slot<P> {
    /// Is there anything to send?
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.written < self.output.len() || self.extra.is_some()
    }

    /// Bytes that have not left.
    #[inline]
    pub(crate) fn queued(&self) -> usize {
        let bytes = self.output.len() - self.written;
        self.extra.as_ref().map_or(bytes, |extra| bytes.saturating_add(extra.queued()))
    }

    /// Forget the output; a cover that broke says what it still has to say.
    pub(crate) fn drop_output(&mut self) {
        self.output.clear();
        self.written = 0;
        if let Some(extra) = &mut self.extra {
            extra.files.clear();
            extra.file_bytes = 0;
        }
    }

    /// Write once, or as often as files and a cover need it.
    #[inline]
    pub(crate) fn send(
        &mut self,
        share: usize,
        writes: &mut u64,
        scratch: &mut Vec<u8>,
    ) -> Result<Sent, Trouble> {
        if self.extra.is_some() {
            return self.send_extra(share, writes, scratch);
        }
        if self.written < self.output.len() {
            self.send_bytes(self.output.len(), SendFlags::NOSIGNAL, writes)?;
        }
        Ok(if self.written < self.output.len() { Sent::Some } else { Sent::All })
    }

    /// Write the output up to `end`, once. False: the socket took less.
    #[inline]
    fn send_bytes(
        &mut self,
        end: usize,
        flags: SendFlags,
        writes: &mut u64,
    ) -> Result<bool, Trouble> {
        *writes += 1;
        let sent = self.socket.send(&self.output[self.written..end], flags);
        let count = taken(sent, &mut self.stalled)?;
        self.written += count;
        Ok(self.written == end)
    }

    #[cold]
    fn send_extra(
        &mut self,
        share: usize,
        writes: &mut u64,
        scratch: &mut Vec<u8>,
    ) -> Result<Sent, Trouble> {
        // Nobody reports that a connection without a socket has room: it gets all it can take.
        let share = if matches!(self.socket, Socket::Memory(_)) { usize::MAX } else { share };
        if self.extra.as_ref().is_some_and(|extra| extra.covering.is_some()) {
            return self.send_sealed(share, writes, scratch);
        }
        let sent = self.send_files(share, writes, scratch)?;
        if sent == Sent::All {
            self.extra = None;
        }
        Ok(sent)
    }

    /// Bytes and files in their order, until this slot has had its share.
    fn send_files(
        &mut self,
        mut share: usize,
        writes: &mut u64,
        scratch: &mut Vec<u8>,
    ) -> Result<Sent, Trouble> {
        while share > 0 {
            let (end, flags) =
                self.next_file().map_or((self.output.len(), SendFlags::NOSIGNAL), |file| {
                    (file.at, SendFlags::NOSIGNAL | SendFlags::MORE)
                });
            if self.written < end {
                share = share.saturating_sub(end - self.written);
                if !self.send_bytes(end, flags, writes)? {
                    return Ok(Sent::Some);
                }
                continue;
            }
            let Self { socket, extra: Some(extra), stalled, .. } = self else {
                return Ok(Sent::All);
            };
            let Some(file) = extra.files.front_mut() else { return Ok(Sent::All) };
            *writes += 1;
            let wanted = usize::try_from(file.left).map_or(share, |left| left.min(share));
            let count = match file.send(socket, wanted, scratch) {
                Err(Trouble::Socket(error)) => taken(Err(error), stalled)?,
                Err(trouble) => return Err(trouble),
                Ok(count) => taken(Ok(count), stalled)?,
            };
            extra.file_bytes -= count as u64;
            if count == 0 {
                return Ok(Sent::Some);
            }
            share -= count;
            if file.left == 0 {
                extra.files.pop_front();
            }
        }
        Ok(Sent::Some)
    }

    fn next_file(&self) -> Option<&File> {
        self.extra.as_ref()?.files.front()
    }

    /// Bytes and files through the cover, until this slot has had its share.
    fn send_sealed(
        &mut self,
        mut share: usize,
        writes: &mut u64,
        scratch: &mut Vec<u8>,
    ) -> Result<Sent, Trouble> {
        loop {
            self.seal(scratch)?;
            let Self { socket, extra: Some(extra), stalled, .. } = self else {
                return Ok(Sent::All);
            };
            let Some(covering) = &mut extra.covering else { return Ok(Sent::All) };
            if covering.unsent() == 0 {
                covering.sealed.clear();
                covering.written = 0;
                covering.sealed.shrink_to(0);
                let waits = self.written < self.output.len() || extra.file_bytes > 0;
                return Ok(if waits { Sent::Waiting } else { Sent::All });
            }
            if share == 0 {
                return Ok(Sent::Some);
            }
            *writes += 1;
            let bytes = &covering.sealed[covering.written..];
            let whole = bytes.len();
            let count = taken(socket.send(bytes, SendFlags::NOSIGNAL), stalled)?;
            covering.written += count;
            share = share.saturating_sub(count);
            if count < whole {
                return Ok(Sent::Some);
            }
            covering.sealed.clear();
            covering.written = 0;
        }
    }

    /// Seal what comes next, until enough is sealed to be written.
    fn seal(&mut self, scratch: &mut Vec<u8>) -> Result<(), Trouble> {
        let Some(extra) = &mut self.extra else { return Ok(()) };
        let Some(covering) = &mut extra.covering else { return Ok(()) };
        while covering.ready && !covering.finished && covering.unsent() < SEALED {
            let end = extra.files.front().map_or(self.output.len(), |file| file.at);
            let sealed = if self.written < end {
                let end = end.min(self.written + SEALED);
                let plain = &self.output[self.written..end];
                self.written = end;
                covering.cover.seal(plain, &mut covering.sealed)
            } else if let Some(file) = extra.files.front_mut() {
                let count = file.read(SEALED, scratch)?;
                extra.file_bytes -= file.went(count) as u64;
                if file.left == 0 {
                    extra.files.pop_front();
                }
                covering.cover.seal(&scratch[..count], &mut covering.sealed)
            } else {
                break;
            };
            sealed.map_err(|_| Trouble::Socket(Errno::PROTO))?;
        }
        if self.closing.is_some() && self.written == self.output.len() && extra.files.is_empty() {
            covering.finish();
        }
        Ok(())
    }

    /// All is out: keep the buffer for the next output, unless it grew too big.
    #[inline]
    pub(crate) fn empty_output(&mut self) {
        self.output.clear();
        self.written = 0;
        if self.output.capacity() > KEEP_OUTPUT {
            self.output.shrink_to(KEEP_OUTPUT);
        }
        self.stalled = Millis::MAX;
    }

    /// Cut off what has left, lest an output that is never empty grows for ever.
    pub(crate) fn cut_output(&mut self) {
        if self.written < CUT || self.written < self.output.len() / 2 {
            return;
        }
        self.output.drain(..self.written);
        for file in self.extra.iter_mut().flat_map(|extra| &mut extra.files) {
            file.at -= self.written;
        }
        self.written = 0;
    }
}

impl Socket {
    #[inline]
    pub(crate) fn send(&self, bytes: &[u8], flags: SendFlags) -> Result<usize, Errno> {
        match self {
            Self::Memory(inside) => inside.send(bytes),
            other => rustix::net::send(other.fd().ok_or(Errno::NOTCONN)?, bytes, flags),
        }
    }
}

/// How much the socket took. The patience with a slow reader starts anew with every byte it
/// takes, and only then: more output is no sign of life.
#[inline]
fn taken(sent: Result<usize, Errno>, stalled: &mut Millis) -> Result<usize, Trouble> {
    match sent {
        Ok(count) => {
            *stalled = Millis::MAX;
            Ok(count)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(Trouble::Socket(error)),
    }
}
