//! The server side of HTTP/1.1: one connection, its pipeline, bodies and streamed answers, and
//! the WebSocket that it may become.

mod body;
mod connection;
mod file_pieces;
mod inbox;
mod observing;
mod own_answers;
mod pipeline;
mod preamble;
mod standing;
mod streaming;
mod upgrade;
mod websocket;

pub use body::BodyState;
pub use connection::Connection;
pub use file_pieces::FilePiece;
pub use pipeline::Pushed;
pub use websocket::{Received, Sent, SocketSettings, WebSocket};
