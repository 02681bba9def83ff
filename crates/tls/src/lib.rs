//! TLS between the reactor's peers and their sockets, by rustls.
//!
//! ```text
//!   files ──► load ──► Acceptor ──► Cover, one for each connection ──► Session: what was agreed
//! ```
//!
//! In reading order: [`acceptor`] is what a server holds, `load` reads certificates and keys,
//! `choice` picks the certificate for a name, `cover` moves the bytes, [`session`] is what the
//! two sides agreed on, [`fault`] what can be wrong with the files.

#![forbid(unsafe_code)]

pub mod acceptor;
mod choice;
mod cover;
pub mod fault;
mod load;
pub mod session;

pub use acceptor::{Acceptor, Clients, Minimum, Pair, Settings};
pub use fault::Fault;
pub use session::{Agreed, Session};
