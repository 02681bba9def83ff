//! The server side of HTTP/1.1: one connection, its pipeline, bodies and streamed answers.

mod body;
mod connection;
mod file_pieces;
mod own_answers;
mod pipeline;
mod preamble;
mod streaming;

pub use body::BodyState;
pub use connection::Connection;
pub use file_pieces::FilePiece;
pub use pipeline::Pushed;
