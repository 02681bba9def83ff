//! Compressing messages (RFC 7692 section 7.2.1).

use flate2::{Compress, Compression, FlushCompress, Status};

/// What every flushed block ends with; it does not travel.
pub const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
const STEP: usize = 4096;
/// A result larger than this is not kept for the next message.
const KEEP: usize = 64 * 1024;

/// Compresses the messages of one direction of one connection.
#[derive(Debug)]
pub struct Deflater {
    stream: Compress,
    /// Every message is compressed by itself.
    forgets: bool,
    compressed: Vec<u8>,
}

impl Deflater {
    /// With a window of `2 ^ bits` bytes, 9 to 15; `level` as zlib counts, 0 to 9.
    ///
    /// # Panics
    /// With a window or level that zlib does not know.
    pub fn new(bits: u8, level: u32, forgets: bool) -> Self {
        assert!((9..=15).contains(&bits) && level <= 9, "no such window or level");
        let stream = Compress::new_with_window_bits(Compression::new(level), false, bits);
        Self { stream, forgets, compressed: Vec::new() }
    }

    /// One message, compressed.
    ///
    /// # Panics
    /// When there is no memory left.
    pub fn compress(&mut self, message: &[u8]) -> &[u8] {
        self.compressed.clear();
        self.compressed.shrink_to(KEEP);
        let before = self.stream.total_in();
        loop {
            self.compressed.reserve(STEP.max(message.len() / 4));
            let done = usize::try_from(self.stream.total_in() - before).unwrap_or(usize::MAX);
            let outcome = self.stream.compress_vec(
                &message[done..],
                &mut self.compressed,
                FlushCompress::Sync,
            );
            let all = self.stream.total_in() - before == message.len() as u64;
            match outcome {
                Ok(Status::BufError) if all => break,
                Ok(_) if all && self.compressed.len() < self.compressed.capacity() => break,
                Ok(_) => {}
                Err(error) => panic!("deflate of sound input fails only without memory: {error}"),
            }
        }
        if self.compressed.ends_with(&TAIL) {
            self.compressed.truncate(self.compressed.len() - TAIL.len());
        }
        if self.compressed.is_empty() {
            // An empty message after an empty message leaves nothing to flush (section 7.2.3.6).
            self.compressed.push(0);
        }
        if self.forgets {
            self.stream.reset();
        }
        &self.compressed
    }
}
