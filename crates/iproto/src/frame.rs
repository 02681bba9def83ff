//! Cutting a stream of bytes into packets.

use crate::error::{ErrorKind, ProtocolError};

/// What stands at the start of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framed {
    /// Not yet a whole packet.
    Partial,
    /// A whole packet: `input[prefix..len]` is what [`Reply::parse`](crate::Reply::parse) reads.
    Complete {
        /// Bytes of the packet, with its length prefix.
        len: usize,
        /// Bytes of the length prefix alone.
        prefix: usize,
    },
}

/// Looks for one whole packet at the start of `input`.
///
/// `max` bounds the packet without its prefix, so that a claimed length is refused before
/// anything is buffered for it.
pub fn frame(input: &[u8], max: usize) -> Result<Framed, ProtocolError> {
    let Some(&marker) = input.first() else { return Ok(Framed::Partial) };
    let width = match marker {
        0xce => 4,
        0x00..=0x7f => 0,
        0xcc => 1,
        0xcd => 2,
        0xcf => 8,
        _ => return Err(fault(ErrorKind::BadLength, "an unsigned length")),
    };
    let prefix = 1 + width;
    let Some(digits) = input.get(1..prefix) else { return Ok(Framed::Partial) };
    let claimed = match width {
        0 => u64::from(marker),
        _ => digits.iter().fold(0, |length, &digit| length << 8 | u64::from(digit)),
    };
    if claimed == 0 {
        return Err(fault(ErrorKind::BadLength, "a length of at least one byte"));
    }
    let length = usize::try_from(claimed).unwrap_or(usize::MAX);
    if length > max {
        return Err(fault(ErrorKind::TooLarge, "a packet within the accepted length"));
    }
    let len = prefix.saturating_add(length);
    if input.len() < len { Ok(Framed::Partial) } else { Ok(Framed::Complete { len, prefix }) }
}

const fn fault(kind: ErrorKind, expected: &'static str) -> ProtocolError {
    ProtocolError::new(kind, expected, 0)
}
