//! How much one peer and one turn may do before others get their chance.

/// Limits of one turn. What is left over stays queued, and the descriptor stays readable.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Steps one peer may hand out in a row before the next ready peer is served.
    pub steps_per_peer: u32,
    /// Bytes of one read.
    pub read: usize,
    /// Bytes of files, or of sealed output, that one peer may send in a row.
    pub share: usize,
    /// Connections accepted per listener and turn.
    pub accepts: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps_per_peer: 128, read: 64 * 1024, share: 1024 * 1024, accepts: 64 }
    }
}
