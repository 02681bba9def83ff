//! Invariant: what is encoded, plain, masked or compressed in any window, decodes to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use websocket::{
    Decoder, Deflate, Event, Kind, Opcode, Role, encode, encode_deflated, encode_masked,
};

fuzz_target!(|input: &[u8]| {
    let [settings, cut, payload @ ..] = input else {
        return;
    };
    let forgets = settings & 1 != 0;
    let agreed = Deflate {
        server_bits: 9 + (settings >> 1) % 7,
        client_bits: None,
        server_forgets: forgets,
        client_forgets: forgets,
    };
    let (first, second) = payload.split_at(usize::from(*cut).min(payload.len()));
    let mut deflater = agreed.deflater(u32::from(settings >> 5));
    let mut wire = Vec::new();
    for message in [first, second, first] {
        encode_deflated(&mut wire, Opcode::Binary, message, &mut deflater);
        encode(&mut wire, Opcode::Binary, message);
    }
    let mut reader = Decoder::new(Role::Client, payload.len());
    reader.allow_deflate(agreed.inflater());
    assert_eq!([first, first, second, second, first, first], decode(reader, &wire)[..]);

    let mut wire = Vec::new();
    encode_masked(&mut wire, 2, first, [*settings, *cut, 1, 0]);
    encode_masked(&mut wire, 0x80, second, [0, *cut, *settings, 9]);
    assert_eq!([payload], decode(Decoder::new(Role::Server, payload.len()), &wire)[..]);
});

fn decode(mut decoder: Decoder, mut wire: &[u8]) -> Vec<Vec<u8>> {
    let (mut messages, mut out) = (Vec::new(), Vec::new());
    while !wire.is_empty() {
        let (consumed, event) = decoder.decode(wire, &mut out).expect("sound");
        wire = &wire[consumed..];
        if event == Some(Event::Message(Kind::Binary)) {
            messages.push(std::mem::take(&mut out));
        }
    }
    messages
}
