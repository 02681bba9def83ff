//! The connections that live on the reactor: the HTTP server's and the Tarantool client's.
//!
//! ```text
//!            Step::Request ─► driver ─► answer          Step::Encode ─► driver ─► send
//!                  ▲                      │                   ▲                    │
//!   route ◄─ http::Connection ◄───────────┘          tarantool::Link ◄─────────────┘
//!                  │                                          │  Step::Reply, Step::Failed
//!                http1                                      iproto
//! ```
//!
//! Neither knows who drives it: a waiter is any type `W`, given in with a query and handed back
//! with its reply. Python comes in one crate further up.

#![forbid(unsafe_code)]

pub mod connection;
pub mod http;
pub mod observe;
pub mod pattern;
pub mod request;
pub mod route;
pub mod shared;
pub mod step;
pub mod tarantool;

pub use connection::Connection;
pub use pattern::ParamValue;
pub use request::RequestData;
pub use route::{Routed, Router};
pub use shared::{Server, Shared, Timeouts};
pub use step::{Exchange, Failure, News, Reply, Step};
