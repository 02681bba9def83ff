//! One epoll descriptor that carries any number of peers, and hands out steps.
//!
//! The reactor knows no protocol: it moves bytes between sockets and whatever implements [`Peer`].
//! It calls nobody back. Whoever drives it asks for the next step, acts on it with no borrow of
//! the reactor held, and asks again; so the code that acts may itself use the reactor.
//!
//! ```text
//!   poll ──► ready queue ──► next ──► Peer::advance ──► Step ──► the driver
//!    ▲                         │                                   │
//!    └────────── flush ◄───────┴──────────── with(key, …) ◄────────┘
//! ```
//!
//! In reading order: [`peer`] is what a protocol implements, `turn` the straight line of one
//! turn, `current` the steps of one peer, `opening` how sockets come to be, `io` the bytes in and
//! out of one, `output` and `files` what there is to send, [`cover`] what may wrap it, then slots,
//! timers, the poller, sockets, and `memory`, which does without them.

#![forbid(unsafe_code)]

mod budget;
pub mod cover;
mod covering;
mod current;
mod files;
mod io;
mod memory;
mod opening;
mod output;
pub mod peer;
mod poller;
mod slots;
pub mod sockets;
mod turn;
pub mod wheel;

pub use budget::Budget;
pub use cover::{Cover, Opened, Torn};
pub use memory::Memory;
pub use peer::{Advance, CloseReason, Fate, Io, Millis, Peer};
pub use slots::Key;
pub use sockets::Address;
pub use turn::{Reactor, Stats};
