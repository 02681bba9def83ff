//! Queries that change one tuple.

use super::packet::{Header, number, packet, raw};
use crate::keys;

/// Inserts a tuple; fails if its key is there.
pub fn insert(out: &mut Vec<u8>, header: Header, space: u32, tuple: &[u8]) {
    put(out, header, keys::INSERT, space, tuple);
}

/// Inserts a tuple, or puts it in the place of the one with its key.
pub fn replace(out: &mut Vec<u8>, header: Header, space: u32, tuple: &[u8]) {
    put(out, header, keys::REPLACE, space, tuple);
}

fn put(out: &mut Vec<u8>, header: Header, kind: u8, space: u32, tuple: &[u8]) {
    packet(out, kind, header, 2, |out| {
        number(out, keys::SPACE_ID, space.into());
        raw(out, keys::TUPLE, tuple);
    });
}

/// Applies operations to the tuple at a key of a unique index. Fields count from zero.
pub fn update(
    out: &mut Vec<u8>,
    header: Header,
    space: u32,
    index: u32,
    key: &[u8],
    operations: &[u8],
) {
    packet(out, keys::UPDATE, header, 4, |out| {
        number(out, keys::SPACE_ID, space.into());
        number(out, keys::INDEX_ID, index.into());
        raw(out, keys::KEY, key);
        raw(out, keys::TUPLE, operations);
    });
}

/// Inserts a tuple, or applies operations to the one with its key. Fields count from zero.
pub fn upsert(out: &mut Vec<u8>, header: Header, space: u32, tuple: &[u8], operations: &[u8]) {
    packet(out, keys::UPSERT, header, 3, |out| {
        number(out, keys::SPACE_ID, space.into());
        raw(out, keys::TUPLE, tuple);
        raw(out, keys::OPERATIONS, operations);
    });
}

/// Deletes the tuple at a key of a unique index.
pub fn delete(out: &mut Vec<u8>, header: Header, space: u32, index: u32, key: &[u8]) {
    packet(out, keys::DELETE, header, 3, |out| {
        number(out, keys::SPACE_ID, space.into());
        number(out, keys::INDEX_ID, index.into());
        raw(out, keys::KEY, key);
    });
}
