//! The frame around every query: length, header, and the head of the body.

use crate::keys;
use crate::msgpack;

/// What every query's header carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The number by which the reply is known.
    pub sync: u64,
    /// The schema the query was written against; the server refuses another with error 109.
    pub schema_version: Option<u64>,
}

pub(super) const PREFIX: usize = 5;

/// Appends a packet of type `kind` whose body of `pairs` pairs is appended by `body`.
#[inline]
pub(super) fn packet(
    out: &mut Vec<u8>,
    kind: u8,
    header: Header,
    pairs: usize,
    body: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.extend_from_slice(&[0xce, 0, 0, 0, 0]);
    msgpack::map(out, 2 + usize::from(header.schema_version.is_some()));
    out.extend_from_slice(&[keys::REQUEST_TYPE, kind, keys::SYNC]);
    msgpack::uint(out, header.sync);
    if let Some(version) = header.schema_version {
        number(out, keys::SCHEMA_VERSION, version);
    }
    msgpack::map(out, pairs);
    body(out);
    seal(out, start);
}

/// Writes the length of the packet that began at `start` into its prefix.
pub(super) fn seal(out: &mut [u8], start: usize) {
    let length = u32::try_from(out.len() - start - PREFIX).expect("a packet is below 4 GiB");
    out[start + 1..start + PREFIX].copy_from_slice(&length.to_be_bytes());
}

/// Appends a key and a number.
#[inline]
pub(super) fn number(out: &mut Vec<u8>, key: u8, value: u64) {
    out.push(key);
    msgpack::uint(out, value);
}

/// Appends a key and text.
#[inline]
pub(super) fn text(out: &mut Vec<u8>, key: u8, value: &str) {
    out.push(key);
    msgpack::str(out, value);
}

/// Appends a key and a value that is msgpack already.
#[inline]
pub(super) fn raw(out: &mut Vec<u8>, key: u8, value: &[u8]) {
    out.push(key);
    out.extend_from_slice(value);
}
