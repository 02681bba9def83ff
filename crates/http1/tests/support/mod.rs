//! Feeds input in pieces, as a connection would, and tells what came of it.

#![allow(dead_code, reason = "every test binary uses its part")]

use std::path::PathBuf;

use http1::{Chunked, Framing, Head, Limits, Progress, Refusal};
use serde::de::DeserializeOwned;

/// What came of the first message of some input.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It was read; spans refer to the whole input.
    Message { head: Box<Head>, body: Vec<u8>, rest: Vec<u8> },
    /// It was refused.
    Refused(Refusal),
    /// It needs more input.
    Partial,
}

/// Ways of asking for a head when more input has come.
#[derive(Clone, Copy)]
pub enum Asking {
    /// `Head::parse`.
    Anew,
    /// `Head::parse_more`.
    Further,
}

/// Reads one message that arrives in these pieces.
pub fn read(pieces: &[&[u8]], limits: &Limits, asking: Asking) -> Outcome {
    let mut connection = Connection::new(limits.clone(), asking);
    for piece in pieces {
        if let Err(refusal) = connection.feed(piece) {
            return Outcome::Refused(refusal);
        }
    }
    connection.outcome()
}

/// Every way to cut `input` that is tried: whole, in two at every byte, byte by byte.
pub fn cuts(input: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    let in_two = (0..=input.len()).map(|place| {
        let (first, second) = input.split_at(place);
        vec![first, second]
    });
    in_two.chain([vec![input], input.chunks(1).collect()])
}

/// Reads one message in every way there is and asserts that the way makes no difference.
pub fn read_every_way(name: &str, input: &[u8], limits: &Limits) -> Outcome {
    let whole = read(&[input], limits, Asking::Anew);
    for pieces in cuts(input) {
        for asking in [Asking::Anew, Asking::Further] {
            let cut = read(&pieces, limits, asking);
            assert_eq!(whole, cut, "{name}: cut into {:?}", pieces.first().map(|one| one.len()));
        }
    }
    whole
}

/// The vectors of one file under `tests/vectors/http1`.
pub fn vectors<T: DeserializeOwned>(file: &str) -> Vec<T> {
    vectors_of(&format!("http1/{file}"))
}

/// The vectors of one file under `tests/vectors`.
pub fn vectors_of<T: DeserializeOwned>(file: &str) -> Vec<T> {
    #[derive(serde::Deserialize)]
    struct File<T> {
        vector: Vec<T>,
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = std::fs::read_to_string(&path).expect("the vectors are in the checkout");
    let file: File<T> = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert!(!file.vector.is_empty(), "{} has no vectors", path.display());
    file.vector
}

/// The bytes meant by a string of a vector: one for each character.
pub fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).expect("a byte")).collect()
}

/// The string that means these bytes in a vector.
pub fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

struct Connection {
    limits: Limits,
    asking: Asking,
    input: Vec<u8>,
    head: Head,
    decoder: Option<Chunked>,
    used: usize,
    body: Vec<u8>,
    done: bool,
}

impl Connection {
    fn new(limits: Limits, asking: Asking) -> Self {
        Self {
            limits,
            asking,
            input: Vec::new(),
            head: Head::default(),
            decoder: None,
            used: 0,
            body: Vec::new(),
            done: false,
        }
    }

    fn feed(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        let seen = self.input.len();
        self.input.extend_from_slice(piece);
        if self.used == 0 && !self.done {
            let progress = match self.asking {
                Asking::Anew => self.head.parse(&self.input, &self.limits)?,
                Asking::Further => self.head.parse_more(&self.input, seen, &self.limits)?,
            };
            if progress == Progress::Partial {
                return Ok(());
            }
            self.used = self.head.len;
            if self.head.framing == Framing::Chunked {
                self.decoder = Some(Chunked::new(self.limits.body_bytes));
            }
        }
        if self.done { Ok(()) } else { self.read_body() }
    }

    fn read_body(&mut self) -> Result<(), Refusal> {
        let rest = &self.input[self.used..];
        match (&mut self.decoder, self.head.framing) {
            (Some(decoder), _) => {
                let step = decoder.decode(rest, &mut self.body)?;
                self.used += step.consumed;
                self.done = step.done;
            }
            (None, Framing::Length(length)) => {
                let left = usize::try_from(length).unwrap() - self.body.len();
                let taken = left.min(rest.len());
                self.body.extend_from_slice(&rest[..taken]);
                self.used += taken;
                self.done = taken == left;
            }
            (None, _) => self.done = true,
        }
        Ok(())
    }

    fn outcome(self) -> Outcome {
        if !self.done {
            return Outcome::Partial;
        }
        let rest = self.input[self.used..].to_vec();
        Outcome::Message { head: Box::new(self.head), body: self.body, rest }
    }
}
