//! The packets of a scripted server, and what it reads in those of a link.

use std::collections::HashMap;

use iproto::msgpack::{self, Reader, Token};

pub const OK: u32 = 0;
pub const ERROR: u32 = 0x8000;
pub const WRONG_SCHEMA: u32 = ERROR + 109;
pub const VERSION: u64 = 71;
/// A packet that the link sent.
#[derive(Clone, Debug)]
pub struct Packet {
    pub code: u64,
    pub sync: u64,
    pub version: Option<u64>,
    pub space: Option<u64>,
}

pub const SELECT: u64 = 1;
pub const AUTH: u64 = 7;
pub const PING: u64 = 64;

pub fn greeting() -> Vec<u8> {
    let mut greeting =
        format!("{:<63}\n", "Tarantool 2.6.0 (Binary) 01234567-89ab-cdef").into_bytes();
    greeting.extend(format!("{:<63}\n", "QK2HoFZGXTXBq2vFj7soCsHqTo6PGTF575ssUBAJLAI=").bytes());
    greeting
}

/// A packet without data; an error says "told so".
pub fn reply(sync: u64, version: u64, code: u32) -> Vec<u8> {
    let mut body = Vec::new();
    msgpack::map(&mut body, 3);
    for (key, value) in [(0, u64::from(code)), (1, sync), (5, version)] {
        msgpack::uint(&mut body, key);
        msgpack::uint(&mut body, value);
    }
    msgpack::map(&mut body, 1);
    if code >= ERROR {
        msgpack::uint(&mut body, 0x31);
        msgpack::str(&mut body, "told so");
    } else {
        msgpack::uint(&mut body, 0x30);
        msgpack::array(&mut body, 0);
    }
    framed(&body)
}

pub fn framed(body: &[u8]) -> Vec<u8> {
    let mut packet = vec![0xce];
    packet.extend(u32::try_from(body.len()).expect("small").to_be_bytes());
    packet.extend_from_slice(body);
    packet
}

pub fn packet(bytes: &[u8]) -> Packet {
    let mut reader = Reader::new(bytes);
    let header = numbers(&mut reader);
    let body = numbers(&mut reader);
    Packet {
        code: header[&0],
        sync: header[&1],
        version: header.get(&5).copied(),
        space: body.get(&0x10).copied(),
    }
}

/// The numbers in a map; other values are left out.
fn numbers(reader: &mut Reader<'_>) -> HashMap<u64, u64> {
    let mut found = HashMap::new();
    let Ok(Token::Map(count)) = reader.token() else { return found };
    for _ in 0..count {
        let key = number(reader).expect("keys are numbers");
        if let Some(value) = number(reader) {
            found.insert(key, value);
        }
    }
    found
}

fn number(reader: &mut Reader<'_>) -> Option<u64> {
    let mut ahead = *reader;
    reader.skip().expect("whole");
    match ahead.token() {
        Ok(Token::UInt(number)) => Some(number),
        Ok(Token::Int(number)) => u64::try_from(number).ok(),
        _ => None,
    }
}
