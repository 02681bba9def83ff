//! The client side of IPROTO: one connection that many waiters share and that reconnects.
//!
//! ```text
//!   Idle ─► Connecting ─► Greeting ─► Authenticating ─► Describing ─► Ready
//!    ▲          ▲             │              │               │          │
//!    │          └── Waiting ◄─┴──────────────┴───────────────┴──────────┘  network
//!    └─────────────────────────── refused credentials, wrong port
//! ```

mod backoff;
mod config;
mod life;
mod link;
mod receive;
mod schema;
mod tickets;
mod waiting;

pub use config::Config;
pub use link::{Admission, Link, State};
