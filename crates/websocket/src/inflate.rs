//! Decompressing messages as they come, never beyond their limit (RFC 7692 section 7.2.2).

use flate2::{Decompress, FlushDecompress, Status};

use crate::deflate::TAIL;
use crate::fault::{BAD_DEFLATE, Fault, LARGE_MESSAGE};

const STEP: usize = 4096;

/// Decompresses the messages of one direction of one connection.
#[derive(Debug)]
pub struct Inflater {
    /// Made when the first compressed message comes: it takes memory.
    stream: Option<Decompress>,
    /// Every message was compressed by itself.
    forgets: bool,
}

impl Inflater {
    /// For whatever window the other side may use.
    pub fn new(forgets: bool) -> Self {
        Self { stream: None, forgets }
    }

    /// Append the next piece of a message to `out`, which must not grow by more than `room`.
    pub fn decompress(
        &mut self,
        mut piece: &[u8],
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<(), Fault> {
        let most = out.len().saturating_add(room);
        let stream = self.stream.get_or_insert_with(|| Decompress::new(false));
        loop {
            // One byte more than may come: so what is too much shows.
            let left = (most - out.len()).saturating_add(1);
            out.reserve(left.min(STEP.max(piece.len().saturating_mul(2))));
            let (taken, made) = (stream.total_in(), out.len());
            let outcome = stream.decompress_vec(piece, out, FlushDecompress::Sync);
            let consumed = usize::try_from(stream.total_in() - taken).unwrap_or(usize::MAX);
            piece = &piece[consumed..];
            if out.len() > most {
                out.truncate(most);
                return Err(LARGE_MESSAGE);
            }
            match outcome {
                // A block may say that it is the last one; the message goes on all the same
                // (section 7.2.3.4).
                Ok(Status::StreamEnd) => stream.reset(false),
                Ok(_) if piece.is_empty() && out.len() < out.capacity() => return Ok(()),
                Ok(_) if consumed == 0 && out.len() == made && out.len() < out.capacity() => {
                    return Err(BAD_DEFLATE);
                }
                Ok(_) => {}
                Err(_) => return Err(BAD_DEFLATE),
            }
            if piece.is_empty() && matches!(outcome, Ok(Status::StreamEnd)) {
                return Ok(());
            }
        }
    }

    /// The message is complete.
    pub fn finish(&mut self, out: &mut Vec<u8>, room: usize) -> Result<(), Fault> {
        self.decompress(&TAIL, out, room)?;
        if let Some(stream) = &mut self.stream
            && self.forgets
        {
            stream.reset(false);
        }
        Ok(())
    }
}
