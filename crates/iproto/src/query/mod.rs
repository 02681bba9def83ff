//! Writing queries: each function appends one whole packet to `out`.
//!
//! ```text
//! ce LLLLLLLL   {0x00: type, 0x01: sync, 0x05: schema version?}   {key: value, ..}
//! └ length ──┘  └ header ──────────────────────────────────────┘  └ body ────────┘
//! ```
//!
//! Keys, tuples, operations and arguments are passed as msgpack arrays, already written.

mod call;
mod change;
mod packet;
mod select;
mod session;
mod sql;

pub use call::{call, call_16, eval};
pub use change::{delete, insert, replace, update, upsert};
pub use packet::Header;
pub use select::{Iterator, Select, UnknownIterator, select};
pub use session::{auth, id, ping};
pub use sql::{Statement, execute, prepare};
