//! Frames to send: those of a server plain, those of a client masked.

use crate::close::Close;
use crate::deflate::Deflater;
use crate::header::Opcode;
use crate::mask;

const FIN: u8 = 0x80;
const COMPRESSED: u8 = 0x40;
const MASKED: u8 = 0x80;
/// The length follows in two bytes, or in eight.
const LONG: u8 = 0x7e;
const LONGER: u8 = 0x7f;

/// Append one whole message, or a control frame, as a server sends it.
///
/// The payload of a control frame must not be longer than 125 bytes.
#[inline]
pub fn encode(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    debug_assert!(!opcode.is_control() || payload.len() <= 125, "a large control frame");
    push_head(out, FIN | opcode as u8, 0, payload.len());
    out.extend_from_slice(payload);
}

/// Append one whole message, compressed.
pub fn encode_deflated(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], deflater: &mut Deflater) {
    let compressed = deflater.compress(payload);
    push_head(out, FIN | COMPRESSED | opcode as u8, 0, compressed.len());
    out.extend_from_slice(compressed);
}

/// Append a close frame: empty for 1005, else with its code; the reason is cut to what fits.
pub fn encode_close(out: &mut Vec<u8>, code: u16, reason: &str) {
    if code == Close::NO_CODE {
        return encode(out, Opcode::Close, b"");
    }
    let mut end = reason.len().min(Close::REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(&reason.as_bytes()[..end]);
    encode(out, Opcode::Close, &payload);
}

/// Append one frame as a client sends it. The key is to come from a good source of random numbers.
pub fn encode_masked(out: &mut Vec<u8>, first: u8, payload: &[u8], key: [u8; 4]) {
    push_head(out, first, MASKED, payload.len());
    out.extend_from_slice(&key);
    let start = out.len();
    out.extend_from_slice(payload);
    mask::apply(&mut out[start..], key, 0);
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each arm holds what fits")]
fn push_head(out: &mut Vec<u8>, first: u8, masked: u8, length: usize) {
    match length {
        0..126 => out.extend_from_slice(&[first, masked | length as u8]),
        126..0x1_0000 => {
            let [high, low] = (length as u16).to_be_bytes();
            out.extend_from_slice(&[first, masked | LONG, high, low]);
        }
        _ => {
            out.extend_from_slice(&[first, masked | LONGER]);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
}
