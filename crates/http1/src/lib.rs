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
//! ```
//!
//! Nothing here does I/O, reads a clock or allocates while a [`Head`] that has been used before
//! is filled again. Partial input is never an error: the caller keeps the bytes and comes back
//! with more. What is refused, and with which status, stands in `refusal.rs`; what decides
//! where a message ends stands in `framing.rs` and nowhere else.
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
mod prelude;
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
pub use prelude::{Prelude, format_date};
pub use refusal::{Refusal, RefusalKind};
pub use response::{
    Answer, FieldError, Owed, Payload, push_field, write, write_chunk, write_continue,
    write_last_chunk, write_refusal,
};
pub use response_head::ResponseHead;
