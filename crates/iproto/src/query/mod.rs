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
mod stream;
mod watch;

pub use call::{call, call_16, eval};
pub use change::{delete, insert, replace, update, upsert};
pub use packet::Header;
pub use select::{After, Iterator, Page, Select, UnknownIterator, select, select_page};
pub use session::{auth, auth_pap, id, ping};
pub use sql::{Statement, execute, prepare};
pub use stream::{Isolation, begin, commit, in_stream, rollback};
pub use watch::{unwatch, watch, watch_once};
