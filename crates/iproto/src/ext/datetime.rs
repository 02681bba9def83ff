//! Points in time: seconds, and where they are not zero, nanoseconds and zone.

use super::fault;
use crate::error::ProtocolError;

/// A point in time and the zone it is meant in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Datetime {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: i64,
    /// Nanoseconds past the second.
    pub nanoseconds: i32,
    /// Minutes east of UTC.
    pub tz_offset: i16,
    /// The server's number of the zone's name; zero if it has none.
    pub tz_index: i16,
}

impl Datetime {
    /// Reads the payload of an extension: 8 or 16 bytes, little-endian.
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let wrong = || fault("8 or 16 bytes of a datetime", 0);
        let (seconds, tail) = payload.split_first_chunk().ok_or_else(wrong)?;
        let seconds = i64::from_le_bytes(*seconds);
        if tail.is_empty() {
            return Ok(Self { seconds, ..Self::default() });
        }
        let &[n0, n1, n2, n3, o0, o1, z0, z1] = tail else { return Err(wrong()) };
        Ok(Self {
            seconds,
            nanoseconds: i32::from_le_bytes([n0, n1, n2, n3]),
            tz_offset: i16::from_le_bytes([o0, o1]),
            tz_index: i16::from_le_bytes([z0, z1]),
        })
    }

    /// Appends the payload of an extension.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.seconds.to_le_bytes());
        if (self.nanoseconds, self.tz_offset, self.tz_index) != (0, 0, 0) {
            out.extend_from_slice(&self.nanoseconds.to_le_bytes());
            out.extend_from_slice(&self.tz_offset.to_le_bytes());
            out.extend_from_slice(&self.tz_index.to_le_bytes());
        }
    }
}
