//! Writing responses: the head with its framing, chunks, refusals.
//!
//! The writer owns Content-Length, Transfer-Encoding, Connection and Date, so that what it sends
//! and what it announces cannot differ.

use crate::classes::{self, TOKEN, VALUE};
use crate::framing::has_no_body;
use crate::head::{Head, Version};
use crate::method::Method;
use crate::prelude::Prelude;
use crate::refusal::Refusal;
use crate::status;

/// What the request lets its response do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owed {
    /// Version of the request.
    pub version: Version,
    /// The connection stays open after the response.
    pub keep_alive: bool,
    /// The request was HEAD: the response ends with its head.
    pub head_only: bool,
}

impl Owed {
    /// What this request allows.
    #[inline]
    pub fn to(head: &Head) -> Self {
        Self {
            version: head.version,
            keep_alive: head.keep_alive,
            head_only: head.method == Method::Head,
        }
    }

    /// Whether [`Payload::Chunked`] will be chunked. HTTP/1.0 has no chunks: there the data
    /// follows as it is and ends with the connection, and the caller must close it.
    #[inline]
    pub fn chunks(self) -> bool {
        self.version == Version::Http11
    }
}

/// The content of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    /// All of it, written behind the head.
    Bytes(&'a [u8]),
    /// That many bytes, which the caller sends.
    Length(u64),
    /// Unknown; the caller sends chunks, see [`Owed::chunks`].
    Chunked,
}

/// A response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer<'a> {
    /// Three digits; anything else is sent as 500.
    pub status: u16,
    /// A valid field value.
    pub content_type: Option<&'a [u8]>,
    /// Lines rendered by [`push_field`].
    pub fields: &'a [u8],
    /// The content. 1xx, 204, 205 and 304 have none, whatever is said here.
    pub payload: Payload<'a>,
}

/// Why a field cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldError {
    /// The name is not a token.
    Name,
    /// The value contains a line end, NUL or another control character.
    Value,
    /// The writer itself decides on this field.
    Reserved,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Name => "the field name is not a token",
            Self::Value => "the field value contains a control character",
            Self::Reserved => "the field is decided by the server itself",
        })
    }
}

impl std::error::Error for FieldError {}

/// Appends the response: its head, and its content where that is [`Payload::Bytes`].
#[inline]
pub fn write(out: &mut Vec<u8>, prelude: &Prelude, owed: Owed, answer: &Answer<'_>) {
    let status = push_start(out, prelude, answer.status);
    if !owed.keep_alive || owed.version == Version::Http10 || status == 101 {
        push_connection(out, owed, status, answer.payload);
    }
    if let Some(content_type) = answer.content_type {
        out.extend_from_slice(b"Content-Type: ");
        out.extend_from_slice(content_type);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(answer.fields);
    if has_no_content(status) {
        return end_without_content(out, status);
    }
    match answer.payload {
        Payload::Bytes(content) => {
            push_length(out, content.len() as u64);
            if !owed.head_only {
                out.extend_from_slice(content);
            }
        }
        Payload::Length(length) => push_length(out, length),
        Payload::Chunked if owed.chunks() => {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
        }
        Payload::Chunked => out.extend_from_slice(b"\r\n"),
    }
}

/// Appends the status line and the prelude; tells which status that was.
#[inline]
fn push_start(out: &mut Vec<u8>, prelude: &Prelude, status: u16) -> u16 {
    if status == 200 {
        out.extend_from_slice(prelude.ok());
        return status;
    }
    let status = status::sendable(status);
    status::push_line(out, status);
    out.extend_from_slice(prelude.bytes());
    status
}

/// Appends `name: value` as a line, or says why that cannot be sent.
pub fn push_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
    if is_reserved(name) {
        return Err(FieldError::Reserved);
    }
    push_any_field(out, name, value)
}

/// [`push_field`] for one that knows that the writer does not decide on this field.
pub fn push_any_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
    if name.is_empty() || !classes::all(name, TOKEN) {
        return Err(FieldError::Name);
    }
    if !classes::all(value, VALUE) {
        return Err(FieldError::Value);
    }
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Appends one chunk; nothing for empty data, since an empty chunk ends the body.
pub fn write_chunk(out: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    push_hexadecimal(out, data.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(data);
    out.extend_from_slice(b"\r\n");
}

/// Appends what comes before a chunk of so many bytes, at least one; a line end has to follow it.
pub fn write_chunk_head(out: &mut Vec<u8>, length: u64) {
    debug_assert!(length > 0, "an empty chunk ends the body");
    // A file is never longer than the address space of any machine that sends it.
    push_hexadecimal(out, usize::try_from(length).unwrap_or(usize::MAX));
    out.extend_from_slice(b"\r\n");
}

/// Appends the chunk that ends the body.
pub fn write_last_chunk(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n\r\n");
}

/// Appends the interim response that an expectant client waits for.
pub fn write_continue(out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
}

/// Appends the last response of a connection: why the message was refused.
pub fn write_refusal(out: &mut Vec<u8>, prelude: &Prelude, refusal: &Refusal) {
    let owed = Owed { version: Version::Http11, keep_alive: false, head_only: false };
    let content = [refusal.reason.as_bytes(), b"\n"].concat();
    let answer = Answer {
        status: refusal.status,
        content_type: Some(b"text/plain; charset=utf-8"),
        fields: b"",
        payload: Payload::Bytes(&content),
    };
    write(out, prelude, owed, &answer);
}

/// Appends a decimal number.
#[inline]
pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    // Copies of known size take no call.
    match number {
        0..10 => out.extend_from_slice(&digits::<1>(number)),
        10..100 => out.extend_from_slice(&digits::<2>(number)),
        100..1000 => out.extend_from_slice(&digits::<3>(number)),
        1000..10_000 => out.extend_from_slice(&digits::<4>(number)),
        _ => push_large(out, number),
    }
}

#[inline(never)]
fn push_large(out: &mut Vec<u8>, number: u64) {
    let all = digits::<20>(number);
    let zeros = all.iter().take_while(|&&digit| digit == b'0').count();
    out.extend_from_slice(&all[zeros..]);
}

/// The last `N` digits of a number.
#[inline]
fn digits<const N: usize>(mut number: u64) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    digits
}

#[inline]
fn push_length(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"Content-Length: ");
    push_number(out, length);
    out.extend_from_slice(b"\r\n\r\n");
}

#[cold]
fn push_connection(out: &mut Vec<u8>, owed: Owed, status: u16, payload: Payload<'_>) {
    let content = !owed.head_only && !has_no_content(status);
    let unframed = content && payload == Payload::Chunked && !owed.chunks();
    out.extend_from_slice(match status {
        101 => b"Connection: Upgrade\r\n",
        _ if unframed || !owed.keep_alive => b"Connection: close\r\n",
        _ => b"Connection: keep-alive\r\n",
    });
}

/// Whether a response of this status ends with its head.
///
/// 205 is framed like any response, but never has content (RFC 9110 section 15.3.6).
#[inline]
pub fn has_no_content(status: u16) -> bool {
    status != 200 && (has_no_body(status) || status == 205)
}

/// RFC 9110 section 8.6 forbids a length with 1xx and 204, section 15.3.6 asks for zero with 205.
#[cold]
fn end_without_content(out: &mut Vec<u8>, status: u16) {
    if status == 205 {
        push_length(out, 0);
    } else {
        out.extend_from_slice(b"\r\n");
    }
}

fn is_reserved(name: &[u8]) -> bool {
    match name.len() {
        4 => name.eq_ignore_ascii_case(b"date"),
        10 => name.eq_ignore_ascii_case(b"connection"),
        14 => name.eq_ignore_ascii_case(b"content-length"),
        17 => name.eq_ignore_ascii_case(b"transfer-encoding"),
        _ => false,
    }
}

fn push_hexadecimal(out: &mut Vec<u8>, number: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut shift = (usize::BITS - number.leading_zeros()).div_ceil(4).max(1) * 4;
    while shift > 0 {
        shift -= 4;
        out.push(DIGITS[number >> shift & 15]);
    }
}
