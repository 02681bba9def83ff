//! Invariant: frames decode to the same messages and the same fault however their bytes arrive,
//! compressed or not; text is UTF-8, nothing is longer than the limit, and every byte is taken.

#![no_main]

use libfuzzer_sys::fuzz_target;
use websocket::{Decoder, Event, Fault, Inflater, Kind, Role};

const LIMIT: usize = 4096;

#[derive(PartialEq, Debug)]
enum Received {
    Message(Kind, Vec<u8>),
    Other(Event, Vec<u8>),
}

fuzz_target!(|input: &[u8]| {
    // The first byte says who reads and with what, the second how long the pieces are.
    let [settings, step, input @ ..] = input else {
        return;
    };
    let whole = decode(*settings, input, input.len().max(1));
    assert_eq!(whole, decode(*settings, input, 1));
    assert_eq!(whole, decode(*settings, input, usize::from(*step).max(1)));
    for received in &whole.0 {
        if let Received::Message(kind, bytes) = received {
            assert!(bytes.len() <= LIMIT);
            assert!(*kind == Kind::Binary || std::str::from_utf8(bytes).is_ok());
        }
    }
});

fn decode(settings: u8, input: &[u8], size: usize) -> (Vec<Received>, Option<Fault>) {
    let role = if settings & 1 == 0 { Role::Server } else { Role::Client };
    let mut decoder = Decoder::new(role, LIMIT);
    if settings & 2 != 0 {
        decoder.allow_deflate(Inflater::new(settings & 4 != 0));
    }
    let (mut received, mut out) = (Vec::new(), Vec::new());
    for mut piece in input.chunks(size) {
        loop {
            match decoder.decode(piece, &mut out) {
                Err(fault) => return (received, Some(fault)),
                Ok((consumed, None)) => {
                    assert_eq!(piece.len(), consumed);
                    break;
                }
                Ok((consumed, Some(Event::Message(kind)))) => {
                    piece = &piece[consumed..];
                    let start = out.len() - decoder.message_bytes();
                    received.push(Received::Message(kind, out.split_off(start)));
                    assert!(out.is_empty());
                }
                Ok((_, Some(close @ Event::Close(_)))) => {
                    received.push(Received::Other(close, Vec::new()));
                    return (received, None);
                }
                Ok((consumed, Some(event))) => {
                    piece = &piece[consumed..];
                    received.push(Received::Other(event, decoder.control().to_vec()));
                }
            }
        }
    }
    (received, None)
}
