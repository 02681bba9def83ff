//! IPROTO, the protocol of Tarantool, as bytes: no sockets, no clock, no `unsafe`.
//!
//! ```text
//!   query::select(&mut out, ..) ──> out ───────────────> server
//!   Greeting::parse <── 128 bytes, once per connection <── server
//!   frame ──> Reply::parse ──> Body { data, .. } <──────── server
//!                                └─> msgpack::Reader, ext, schema::Schema
//! ```
//!
//! Everything that comes from the network is bounds-checked, nothing recurses on what a peer
//! sent, and nothing is allocated from a length that was only claimed.
//!
//! Modules in reading order: [`greeting`](Greeting) and [`auth`](chap_sha1) open a connection,
//! [`query`] writes, [`frame`](frame()) and [`Reply`] read, [`msgpack`] and [`ext`] are the
//! values inside, [`schema`] names them, [`codes`] names what went wrong.
#![forbid(unsafe_code)]

mod auth;
pub mod codes;
mod error;
pub mod ext;
mod frame;
mod greeting;
mod keys;
pub mod msgpack;
pub mod query;
mod reply;
pub mod schema;

pub use auth::chap_sha1;
pub use error::{ErrorKind, ProtocolError};
pub use frame::{Framed, frame};
pub use greeting::{Greeting, GreetingError};
pub use query::{Header, Iterator};
pub use reply::{Body, Reply, Status};
