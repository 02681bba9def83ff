//! The head of a request (RFC 9112 sections 2 to 5): stage by stage, left to right.

use crate::classes::{self, TOKEN};
use crate::fields::{self, Field, Span};
use crate::framing::{Facts, Framing};
use crate::limits::{Limits, Window};
use crate::method::Method;
use crate::refusal::{
    BAD_METHOD, BAD_VERSION, BARE_CR, LARGE_HEAD, LONG_REQUEST_LINE, Refusal, UNKNOWN_VERSION,
};
use crate::target::{self, Authority};

/// The protocol version of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, and any later 1.x, which it understands.
    #[default]
    Http11,
}

/// Whether a whole head was there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Everything is filled in.
    Complete,
    /// More bytes are needed; what is filled in means nothing.
    Partial,
}

/// What the head of a request says. Spans are offsets into the input that was parsed.
///
/// Meant to be used again and again: the fields keep their memory. Meaningful only after
/// [`Progress::Complete`].
#[derive(Default, Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// The method as it was sent.
    pub method_name: Span,
    /// The whole request target.
    pub target: Span,
    /// Its path, never decoded: `*` in asterisk-form, empty in authority-form, `/` if an
    /// absolute-form has none.
    pub path: Span,
    /// What follows the first `?`.
    pub query: Option<Span>,
    /// The version.
    pub version: Version,
    /// The fields in their order.
    pub fields: Vec<Field>,
    /// Bytes of the head, a skipped empty line before and the blank line after it included.
    pub len: usize,
    /// Where the body ends. A body of length zero is `Framing::None`.
    pub framing: Framing,
    /// The client allows another request on this connection.
    pub keep_alive: bool,
    /// The client waits for `100 Continue` before it sends its body.
    pub expect_continue: bool,
    /// The client offers to change the protocol (`Upgrade` named by `Connection`).
    pub upgrade: bool,
    /// Value of the Host field.
    pub host: Option<Span>,
}

/// What the request line leaves to judge.
struct RequestLine {
    authority: Option<Authority>,
    /// Without an empty line before and without its line end.
    len: usize,
    /// Where the first field starts.
    end: usize,
}

impl Head {
    /// Reads one head from the start of `input`.
    ///
    /// Whether and why it is refused does not depend on how the bytes were cut into pieces.
    #[inline]
    pub fn parse(&mut self, input: &[u8], limits: &Limits) -> Result<Progress, Refusal> {
        self.fields.clear();
        let window = Window::new(input, limits.header_bytes);
        let line = match self.request_line(window.bytes) {
            Ok(Some(line)) if line.len <= limits.request_line => line,
            _ => return self.unfinished_line(input, limits),
        };
        let mut facts = Facts::default();
        let most = limits.header_count;
        match fields::read(window.bytes, line.end, most, &mut self.fields, &mut facts)? {
            Some(end) => self.conclude(window.bytes, &facts, &line, end, limits),
            None if window.full => Err(LARGE_HEAD),
            None => Ok(Progress::Partial),
        }
    }

    /// [`parse`](Self::parse) for input whose first `seen` bytes were partial before.
    ///
    /// Parses only once another line has come in, so a client that sends byte by byte costs no
    /// more than one pass for each line. Faults inside a line are noticed at its end.
    pub fn parse_more(
        &mut self,
        input: &[u8],
        seen: usize,
        limits: &Limits,
    ) -> Result<Progress, Refusal> {
        let fresh = input.get(seen..).unwrap_or_default();
        let line = Window::new(input, limits.request_line.saturating_add(4));
        let undecided = input.len() < limits.header_bytes
            && memchr::memchr(b'\n', fresh).is_none()
            && (!line.full || memchr::memchr(b'\n', &line.bytes[2..]).is_some());
        if undecided { Ok(Progress::Partial) } else { self.parse(input, limits) }
    }

    /// The value of the first field called `name` (lower case).
    pub fn field<'a>(&self, input: &'a [u8], name: &str) -> Option<&'a [u8]> {
        fields::find(&self.fields, input, name)
    }

    /// What to say if the line is not there in full, is refused, or is too long: looks no
    /// further than its limit, so that the answer does not depend on what has already come.
    #[cold]
    fn unfinished_line(&mut self, input: &[u8], limits: &Limits) -> Result<Progress, Refusal> {
        let most = limits.request_line.saturating_add(first_line(input) + 2);
        let window = Window::new(input, most);
        match self.request_line(window.bytes)? {
            None if window.full => Err(LONG_REQUEST_LINE),
            None => Ok(Progress::Partial),
            // It is there, only not within the limit of the whole head.
            Some(_) => Err(LARGE_HEAD),
        }
    }

    /// Reads the request line, after at most one empty line (RFC 9112 section 2.2).
    #[inline]
    fn request_line(&mut self, input: &[u8]) -> Result<Option<RequestLine>, Refusal> {
        let start = first_line(input);
        if start > 0 && !input.starts_with(b"\r\n") {
            return if input.len() < 2 { Ok(None) } else { Err(BARE_CR) };
        }
        let Some((method, space)) = method(input, start)? else {
            return Ok(None);
        };
        let Some(target) = target::read(input, space + 1, method)? else {
            return Ok(None);
        };
        let target_end = target.whole.end as usize;
        let Some((version, end)) = version(input, target_end + 1)? else {
            return Ok(None);
        };
        self.method = method;
        self.method_name = Span::new(start, space);
        self.target = target.whole;
        self.path = target.path;
        self.query = target.query;
        self.version = version;
        Ok(Some(RequestLine { authority: target.authority, len: end - 2 - start, end }))
    }

    /// Judges the head as a whole.
    #[inline]
    fn conclude(
        &mut self,
        input: &[u8],
        facts: &Facts,
        line: &RequestLine,
        end: usize,
        limits: &Limits,
    ) -> Result<Progress, Refusal> {
        let version = self.version;
        self.host = facts.host(input, version)?;
        target::agree(input, line.authority, self.host)?;
        self.framing = facts.request(self.method, version, limits.body_bytes)?;
        self.expect_continue = facts.expects_continue(version)? && self.framing != Framing::None;
        self.keep_alive = facts.keep_alive(version);
        self.upgrade = facts.upgrade(version);
        self.len = end;
        Ok(Progress::Complete)
    }
}

/// Where the request line starts if the input is a head: behind an empty line, if there is one.
#[inline]
fn first_line(input: &[u8]) -> usize {
    if input.first() == Some(&b'\r') { 2 } else { 0 }
}

/// The method and the place of the space behind it; `None` if partial.
#[inline]
fn method(input: &[u8], start: usize) -> Result<Option<(Method, usize)>, Refusal> {
    if input[start..].starts_with(b"GET ") {
        return Ok(Some((Method::Get, start + 3)));
    }
    let rest = &input[start..];
    let (name, after) = rest.split_at(classes::run(rest, TOKEN));
    match after {
        [] => Ok(None),
        [b' ', ..] if !name.is_empty() => Ok(Some((Method::from_bytes(name), start + name.len()))),
        _ => Err(BAD_METHOD),
    }
}

/// The version and the place behind its line end; `None` if partial.
#[inline]
fn version(input: &[u8], start: usize) -> Result<Option<(Version, usize)>, Refusal> {
    let rest = &input[start..];
    if rest.starts_with(b"HTTP/1.1\r\n") {
        return Ok(Some((Version::Http11, start + 10)));
    }
    unusual_version(rest).map(|version| version.map(|version| (version, start + 10)))
}

/// Byte by byte, so that a prefix is refused for what it already shows.
#[cold]
fn unusual_version(rest: &[u8]) -> Result<Option<Version>, Refusal> {
    let pattern = b"HTTP/d.d\r\n";
    for (&byte, &expected) in rest.iter().zip(pattern) {
        let fits = if expected == b'd' { byte.is_ascii_digit() } else { byte == expected };
        if !fits {
            return Err(BAD_VERSION);
        }
    }
    match rest.get(..10) {
        None => Ok(None),
        Some(line) if line[5] != b'1' => Err(UNKNOWN_VERSION),
        Some(line) if line[7] == b'0' => Ok(Some(Version::Http10)),
        Some(_) => Ok(Some(Version::Http11)),
    }
}
