//! The head of a request (RFC 9112 sections 2 to 5): stage by stage, left to right.

use crate::classes::{self, TOKEN};
use crate::fields::{self, Field, Span};
use crate::framing::{self, Framing};
use crate::limits::{Limits, Window};
use crate::method::Method;
use crate::refusal::{
    BAD_METHOD, BAD_VERSION, BARE_CR, LARGE_HEAD, LONG_REQUEST_LINE, Refusal, UNKNOWN_VERSION,
};
use crate::target::{self, Target};

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
    /// More bytes are needed; nothing is filled in.
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

/// What the request line says.
struct RequestLine {
    method: Method,
    method_name: Span,
    target: Target,
    version: Version,
    end: usize,
}

impl Head {
    /// Reads one head from the start of `input`.
    ///
    /// Whether and why it is refused does not depend on how the bytes were cut into pieces.
    #[inline]
    pub fn parse(&mut self, input: &[u8], limits: &Limits) -> Result<Progress, Refusal> {
        self.fields.clear();
        let Some(line) = request_line(input, limits)? else {
            return Ok(Progress::Partial);
        };
        let window = Window::new(input, limits.header_bytes);
        let end = if line.end > window.bytes.len() {
            None
        } else {
            fields::read(window.bytes, line.end, limits.header_count, &mut self.fields)?
        };
        match end {
            Some(end) => self.judge(input, &line, end, limits),
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

    fn judge(
        &mut self,
        input: &[u8],
        line: &RequestLine,
        end: usize,
        limits: &Limits,
    ) -> Result<Progress, Refusal> {
        let facts = framing::gather(input, &self.fields)?;
        self.host = facts.host(input, line.version)?;
        if let Some(host) = self.host {
            target::agree(input, &line.target, host)?;
        }
        self.framing = facts.request(line.method, line.version, limits.body_bytes)?;
        self.expect_continue =
            facts.expects_continue(line.version)? && self.framing != Framing::None;
        self.keep_alive = facts.keep_alive(line.version);
        self.upgrade = facts.upgrade(line.version);
        self.method = line.method;
        self.method_name = line.method_name;
        self.target = line.target.whole;
        self.path = line.target.path;
        self.query = line.target.query;
        self.version = line.version;
        self.len = end;
        Ok(Progress::Complete)
    }
}

/// Reads the request line, after at most one empty line (RFC 9112 section 2.2).
#[inline]
fn request_line(input: &[u8], limits: &Limits) -> Result<Option<RequestLine>, Refusal> {
    let start = if input.first() == Some(&b'\r') { 2 } else { 0 };
    let window = Window::new(input, limits.request_line.saturating_add(start + 2));
    match read_line(window.bytes, start)? {
        None if window.full => Err(LONG_REQUEST_LINE),
        line => Ok(line),
    }
}

#[inline]
fn read_line(input: &[u8], start: usize) -> Result<Option<RequestLine>, Refusal> {
    match input.get(1) {
        None => return Ok(None),
        Some(b'\n') => {}
        Some(_) if start > 0 => return Err(BARE_CR),
        Some(_) => {}
    }
    let space = classes::run(input, start, TOKEN);
    match input.get(space) {
        None => return Ok(None),
        Some(b' ') if space > start => {}
        Some(_) => return Err(BAD_METHOD),
    }
    let method_name = Span::new(start, space);
    let method = Method::from_bytes(method_name.of(input));
    let Some(target) = target::read(input, space + 1, method)? else {
        return Ok(None);
    };
    let Some((version, end)) = version(input, target.whole.end as usize + 1)? else {
        return Ok(None);
    };
    Ok(Some(RequestLine { method, method_name, target, version, end }))
}

/// The version and the line end behind it; `None` if partial.
#[inline]
fn version(input: &[u8], start: usize) -> Result<Option<(Version, usize)>, Refusal> {
    let rest = &input[start..];
    match rest.get(..10) {
        Some(b"HTTP/1.1\r\n") => Ok(Some((Version::Http11, start + 10))),
        Some(b"HTTP/1.0\r\n") => Ok(Some((Version::Http10, start + 10))),
        _ => unusual_version(rest).map(|version| version.map(|version| (version, start + 10))),
    }
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
