//! Watching keys that the server broadcasts (2.10 and later).

use super::packet::{Header, packet, text};
use crate::keys;

/// Asks for an event now and at each change; the next comes only after this is sent again. The
/// server answers with events, never with a reply.
pub fn watch(out: &mut Vec<u8>, header: Header, key: &str) {
    packet(out, keys::WATCH, header, 1, |out| text(out, keys::EVENT_KEY, key));
}

/// Asks for no more events of a key. The server does not answer.
pub fn unwatch(out: &mut Vec<u8>, header: Header, key: &str) {
    packet(out, keys::UNWATCH, header, 1, |out| text(out, keys::EVENT_KEY, key));
}

/// Asks for the value of a key as it is now (3.0 and later).
pub fn watch_once(out: &mut Vec<u8>, header: Header, key: &str) {
    packet(out, keys::WATCH_ONCE, header, 1, |out| text(out, keys::EVENT_KEY, key));
}
