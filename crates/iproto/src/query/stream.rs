//! Streams and the transactions in them (2.10 and later).
//!
//! A server before 2.10 ignores the stream's number and commits each query by itself: ask what was
//! negotiated first.

use super::packet::{Header, PREFIX, number, packet, seal};
use crate::keys;
use crate::msgpack;

/// What other transactions' uncommitted changes a transaction may see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Isolation {
    /// What the server's configuration says.
    #[default]
    Default = 0,
    /// Changes that are prepared, but may not be on disk yet.
    ReadCommitted = 1,
    /// Changes that are on disk.
    ReadConfirmed = 2,
    /// What the server finds best for each query.
    BestEffort = 3,
    /// As confirmed, in order with every other transaction.
    Linearizable = 4,
}

/// Opens a transaction in its stream; `timeout` in seconds.
pub fn begin(out: &mut Vec<u8>, header: Header, timeout: Option<f64>, isolation: Isolation) {
    let pairs = 1 + usize::from(timeout.is_some());
    packet(out, keys::BEGIN, header, pairs, |out| {
        if let Some(timeout) = timeout {
            out.push(keys::TIMEOUT);
            msgpack::f64(out, timeout);
        }
        number(out, keys::ISOLATION, isolation as u64);
    });
}

/// Commits the transaction of its stream.
pub fn commit(out: &mut Vec<u8>, header: Header) {
    packet(out, keys::COMMIT, header, 0, |_| {});
}

/// Gives the transaction of its stream up.
pub fn rollback(out: &mut Vec<u8>, header: Header) {
    packet(out, keys::ROLLBACK, header, 0, |_| {});
}

/// Puts the packet that begins at `start`, the last in `out`, into a stream.
///
/// # Panics
/// If no packet of this module begins there.
pub fn in_stream(out: &mut Vec<u8>, start: usize, stream: u64) {
    let head = start + PREFIX;
    assert!(matches!(out.get(head), Some(0x82 | 0x83)), "a packet's header stands at {start}");
    out[head] += 1;
    let mut pair = Vec::with_capacity(10);
    number(&mut pair, keys::STREAM_ID, stream);
    let first = head + 1;
    out.splice(first..first, pair);
    seal(out, start);
}
