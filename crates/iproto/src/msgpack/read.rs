//! Reading msgpack token by token, never past the end of the input.

use crate::error::{ErrorKind, ProtocolError};

type Result<T> = std::result::Result<T, ProtocolError>;

/// One token: a whole value, or the head of an array or map whose values follow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Token<'a> {
    /// Nothing.
    Nil,
    /// True or false.
    Bool(bool),
    /// An integer in one of the signed formats.
    Int(i64),
    /// An integer in one of the unsigned formats.
    UInt(u64),
    /// A float of four bytes.
    F32(f32),
    /// A float of eight bytes.
    F64(f64),
    /// Text; the server does not promise UTF-8.
    Str(&'a [u8]),
    /// Binary data.
    Bin(&'a [u8]),
    /// The head of an array of that many values.
    Array(u32),
    /// The head of a map of that many pairs.
    Map(u32),
    /// An extension value: its type and its payload.
    Ext(i8, &'a [u8]),
}

/// A cursor over msgpack. Cheap to copy: a copy is a place to come back to.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    input: &'a [u8],
    at: usize,
}

/// The whole width of a value by its marker; zero where the marker alone does not say it.
const WIDTHS: [u8; 256] = widths();

const fn widths() -> [u8; 256] {
    let mut widths = [0; 256];
    let mut marker = 0u8;
    loop {
        widths[marker as usize] = match marker {
            0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => 1,
            0xa0..=0xbf => 1 + (marker & 0x1f),
            0xcc | 0xd0 => 2,
            0xcd | 0xd1 | 0xd4 => 3,
            0xd5 => 4,
            0xca | 0xce | 0xd2 => 5,
            0xd6 => 6,
            0xcb | 0xcf | 0xd3 => 9,
            0xd7 => 10,
            0xd8 => 18,
            _ => 0,
        };
        if marker == u8::MAX {
            return widths;
        }
        marker += 1;
    }
}

impl<'a> Reader<'a> {
    /// Reads `input` from its start.
    #[inline]
    pub const fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// Reads `input` from byte `at`; from its end if there are fewer bytes.
    #[inline]
    pub fn starting_at(input: &'a [u8], at: usize) -> Self {
        Self { input, at: at.min(input.len()) }
    }

    /// How many bytes were read.
    #[inline]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The bytes not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.input[self.at..]
    }

    /// Whether everything was read.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.at >= self.input.len()
    }

    /// The bytes from `start`, a position reached earlier, up to here.
    #[inline]
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.input.get(start..self.at).unwrap_or_default()
    }

    /// Reads one token.
    #[inline]
    pub fn token(&mut self) -> Result<Token<'a>> {
        let start = self.at;
        let token = self.token_from_marker();
        if token.is_err() {
            self.at = start;
        }
        token
    }

    #[inline]
    fn token_from_marker(&mut self) -> Result<Token<'a>> {
        let marker = self.byte()?;
        Ok(match marker {
            0x00..=0x7f => Token::UInt(u64::from(marker)),
            0x80..=0x8f => Token::Map(u32::from(marker & 0x0f)),
            0x90..=0x9f => Token::Array(u32::from(marker & 0x0f)),
            0xa0..=0xbf => Token::Str(self.take(usize::from(marker & 0x1f))?),
            0xe0..=0xff => Token::Int(i64::from(i8::from_be_bytes([marker]))),
            0xc0 => Token::Nil,
            0xc1 => return Err(self.fault(ErrorKind::BadMarker, "a msgpack value", 1)),
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xc4..=0xc6 => Token::Bin(self.counted(1 << (marker - 0xc4))?),
            0xc7..=0xc9 => self.extension(1 << (marker - 0xc7))?,
            0xca => Token::F32(f32::from_be_bytes(self.digits()?)),
            0xcb => Token::F64(f64::from_be_bytes(self.digits()?)),
            0xcc => Token::UInt(u64::from(self.byte()?)),
            0xcd => Token::UInt(u64::from(u16::from_be_bytes(self.digits()?))),
            0xce => Token::UInt(u64::from(u32::from_be_bytes(self.digits()?))),
            0xcf => Token::UInt(u64::from_be_bytes(self.digits()?)),
            0xd0 => Token::Int(i64::from(i8::from_be_bytes(self.digits()?))),
            0xd1 => Token::Int(i64::from(i16::from_be_bytes(self.digits()?))),
            0xd2 => Token::Int(i64::from(i32::from_be_bytes(self.digits()?))),
            0xd3 => Token::Int(i64::from_be_bytes(self.digits()?)),
            0xd4..=0xd8 => self.extension_of(1 << (marker - 0xd4))?,
            0xd9..=0xdb => Token::Str(self.counted(1 << (marker - 0xd9))?),
            0xdc => Token::Array(u32::from(u16::from_be_bytes(self.digits()?))),
            0xdd => Token::Array(u32::from_be_bytes(self.digits()?)),
            0xde => Token::Map(u32::from(u16::from_be_bytes(self.digits()?))),
            0xdf => Token::Map(u32::from_be_bytes(self.digits()?)),
        })
    }

    /// Skips one value with everything inside it.
    ///
    /// Counts the values still owed instead of keeping a stack, so depth costs nothing and
    /// cannot be used against the reader. On an error the position stays where it was.
    pub fn skip(&mut self) -> Result<()> {
        self.skip_many(1)
    }

    /// Skips `count` values, each with everything inside it.
    #[inline]
    pub fn skip_many(&mut self, count: usize) -> Result<()> {
        let mut at = self.at;
        let mut owed = count;
        while owed > 0 {
            let Some(&marker) = self.input.get(at) else { break };
            match WIDTHS[usize::from(marker)] {
                0 => {
                    let (next, inside) = self.step_over(marker, at)?;
                    at = next;
                    owed = (owed - 1).saturating_add(inside);
                    // Every value takes a byte: a count beyond the input is a lie, said at once.
                    if owed > self.input.len().saturating_sub(at) {
                        break;
                    }
                }
                width => {
                    at += usize::from(width);
                    owed -= 1;
                }
            }
        }
        if owed > 0 || at > self.input.len() {
            return Err(self.fault(ErrorKind::Truncated, "as many values as claimed", 0));
        }
        self.at = at;
        Ok(())
    }

    /// Where the token at `at` ends, and how many values it owes; for those whose marker alone
    /// does not say it.
    fn step_over(self, marker: u8, at: usize) -> Result<(usize, usize)> {
        let mut inner = Self { at: at + 1, ..self };
        let payload = match marker {
            0x90..=0x9f => return Ok((at + 1, usize::from(marker & 0x0f))),
            0x80..=0x8f => return Ok((at + 1, 2 * usize::from(marker & 0x0f))),
            0xdc | 0xdd => {
                let count = inner.length(2 << (marker - 0xdc))?;
                return Ok((inner.at, count));
            }
            0xde | 0xdf => {
                let count = inner.length(2 << (marker - 0xde))?;
                return Ok((inner.at, count.saturating_mul(2)));
            }
            0xc4..=0xc6 => inner.length(1 << (marker - 0xc4))?,
            0xd9..=0xdb => inner.length(1 << (marker - 0xd9))?,
            0xc7..=0xc9 => inner.length(1 << (marker - 0xc7))?.saturating_add(1),
            _ => return Err(inner.fault(ErrorKind::BadMarker, "a msgpack value", 1)),
        };
        Ok((inner.at.saturating_add(payload), 0))
    }

    /// Reads an unsigned number.
    #[inline]
    pub fn uint(&mut self) -> Result<u64> {
        self.expect("an unsigned number", |token| match token {
            Token::UInt(value) => Some(value),
            Token::Int(value) => u64::try_from(value).ok(),
            _ => None,
        })
    }

    /// Reads an integer that fits 64 signed bits.
    pub fn int(&mut self) -> Result<i64> {
        self.expect("an integer", |token| match token {
            Token::Int(value) => Some(value),
            Token::UInt(value) => i64::try_from(value).ok(),
            _ => None,
        })
    }

    /// Reads text as the bytes it came in.
    pub fn str_bytes(&mut self) -> Result<&'a [u8]> {
        self.expect("text", |token| match token {
            Token::Str(value) => Some(value),
            _ => None,
        })
    }

    /// Reads text that must be UTF-8.
    pub fn str(&mut self) -> Result<&'a str> {
        let start = self.at;
        let bytes = self.str_bytes()?;
        str::from_utf8(bytes)
            .map_err(|_| ProtocolError::new(ErrorKind::BadText, "UTF-8 text", start))
    }

    /// Reads the head of an array.
    #[inline]
    pub fn array(&mut self) -> Result<u32> {
        if let Some(&short @ 0x90..=0x9f) = self.input.get(self.at) {
            self.at += 1;
            return Ok(u32::from(short & 0x0f));
        }
        self.expect("an array", |token| match token {
            Token::Array(len) => Some(len),
            _ => None,
        })
    }

    /// Reads the head of a map.
    #[inline]
    pub fn map(&mut self) -> Result<u32> {
        self.expect("a map", |token| match token {
            Token::Map(len) => Some(len),
            _ => None,
        })
    }

    /// Reads one whole value as the bytes it came in.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8]> {
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Fails unless everything was read.
    pub fn finish(&self) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        Err(self.fault(ErrorKind::Trailing, "the end", 0))
    }

    #[inline]
    fn expect<T>(
        &mut self,
        expected: &'static str,
        pick: impl FnOnce(Token<'a>) -> Option<T>,
    ) -> Result<T> {
        let start = self.at;
        let token = self.token()?;
        pick(token).ok_or_else(|| {
            self.at = start;
            ProtocolError::new(ErrorKind::WrongType, expected, start)
        })
    }

    #[cold]
    fn extension(&mut self, width: usize) -> Result<Token<'a>> {
        let len = self.length(width)?;
        self.extension_of(len)
    }

    fn extension_of(&mut self, len: usize) -> Result<Token<'a>> {
        let kind = i8::from_be_bytes(self.digits()?);
        Ok(Token::Ext(kind, self.take(len)?))
    }

    fn counted(&mut self, width: usize) -> Result<&'a [u8]> {
        let len = self.length(width)?;
        self.take(len)
    }

    #[inline]
    fn length(&mut self, width: usize) -> Result<usize> {
        Ok(self.take(width)?.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)))
    }

    #[inline]
    fn byte(&mut self) -> Result<u8> {
        match self.input.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => Err(self.fault(ErrorKind::Truncated, "a msgpack value", 0)),
        }
    }

    #[inline]
    fn digits<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest().first_chunk() {
            Some(digits) => {
                self.at += N;
                Ok(*digits)
            }
            None => Err(self.fault(ErrorKind::Truncated, "the rest of a number", 0)),
        }
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        match self.rest().get(..len) {
            Some(bytes) => {
                self.at += len;
                Ok(bytes)
            }
            None => Err(self.fault(ErrorKind::Truncated, "the rest of a value", 0)),
        }
    }

    /// A fault `back` bytes before here.
    #[cold]
    fn fault(&self, kind: ErrorKind, expected: &'static str, back: usize) -> ProtocolError {
        ProtocolError::new(kind, expected, self.at - back)
    }
}
