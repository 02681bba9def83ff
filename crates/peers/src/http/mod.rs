//! The server side of HTTP/1.1: one connection and its pipeline.

mod connection;
mod own_answers;
mod pipeline;

pub use connection::Connection;
