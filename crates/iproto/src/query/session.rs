//! Queries about the connection itself: ping, authentication, negotiation.

use super::packet::{Header, number, packet, text};
use crate::keys;
use crate::msgpack;

/// Asks for an empty reply.
pub fn ping(out: &mut Vec<u8>, header: Header) {
    packet(out, keys::PING, header, 0, |_| {});
}

/// Authenticates by `chap-sha1`, or without a password (user `guest`).
pub fn auth(out: &mut Vec<u8>, header: Header, user: &str, scramble: Option<&[u8; 20]>) {
    packet(out, keys::AUTH, header, 2, |out| {
        text(out, keys::USER_NAME, user);
        out.push(keys::TUPLE);
        match scramble {
            None => msgpack::array(out, 0),
            Some(scramble) => {
                msgpack::array(out, 2);
                msgpack::str(out, "chap-sha1");
                msgpack::str_bytes(out, scramble);
            }
        }
    });
}

/// Authenticates by `pap-sha256`: the password itself travels, so only over TLS (2.11 and later).
pub fn auth_pap(out: &mut Vec<u8>, header: Header, user: &str, password: &str) {
    packet(out, keys::AUTH, header, 2, |out| {
        text(out, keys::USER_NAME, user);
        out.push(keys::TUPLE);
        msgpack::array(out, 2);
        msgpack::str(out, "pap-sha256");
        msgpack::str(out, password);
    });
}

/// Says which protocol version and features are understood (2.10 and later).
pub fn id(out: &mut Vec<u8>, header: Header, version: u64, features: &[u64]) {
    packet(out, keys::ID, header, 2, |out| {
        number(out, keys::VERSION, version);
        out.push(keys::FEATURES);
        msgpack::array(out, features.len());
        for &feature in features {
            msgpack::uint(out, feature);
        }
    });
}
