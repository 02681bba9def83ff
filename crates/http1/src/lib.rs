//! Strict, sans-IO HTTP/1.1: bytes in, facts out; facts in, bytes out.
//!
//! ```text
//!             limits.rs   refusal.rs   method.rs   classes.rs
//!                 \           |            |          /
//! request bytes -> head.rs -> target.rs -> fields.rs -> framing.rs -> Head
//! body bytes    -> chunked.rs -> plain bytes
//! response bytes -> response_head.rs -> ResponseHead
//! Answer + prelude.rs + status.rs -> response.rs -> response bytes
//! query, form and cookie bytes -> decode.rs -> pairs
//! multipart bytes -> multipart.rs -> multipart_head.rs -> parts
//! what a proxy says before the first request -> proxy.rs -> Proxied
//! ```
//!
//! Nothing here does I/O, reads a clock or allocates while a [`Head`] that has been used before
//! is filled again. Partial input is never an error: the caller keeps the bytes and comes back
//! with more. What is refused, and with which status, stands in `refusal.rs`; what decides
//! where a message ends stands in `framing.rs` and nowhere else.
//!
//! ```
//! use http1::{Answer, Head, Limits, Owed, Payload, Prelude, Progress, write};
//!
//! let input = b"GET /hello?name=x HTTP/1.1\r\nHost: example.com\r\n\r\n";
//! let mut head = Head::default();
//! assert_eq!(Ok(Progress::Complete), head.parse(input, &Limits::default()));
//! assert_eq!(b"/hello", head.path.of(input));
//! assert_eq!(Some(&b"example.com"[..]), head.field(input, "host"));
//!
//! let mut output = Vec::new();
//! let answer = Answer {
//!     status: 200,
//!     content_type: Some(b"text/plain"),
//!     fields: b"",
//!     payload: Payload::Bytes(b"Hello world!"),
//! };
//! write(&mut output, &Prelude::new(Some("tarmac"), false), Owed::to(&head), &answer);
//! assert!(output.ends_with(b"Content-Length: 12\r\n\r\nHello world!"));
//! ```
//!
//! Deliberately absent: lenient parsing, content codings, HTTP/2.

#![forbid(unsafe_code)]

mod chunked;
mod classes;
mod decode;
mod fields;
mod framing;
mod head;
mod limits;
mod method;
mod multipart;
mod multipart_head;
mod parameters;
mod prelude;
mod proxy;
mod refusal;
mod response;
mod response_head;
mod status;
mod target;

pub use chunked::{Chunked, Decoded};
pub use decode::{cookies, pairs, percent_decode};
pub use fields::{Field, Span};
pub use framing::{Framing, ResponseFraming};
pub use head::{Head, Progress, Version};
pub use limits::Limits;
pub use method::Method;
pub use multipart::{FormLimits, Multipart, PartEvent, PartStep};
pub use multipart_head::{PartHead, boundary};
pub use prelude::{Prelude, format_date};
pub use proxy::{LONGEST_PROXY_HEADER, NotProxied, Proxied, proxy_header};
pub use refusal::{Refusal, RefusalKind};
pub use response::{
    Answer, FieldError, Owed, Payload, has_no_content, push_any_field, push_field, write,
    write_chunk, write_chunk_head, write_continue, write_last_chunk, write_refusal,
};
pub use response_head::ResponseHead;
