//! The load generator: sends requests over many connections, checks every answer, times each one.
//!
//! ```text
//! cli ─> plan <─ scenario                what to send and what to expect (text, target, expect)
//!          |
//!        engine ── pace                  one thread, one epoll: sockets, phases, schedule
//!          |── connection ── answer      bytes <-> exchanges in flight
//!          |── visitor                   cookies, extracted values, next step of a flow
//!          |── judge ── check ── holes   right or wrong, and why
//!          '── tally ── usage            counts, latencies, own CPU
//!          |
//!        report ── summary               JSON and text
//! ```
//!
//! Only `engine`, `socket`, `usage`, `null_server` and `echo` touch the system; the rest is bytes and
//! numbers, with time passed in.

#![forbid(unsafe_code)]

pub mod cli;
pub mod plan;
pub mod scenario;
pub mod target;
pub mod text;

pub mod engine;
pub mod pace;
pub mod socket;

pub mod answer;
pub mod connection;
pub mod visitor;

pub mod judge;

pub mod check;
pub mod holes;

pub mod tally;
pub mod usage;

pub mod report;
pub mod summary;

pub mod echo;
pub mod null_server;
pub mod run;
