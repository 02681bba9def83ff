//! Files as pieces of a streamed answer: passed on to the reactor, which sends them by itself.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use reactor::Io;

use super::connection::Connection;
use super::pipeline::Pushed;
use super::streaming::FULL;
use crate::step::Step;

/// Part of a file.
#[derive(Debug)]
pub struct FilePiece {
    /// It must not become shorter before it has been sent: the connection is cut then.
    pub file: Arc<OwnedFd>,
    /// Where the part begins.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The bytes that come before it.
    pub(super) at: usize,
}

impl FilePiece {
    /// Bytes `offset..offset + length` of a file.
    pub fn new(file: Arc<OwnedFd>, offset: u64, length: u64) -> Self {
        Self { file, offset, length, at: 0 }
    }

    /// So many more bytes come before it.
    pub(super) fn behind(self, start: usize) -> Self {
        Self { at: self.at + start, ..self }
    }
}

impl Connection {
    /// Send part of a file as a piece of a streamed answer.
    pub fn send_file<W>(
        &mut self,
        number: u64,
        piece: FilePiece,
        io: &mut Io<'_, Step<W>>,
    ) -> Pushed {
        self.note_piece(number, piece.length);
        let pushed = self.pipeline.push_file(number, piece, io.output);
        self.pass_files(io);
        if pushed == Pushed::Room && io.queued() > FULL { Pushed::Full } else { pushed }
    }

    /// Files that found their places in the output go to the reactor.
    #[inline]
    pub(super) fn pass_files<W>(&mut self, io: &mut Io<'_, Step<W>>) {
        let Some(due) = self.pipeline.files_due() else { return };
        for piece in due {
            io.send_file_at(piece.at, piece.file, piece.offset, piece.length);
        }
    }
}
