//! The chunked coding, decoded as it comes (RFC 9112 section 7.1).
//!
//! ```text
//!  Size -> (Extension) -> SizeEnd -> Data -> DataCr -> DataLf -> Size
//!                            |  size 0
//!                            v
//!                         Trailer (a line at a time) -> Done
//! ```
//!
//! Extensions and trailers are checked, limited and dropped.

use crate::classes::{self, TOKEN};
use crate::fields;
use crate::framing;
use crate::refusal::{
    BAD_CHUNK_END, BAD_CHUNK_EXTENSION, BAD_CHUNK_SIZE, BARE_CR, BARE_LF, FRAMING_TRAILER,
    LARGE_BODY, LARGE_EXTENSIONS, LARGE_TRAILERS, Refusal,
};

/// Bytes of extensions allowed in one body: chunk after chunk of them would cost without end.
const MOST_EXTENSION_BYTES: u32 = 16 * 1024;
/// Bytes of trailer lines allowed after one body.
const MOST_TRAILER_BYTES: usize = 8 * 1024;
/// Hexadecimal digits of the largest size a `u64` holds.
const MOST_DIGITS: u8 = 16;

/// Decodes one body.
#[derive(Clone, Debug)]
pub struct Chunked {
    state: State,
    /// Bytes of data that may still come.
    allowance: u64,
    /// Size of the current chunk, then what is left of it.
    size: u64,
    digits: u8,
    extension_bytes: u32,
    trailer_bytes: usize,
    line: Vec<u8>,
}

/// What a call to [`Chunked::decode`] has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Bytes of the input that were used up.
    pub consumed: usize,
    /// The body is complete; what is left of the input belongs to the next message.
    pub done: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Size,
    Extension(Extension),
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    Trailer,
    Done,
}

/// Inside `*( BWS ";" BWS name [ BWS "=" BWS value ] )`, named by what was read last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extension {
    /// White space after the size or after a value: a semicolon has to follow.
    Space,
    Semicolon,
    Name,
    SpaceAfterName,
    Equals,
    Value,
    Quoted,
    QuotedPair,
    QuoteEnd,
}

impl Chunked {
    /// A decoder that refuses bodies of more than `limit` bytes with 413.
    pub fn new(limit: u64) -> Self {
        Self {
            state: State::Size,
            allowance: limit,
            size: 0,
            digits: 0,
            extension_bytes: 0,
            trailer_bytes: 0,
            line: Vec::new(),
        }
    }

    /// Reads as much of `input` as belongs to this body and appends its data to `out`.
    pub fn decode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Decoded, Refusal> {
        let mut at = 0;
        while self.state != State::Done && at < input.len() {
            match self.state {
                State::Data => at += self.data(&input[at..], out),
                State::Trailer => at += self.trailer(&input[at..])?,
                _ => {
                    self.state = self.step(input[at])?;
                    at += 1;
                }
            }
        }
        Ok(Decoded { consumed: at, done: self.state == State::Done })
    }

    fn data(&mut self, input: &[u8], out: &mut Vec<u8>) -> usize {
        let left = usize::try_from(self.size).unwrap_or(usize::MAX);
        let taken = left.min(input.len());
        out.extend_from_slice(&input[..taken]);
        self.size -= taken as u64;
        if self.size == 0 {
            self.state = State::DataCr;
        }
        taken
    }

    fn step(&mut self, byte: u8) -> Result<State, Refusal> {
        match (self.state, byte) {
            (State::Size, _) => self.size_byte(byte),
            (State::Extension(place), _) => self.extension_byte(place, byte),
            (State::SizeEnd, b'\n') => self.begin_data(),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(State::Size),
            (State::DataCr | State::DataLf, _) => Err(BAD_CHUNK_END),
            _ => Err(BARE_CR),
        }
    }

    fn size_byte(&mut self, byte: u8) -> Result<State, Refusal> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ if self.digits == 0 => return Err(BAD_CHUNK_SIZE),
            b'\r' => return Ok(State::SizeEnd),
            b';' => return self.count_extension(Extension::Semicolon),
            b' ' | b'\t' => return self.count_extension(Extension::Space),
            b'\n' => return Err(BARE_LF),
            _ => return Err(BAD_CHUNK_SIZE),
        };
        if self.digits == MOST_DIGITS {
            return Err(BAD_CHUNK_SIZE);
        }
        self.digits += 1;
        self.size = self.size << 4 | u64::from(digit);
        Ok(State::Size)
    }

    fn extension_byte(&mut self, place: Extension, byte: u8) -> Result<State, Refusal> {
        use Extension as E;
        let next = match (place, byte) {
            (E::Quoted, b'"') => E::QuoteEnd,
            (E::Quoted, b'\\') => E::QuotedPair,
            (E::Quoted | E::QuotedPair, _) if classes::is(byte, classes::VALUE) => E::Quoted,
            (E::Name | E::SpaceAfterName | E::Value | E::QuoteEnd, b'\r') => {
                return Ok(State::SizeEnd);
            }
            (E::Space | E::Name | E::SpaceAfterName | E::Value | E::QuoteEnd, b';') => E::Semicolon,
            (E::Name | E::SpaceAfterName, b'=') => E::Equals,
            (E::Equals, b'"') => E::Quoted,
            (E::Semicolon | E::Name, _) if classes::is(byte, TOKEN) => E::Name,
            (E::Equals | E::Value, _) if classes::is(byte, TOKEN) => E::Value,
            (E::Name | E::SpaceAfterName, b' ' | b'\t') => E::SpaceAfterName,
            (E::Value | E::QuoteEnd | E::Space, b' ' | b'\t') => E::Space,
            (E::Semicolon | E::Equals, b' ' | b'\t') => place,
            (_, b'\n') => return Err(BARE_LF),
            _ => return Err(BAD_CHUNK_EXTENSION),
        };
        self.count_extension(next)
    }

    fn count_extension(&mut self, next: Extension) -> Result<State, Refusal> {
        self.extension_bytes += 1;
        if self.extension_bytes > MOST_EXTENSION_BYTES {
            return Err(LARGE_EXTENSIONS);
        }
        Ok(State::Extension(next))
    }

    fn begin_data(&mut self) -> Result<State, Refusal> {
        self.digits = 0;
        if self.size == 0 {
            return Ok(State::Trailer);
        }
        self.allowance = self.allowance.checked_sub(self.size).ok_or(LARGE_BODY)?;
        Ok(State::Data)
    }

    /// Collects a trailer line and judges it once it is whole.
    fn trailer(&mut self, input: &[u8]) -> Result<usize, Refusal> {
        let room = MOST_TRAILER_BYTES - self.trailer_bytes;
        let taken = memchr::memchr(b'\n', input).map_or(input.len(), |place| place + 1);
        if taken > room {
            return Err(LARGE_TRAILERS);
        }
        self.trailer_bytes += taken;
        self.line.extend_from_slice(&input[..taken]);
        match self.line.as_slice() {
            b"\r\n" => self.state = State::Done,
            [.., b'\n'] => judge_trailer(&self.line)?,
            _ => return Ok(taken),
        }
        self.line.clear();
        Ok(taken)
    }
}

fn judge_trailer(line: &[u8]) -> Result<(), Refusal> {
    match fields::line(line, 0)? {
        Some((field, _)) if framing::is_forbidden_trailer(field.name.of(line)) => {
            Err(FRAMING_TRAILER)
        }
        Some(_) => Ok(()),
        // The line ends in LF, so only a CR too many can leave it unfinished.
        None => Err(BARE_CR),
    }
}
