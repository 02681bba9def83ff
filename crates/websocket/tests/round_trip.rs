//! What is encoded decodes to the same, in both directions, compressed and not.

mod support;

use support::{Received, Settings};
use websocket::{
    Close, Control, Deflate, Kind, Opcode, Role, Windows, encode, encode_close, encode_deflated,
    encode_masked,
};

const SIZES: [usize; 12] = [0, 1, 3, 7, 125, 126, 127, 4095, 4096, 65_535, 65_536, 300_000];

fn settings(role: Role, deflate: bool, forgets: bool) -> Settings {
    Settings { role, limit: 1 << 20, deflate, forgets }
}

/// Bytes that compress a little: a repeated pattern with noise in it.
fn sample(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|at| if at % 3 == 0 { noise() } else { b"abcdefg"[at % 7] }).collect()
}

#[test]
fn frames_of_a_server() {
    for size in SIZES {
        let mut wire = Vec::new();
        encode(&mut wire, Opcode::Binary, &sample(size));
        let (outcome, _) = settings(Role::Client, false, false).decode(&[&wire]);
        assert_eq!(vec![Received::Message(Kind::Binary, sample(size))], outcome.received);
    }
}

#[test]
fn frames_of_a_client() {
    for size in SIZES {
        let mut wire = Vec::new();
        encode_masked(&mut wire, 0x80 | Opcode::Binary as u8, &sample(size), [1, 2, 3, 250]);
        for step in [1, 3, 1000, wire.len()] {
            let pieces: Vec<&[u8]> = wire.chunks(step).collect();
            let (outcome, _) = settings(Role::Server, false, false).decode(&pieces);
            assert_eq!(vec![Received::Message(Kind::Binary, sample(size))], outcome.received);
        }
    }
}

#[test]
fn compressed_messages_with_and_without_memory_in_every_window() {
    for forgets in [false, true] {
        for bits in 9..=15 {
            let agreed = Deflate {
                server_bits: bits,
                client_bits: None,
                server_forgets: forgets,
                client_forgets: false,
            };
            let mut deflater = agreed.deflater(6);
            let mut wire = Vec::new();
            let mut expected = Vec::new();
            for size in SIZES.iter().chain(&SIZES) {
                encode_deflated(&mut wire, Opcode::Binary, &sample(*size), &mut deflater);
                expected.push(Received::Message(Kind::Binary, sample(*size)));
            }
            let (outcome, _) = settings(Role::Client, true, forgets).decode(&[&wire]);
            assert_eq!(None, outcome.fault, "{bits} bits");
            assert!(expected == outcome.received, "{bits} bits, forgets: {forgets}");
        }
    }
}

#[test]
fn memory_makes_the_second_message_small() {
    let agreed = Deflate::negotiate(b"permessage-deflate", Windows::default()).expect("taken");
    let mut deflater = agreed.deflater(6);
    let first = deflater.compress(&sample(2000)).len();
    let second = deflater.compress(&sample(2000)).len();
    assert!(second * 10 < first, "{second} after {first}");
}

#[test]
fn control_frames() {
    let mut wire = Vec::new();
    encode(&mut wire, Opcode::Ping, b"there?");
    encode(&mut wire, Opcode::Pong, b"");
    encode_close(&mut wire, 1001, "the server stops");
    let (outcome, _) = settings(Role::Client, false, false).decode(&[&wire]);
    let expected = vec![
        Received::Control(Control::Ping, b"there?".to_vec()),
        Received::Control(Control::Pong, Vec::new()),
        Received::Close(Close { code: 1001, reason: "the server stops".to_owned() }),
    ];
    assert_eq!(expected, outcome.received);
}

#[test]
fn a_long_close_reason_is_cut_at_a_character() {
    let mut wire = Vec::new();
    encode_close(&mut wire, 1000, &"€".repeat(50));
    let (outcome, _) = settings(Role::Client, false, false).decode(&[&wire]);
    let expected = Close { code: 1000, reason: "€".repeat(41) };
    assert_eq!(vec![Received::Close(expected)], outcome.received);
}

#[test]
fn a_close_without_a_code_is_empty() {
    let mut wire = Vec::new();
    encode_close(&mut wire, Close::NO_CODE, "not sent");
    assert_eq!([0x88, 0], wire[..]);
}

#[test]
fn a_bomb_takes_no_more_memory_than_its_limit_allows() {
    let agreed = Deflate::negotiate(b"permessage-deflate", Windows::default()).expect("taken");
    let mut wire = Vec::new();
    encode_deflated(&mut wire, Opcode::Binary, &vec![0; 1 << 24], &mut agreed.deflater(9));
    assert!(wire.len() < 1 << 16, "it is a bomb");
    let mut decoder = settings(Role::Client, true, false).decoder();
    let mut out = Vec::new();
    let fault = decoder.decode(&wire, &mut out).expect_err("far beyond the limit");
    assert_eq!(1009, fault.code);
    assert!(out.capacity() <= 1 << 22, "{} bytes", out.capacity());
}
