//! Strict, sans-IO WebSocket (RFC 6455) with permessage-deflate (RFC 7692).
//!
//! ```text
//!             fault.rs   close.rs   text.rs
//!                  \        |        /
//! bytes ─► header.rs ─► mask.rs ─► inflate.rs ─► decoder.rs ─► messages, pings, pongs, a close
//! message ─► deflate.rs ─► encoder.rs ─► bytes
//! fields of a request ─► extension.rs ─► opening.rs ─► fields of the answer, or a refusal
//! ```
//!
//! Nothing here does I/O, reads a clock or makes random numbers. Partial input is never an
//! error, and the decoder never wants the same byte twice: it takes every byte that it is given,
//! so a connection needs to keep no input. What is wrong with a peer's bytes is a [`Fault`],
//! whose close code is what the peer is to be told.
//!
//! ```
//! use websocket::{Decoder, Event, Kind, Role, encode};
//!
//! let mut decoder = Decoder::new(Role::Client, 1024);
//! let (mut wire, mut message) = (Vec::new(), Vec::new());
//! encode(&mut wire, Kind::Text.into(), b"Hello");
//! let (consumed, event) = decoder.decode(&wire, &mut message).expect("no fault");
//! assert_eq!((7, Some(Event::Message(Kind::Text))), (consumed, event));
//! assert_eq!(b"Hello", &message[..]);
//! ```
//!
//! Deliberately absent: other extensions, opening handshakes of a client.

#![forbid(unsafe_code)]

mod close;
mod decoder;
mod deflate;
mod encoder;
mod extension;
mod fault;
mod header;
mod inflate;
mod mask;
mod opening;
mod text;

pub use close::{Close, is_sendable};
pub use decoder::{Control, Decoder, Event, Kind};
pub use deflate::Deflater;
pub use encoder::{encode, encode_close, encode_deflated, encode_masked};
pub use extension::{Deflate, Windows};
pub use fault::Fault;
pub use header::{Opcode, Role};
pub use inflate::Inflater;
pub use opening::{Opening, Refusal, accept_value};
