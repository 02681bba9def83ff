//! Where a message ends (RFC 9112 section 6): every rule that keeps two readers of one byte
//! stream from disagreeing about it. No other file decides on framing.
//!
//! ```text
//!                      Transfer-Encoding
//!                    none        chunked, once     anything else
//! Content-Length
//!   none             no body     Chunked           400
//!   one number       Length      400               400
//!   anything else    400         400               400
//! ```
//!
//! HTTP/1.0 has no Transfer-Encoding: 400. CONNECT and TRACE have no body: 400.

use crate::classes::is_name;
use crate::fields::Span;
use crate::head::Version;
use crate::method::Method;
use crate::refusal::{
    BAD_CODING, BAD_HOST, BAD_LENGTH, CODING_IN_HTTP10, DOUBLE_HOST, DOUBLE_LENGTH, LARGE_BODY,
    LENGTH_AND_CODING, NO_HOST, Refusal, UNEXPECTED_BODY, UNKNOWN_EXPECTATION,
};
use crate::target;

/// Where the body of a request ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing {
    /// There is no body.
    #[default]
    None,
    /// After that many bytes; never zero.
    Length(u64),
    /// Where the chunked coding says.
    Chunked,
}

/// Where the body of a response ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResponseFraming {
    /// There is no body.
    #[default]
    None,
    /// After that many bytes; never zero.
    Length(u64),
    /// Where the chunked coding says.
    Chunked,
    /// Where the connection does.
    UntilClose,
}

/// What the fields of a head say about the message as a whole.
#[derive(Default)]
pub(crate) struct Facts {
    hosts: u32,
    host: Span,
    length: Option<u64>,
    /// The marks below; nearly every request has none of them.
    marks: u8,
}

const CLOSE: u8 = 1;
const KEEP_ALIVE: u8 = 2;
/// Connection names the Upgrade field.
const UPGRADE_OPTION: u8 = 4;
const UPGRADE_FIELD: u8 = 8;
const EXPECT_CONTINUE: u8 = 16;
const EXPECT_OTHER: u8 = 32;
const CHUNKED: u8 = 64;
const OTHER_CODING: u8 = 128;

impl Facts {
    /// Takes in one field; refuses what is malformed in a request and in a response alike.
    #[inline]
    pub(crate) fn add(&mut self, name: &[u8], span: Span, input: &[u8]) -> Result<(), Refusal> {
        let value = span.of(input);
        // The length alone settles nearly every field.
        match name.len() {
            4 if is_name(name, b"host") => {
                self.hosts += 1;
                self.host = span;
            }
            6 if is_name(name, b"expect") => self.add_expect(value),
            7 if is_name(name, b"upgrade") => self.marks |= UPGRADE_FIELD,
            10 if is_name(name, b"connection") => self.add_connection(value),
            14 if is_name(name, b"content-length") => self.add_length(value)?,
            17 if is_name(name, b"transfer-encoding") => self.add_coding(value),
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn add_expect(&mut self, value: &[u8]) {
        let met = value.eq_ignore_ascii_case(b"100-continue");
        self.marks |= if met { EXPECT_CONTINUE } else { EXPECT_OTHER };
    }

    #[inline(never)]
    fn add_connection(&mut self, value: &[u8]) {
        // What browsers and HTTP/1.0 clients send, without looking for a list.
        if matches!(value, b"keep-alive" | b"Keep-Alive") {
            self.marks |= KEEP_ALIVE;
            return;
        }
        for option in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            if option.eq_ignore_ascii_case(b"close") {
                self.marks |= CLOSE;
            } else if option.eq_ignore_ascii_case(b"keep-alive") {
                self.marks |= KEEP_ALIVE;
            } else if option.eq_ignore_ascii_case(b"upgrade") {
                self.marks |= UPGRADE_OPTION;
            }
        }
    }

    /// One number, once. RFC 9110 section 8.6 would allow equal repetitions; nobody needs them.
    fn add_length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.length.is_some() {
            return Err(DOUBLE_LENGTH);
        }
        self.length = Some(number(value).ok_or(BAD_LENGTH)?);
        Ok(())
    }

    #[cold]
    fn add_coding(&mut self, value: &[u8]) {
        let first = !self.has(CHUNKED | OTHER_CODING);
        let chunked = first && value.eq_ignore_ascii_case(b"chunked");
        self.marks |= if chunked { CHUNKED } else { OTHER_CODING };
    }

    #[inline]
    fn has(&self, any: u8) -> bool {
        self.marks & any != 0
    }

    /// The Host field: exactly one in HTTP/1.1, at most one in HTTP/1.0 (RFC 9112 section 3.2).
    #[inline]
    pub(crate) fn host(&self, input: &[u8], version: Version) -> Result<Option<Span>, Refusal> {
        match self.hosts {
            0 if version == Version::Http10 => Ok(None),
            0 => Err(NO_HOST),
            1 if target::is_authority(self.host.of(input)) => Ok(Some(self.host)),
            1 => Err(BAD_HOST),
            _ => Err(DOUBLE_HOST),
        }
    }

    /// Where the body of a request ends.
    #[inline]
    pub(crate) fn request(
        &self,
        method: Method,
        version: Version,
        most: u64,
    ) -> Result<Framing, Refusal> {
        let framing = match self.length {
            None if !self.has(CHUNKED | OTHER_CODING) => return Ok(Framing::None),
            Some(_) if self.has(CHUNKED | OTHER_CODING) => return Err(LENGTH_AND_CODING),
            Some(0) => return Ok(Framing::None),
            Some(length) => Framing::Length(length),
            None if self.has(OTHER_CODING) => return Err(BAD_CODING),
            None if version == Version::Http10 => return Err(CODING_IN_HTTP10),
            None => Framing::Chunked,
        };
        match framing {
            _ if matches!(method, Method::Connect | Method::Trace) => Err(UNEXPECTED_BODY),
            Framing::Length(length) if length > most => Err(LARGE_BODY),
            framing => Ok(framing),
        }
    }

    /// Where the body of a response ends (RFC 9112 section 6.3, in its order).
    pub(crate) fn response(&self, status: u16, to: Method) -> Result<ResponseFraming, Refusal> {
        let tunnel = to == Method::Connect && (200..300).contains(&status);
        let coded = self.has(CHUNKED | OTHER_CODING);
        Ok(match self.length {
            Some(_) if coded => return Err(LENGTH_AND_CODING),
            _ if to == Method::Head || has_no_body(status) || tunnel => ResponseFraming::None,
            Some(0) => ResponseFraming::None,
            Some(length) => ResponseFraming::Length(length),
            None if coded && !self.has(OTHER_CODING) => ResponseFraming::Chunked,
            None => ResponseFraming::UntilClose,
        })
    }

    /// Whether the sender will use the connection again (RFC 9112 section 9.3).
    #[inline]
    pub(crate) fn keep_alive(&self, version: Version) -> bool {
        !self.has(CLOSE) && (version == Version::Http11 || self.has(KEEP_ALIVE))
    }

    /// Whether a change of protocol is offered (RFC 9110 section 7.8: not in HTTP/1.0).
    #[inline]
    pub(crate) fn upgrade(&self, version: Version) -> bool {
        self.has(UPGRADE_FIELD) && self.has(UPGRADE_OPTION) && version == Version::Http11
    }

    /// Whether `100 Continue` is awaited (RFC 9110 section 10.1.1: ignored in HTTP/1.0).
    #[inline]
    pub(crate) fn expects_continue(&self, version: Version) -> Result<bool, Refusal> {
        match version {
            Version::Http10 => Ok(false),
            Version::Http11 if self.has(EXPECT_OTHER) => Err(UNKNOWN_EXPECTATION),
            Version::Http11 => Ok(self.has(EXPECT_CONTINUE)),
        }
    }
}

/// Statuses whose responses end with their head (RFC 9112 section 6.3).
#[inline]
pub(crate) fn has_no_body(status: u16) -> bool {
    status < 200 || status == 204 || status == 304
}

/// Fields that decide on framing or routing and so may not come late (RFC 9110 section 6.5.1).
/// All other trailers are dropped, so they can do no harm.
pub(crate) fn is_forbidden_trailer(name: &[u8]) -> bool {
    const FORBIDDEN: [&str; 10] = [
        "transfer-encoding",
        "content-length",
        "host",
        "connection",
        "keep-alive",
        "proxy-connection",
        "upgrade",
        "te",
        "trailer",
        "expect",
    ];
    FORBIDDEN.iter().any(|forbidden| name.eq_ignore_ascii_case(forbidden.as_bytes()))
}

/// A decimal number of digits only; what does not fit is as large as can be said.
#[inline(never)]
fn number(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0_u64, |number, digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    }))
}
