//! The head of a frame (RFC 6455 section 5.2): everything before its payload.

use crate::fault::{
    FRAGMENTED_CONTROL, Fault, LARGE_CONTROL, LARGE_LENGTH, LONG_LENGTH, MASKED, RESERVED_BITS,
    RESERVED_OPCODE, UNMASKED,
};

/// The most bytes of a head.
pub const MOST: usize = 14;
/// The most bytes of a control frame's payload.
pub const CONTROL_BYTES: usize = 125;

/// Which end of a connection reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It wants masked frames.
    Server,
    /// It wants frames that are not masked.
    Client,
}

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Opcode {
    /// More of a message.
    Continuation = 0,
    /// A text message, or its first part.
    Text = 1,
    /// A binary message, or its first part.
    Binary = 2,
    /// The end of the connection.
    Close = 8,
    /// To be answered by a pong.
    Ping = 9,
    /// The answer to a ping.
    Pong = 10,
}

impl Opcode {
    #[inline]
    fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Close, ping or pong.
    #[inline]
    pub fn is_control(self) -> bool {
        self as u8 & 8 != 0
    }
}

/// What the head of a frame says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    pub fin: bool,
    /// The first reserved bit: with permessage-deflate, the message is compressed.
    pub compressed: bool,
    pub opcode: Opcode,
    pub length: u64,
    pub key: [u8; 4],
}

impl Header {
    /// Read a head from the start of `input`; with its length, or `None` if it is cut off. What
    /// can be refused is refused at the first byte that shows it.
    #[inline]
    pub fn parse(input: &[u8], role: Role, deflate: bool) -> Result<Option<(Self, usize)>, Fault> {
        let Some(&first) = input.first() else { return Ok(None) };
        let reserved = if deflate { 0x30 } else { 0x70 };
        if first & reserved != 0 {
            return Err(RESERVED_BITS);
        }
        let opcode = Opcode::from_bits(first & 0x0f).ok_or(RESERVED_OPCODE)?;
        let (fin, compressed) = (first & 0x80 != 0, first & 0x40 != 0);
        if opcode.is_control() && !fin {
            return Err(FRAGMENTED_CONTROL);
        }
        if compressed && (opcode.is_control() || opcode == Opcode::Continuation) {
            return Err(RESERVED_BITS);
        }
        let Some(&second) = input.get(1) else { return Ok(None) };
        match (role, second & 0x80 != 0) {
            (Role::Server, false) => return Err(UNMASKED),
            (Role::Client, true) => return Err(MASKED),
            _ => {}
        }
        let short = second & 0x7f;
        if opcode.is_control() && usize::from(short) > CONTROL_BYTES {
            return Err(LARGE_CONTROL);
        }
        let Some((length, at)) = length(input, short)? else { return Ok(None) };
        if role == Role::Client {
            return Ok(Some((Self { fin, compressed, opcode, length, key: [0; 4] }, at)));
        }
        let Some(&key) = input[at..].first_chunk() else { return Ok(None) };
        Ok(Some((Self { fin, compressed, opcode, length, key }, at + 4)))
    }
}

/// The length of the payload, and where the head goes on.
#[inline]
fn length(input: &[u8], short: u8) -> Result<Option<(u64, usize)>, Fault> {
    match short {
        126 => {
            let Some(bytes) = input[2..].first_chunk() else { return Ok(None) };
            let length = u16::from_be_bytes(*bytes);
            if length < 126 { Err(LONG_LENGTH) } else { Ok(Some((u64::from(length), 4))) }
        }
        127 => {
            let Some(bytes) = input[2..].first_chunk() else { return Ok(None) };
            let length = u64::from_be_bytes(*bytes);
            match length {
                0..=0xffff => Err(LONG_LENGTH),
                0x8000_0000_0000_0000.. => Err(LARGE_LENGTH),
                _ => Ok(Some((length, 10))),
            }
        }
        _ => Ok(Some((u64::from(short), 2))),
    }
}
