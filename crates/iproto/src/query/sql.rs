//! SQL: execute and prepare.

use super::packet::{Header, number, packet, raw, text};
use crate::keys;

/// What to execute: a text, or one that the server holds under a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Statement<'a> {
    /// The text itself.
    Text(&'a str),
    /// The number a [`prepare`] was answered with.
    Prepared(u64),
}

/// Executes SQL; `bind` is a msgpack array of values, or of `{":name": value}` maps.
pub fn execute(out: &mut Vec<u8>, header: Header, statement: Statement<'_>, bind: &[u8]) {
    packet(out, keys::EXECUTE, header, 3, |out| {
        write(out, statement);
        raw(out, keys::SQL_BIND, bind);
        raw(out, keys::OPTIONS, &[0x90]);
    });
}

/// Prepares a text; given a number, makes the server forget it.
pub fn prepare(out: &mut Vec<u8>, header: Header, statement: Statement<'_>) {
    packet(out, keys::PREPARE, header, 1, |out| write(out, statement));
}

fn write(out: &mut Vec<u8>, statement: Statement<'_>) {
    match statement {
        Statement::Text(sql) => text(out, keys::SQL_TEXT, sql),
        Statement::Prepared(id) => number(out, keys::STATEMENT_ID, id),
    }
}
