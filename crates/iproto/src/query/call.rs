//! Queries that run code on the server.

use super::packet::{Header, packet, raw, text};
use crate::keys;

/// Calls a stored function; `args` is a msgpack array. The reply's data are the values returned.
pub fn call(out: &mut Vec<u8>, header: Header, name: &str, args: &[u8]) {
    run(out, header, keys::CALL, (keys::FUNCTION_NAME, name), args);
}

/// Calls a stored function by the rules of 1.6: every value returned is made a tuple.
pub fn call_16(out: &mut Vec<u8>, header: Header, name: &str, args: &[u8]) {
    run(out, header, keys::CALL_16, (keys::FUNCTION_NAME, name), args);
}

/// Evaluates Lua; `args` is a msgpack array that the expression sees as `...`.
pub fn eval(out: &mut Vec<u8>, header: Header, expression: &str, args: &[u8]) {
    run(out, header, keys::EVAL, (keys::EXPRESSION, expression), args);
}

fn run(out: &mut Vec<u8>, header: Header, kind: u8, what: (u8, &str), args: &[u8]) {
    packet(out, kind, header, 2, |out| {
        text(out, what.0, what.1);
        raw(out, keys::TUPLE, args);
    });
}
