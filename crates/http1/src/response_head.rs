//! The head of a response (RFC 9112 section 4), as a client reads it.

use crate::classes::{self, VALUE};
use crate::fields::{self, Field};
use crate::framing::{Facts, ResponseFraming};
use crate::head::{Progress, Version};
use crate::limits::{Limits, Window};
use crate::method::Method;
use crate::refusal::{BAD_FIELD_VALUE, BAD_STATUS_LINE, LARGE_HEAD, Refusal};

/// What the head of a response says. Meaningful only after [`Progress::Complete`].
#[derive(Default, Clone, PartialEq, Eq, Debug)]
pub struct ResponseHead {
    /// The version.
    pub version: Version,
    /// Three digits.
    pub status: u16,
    /// The fields in their order.
    pub fields: Vec<Field>,
    /// Bytes of the head, the blank line included.
    pub len: usize,
    /// Where the body ends.
    pub framing: ResponseFraming,
    /// The server lets the connection be used again.
    pub keep_alive: bool,
}

impl ResponseHead {
    /// Reads the head of a response to a request of method `to` from the start of `input`.
    ///
    /// Only `header_count` and `header_bytes` of the limits apply; how much of a body to take is
    /// the reader's business. The status of a refusal means nothing here.
    pub fn parse(
        &mut self,
        input: &[u8],
        limits: &Limits,
        to: Method,
    ) -> Result<Progress, Refusal> {
        self.fields.clear();
        let window = Window::new(input, limits.header_bytes);
        match self.read(window.bytes, limits.header_count, to)? {
            Progress::Partial if window.full => Err(LARGE_HEAD),
            progress => Ok(progress),
        }
    }

    /// The value of the first field called `name` (lower case).
    pub fn field<'a>(&self, input: &'a [u8], name: &str) -> Option<&'a [u8]> {
        fields::find(&self.fields, input, name)
    }

    fn read(&mut self, input: &[u8], most: usize, to: Method) -> Result<Progress, Refusal> {
        let Some((version, status, next)) = status_line(input)? else {
            return Ok(Progress::Partial);
        };
        let mut facts = Facts::default();
        let Some(end) = fields::read(input, next, most, &mut self.fields, &mut facts)? else {
            return Ok(Progress::Partial);
        };
        self.framing = facts.response(status, to)?;
        self.keep_alive = facts.keep_alive(version) && self.framing != ResponseFraming::UntilClose;
        self.version = version;
        self.status = status;
        self.len = end;
        Ok(Progress::Complete)
    }
}

/// Version, status and where the next line starts; `None` if partial.
///
/// The space before an empty reason may be missing: servers in use leave it out.
fn status_line(input: &[u8]) -> Result<Option<(Version, u16, usize)>, Refusal> {
    const START: &[u8; 12] = b"HTTP/1.d ddd";
    for (&byte, &expected) in input.iter().zip(START) {
        let fits = if expected == b'd' { byte.is_ascii_digit() } else { byte == expected };
        if !fits {
            return Err(BAD_STATUS_LINE);
        }
    }
    let reason_end = match input.get(START.len()) {
        None => return Ok(None),
        Some(b' ') => START.len() + classes::run(&input[START.len()..], VALUE),
        Some(b'\r' | b'\n') => START.len(),
        Some(_) => return Err(BAD_STATUS_LINE),
    };
    let Some(next) = fields::line_end(input, reason_end).map_err(in_status_line)? else {
        return Ok(None);
    };
    let version = if input[7] == b'0' { Version::Http10 } else { Version::Http11 };
    let status = input[9..12].iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    if status < 100 { Err(BAD_STATUS_LINE) } else { Ok(Some((version, status, next))) }
}

fn in_status_line(refusal: Refusal) -> Refusal {
    if refusal == BAD_FIELD_VALUE { BAD_STATUS_LINE } else { refusal }
}
