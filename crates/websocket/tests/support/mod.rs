//! Feeds input in pieces, as a connection would, and tells what came of it.

#![allow(dead_code, reason = "every test binary uses its part")]

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use websocket::{Close, Control, Decoder, Event, Fault, Inflater, Kind, Role};

/// One thing that was received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    Message(Kind, Vec<u8>),
    Control(Control, Vec<u8>),
    Close(Close),
}

/// How a decoder is set up.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub role: Role,
    pub limit: usize,
    pub deflate: bool,
    pub forgets: bool,
}

/// What came of some input, and after how many bytes a fault showed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub received: Vec<Received>,
    pub fault: Option<Fault>,
}

impl Settings {
    pub fn decoder(&self) -> Decoder {
        let mut decoder = Decoder::new(self.role, self.limit);
        if self.deflate {
            decoder.allow_deflate(Inflater::new(self.forgets));
        }
        decoder
    }

    /// Decode these pieces; tells how many bytes were needed for what came of them.
    pub fn decode(&self, pieces: &[&[u8]]) -> (Outcome, usize) {
        let mut decoder = self.decoder();
        let mut outcome = Outcome { received: Vec::new(), fault: None };
        let (mut buffer, mut fed) = (Vec::new(), 0);
        for piece in pieces {
            fed += piece.len();
            if let Err(fault) = feed(&mut decoder, piece, &mut buffer, &mut outcome.received) {
                outcome.fault = Some(fault);
                break;
            }
        }
        (outcome, fed)
    }
}

fn feed(
    decoder: &mut Decoder,
    mut piece: &[u8],
    buffer: &mut Vec<u8>,
    received: &mut Vec<Received>,
) -> Result<(), Fault> {
    loop {
        let (consumed, event) = decoder.decode(piece, buffer)?;
        piece = &piece[consumed..];
        match event {
            None => {
                assert!(piece.is_empty(), "it takes all that comes");
                return Ok(());
            }
            Some(Event::Message(kind)) => {
                let start = buffer.len() - decoder.message_bytes();
                received.push(Received::Message(kind, buffer.split_off(start)));
                assert!(buffer.is_empty(), "nothing of a message stays behind");
            }
            Some(Event::Control(control)) => {
                received.push(Received::Control(control, decoder.control().to_vec()));
            }
            Some(Event::Close(close)) => {
                received.push(Received::Close(close));
                return Ok(());
            }
        }
    }
}

/// Every way to cut `input` that is tried: whole, in two at every byte, byte by byte.
pub fn cuts(input: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let in_two = (0..=input.len()).map(|place| {
        let (first, second) = input.split_at(place);
        vec![first, second]
    });
    in_two.chain([vec![input], input.chunks(1).collect()])
}

/// The vectors of one file under `tests/vectors/websocket`.
pub fn vectors<T: DeserializeOwned>(file: &str) -> Vec<T> {
    #[derive(serde::Deserialize)]
    struct File<T> {
        vector: Vec<T>,
    }
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/websocket").join(file);
    let text = std::fs::read_to_string(&path).expect("the vectors are in the checkout");
    let file: File<T> = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert!(!file.vector.is_empty(), "{} has no vectors", path.display());
    file.vector
}

/// The bytes meant by hexadecimal digits.
pub fn bytes(digits: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(pair).collect()
}
