//! The payloads of Tarantool's msgpack extensions, both ways.
//!
//! A type that is not here is no fault: [`Token::Ext`](crate::msgpack::Token::Ext) carries its
//! number and its payload, and the reader stands right behind it.

mod datetime;
mod decimal;
mod error;
mod interval;

pub use datetime::Datetime;
pub use decimal::{Decimal, NotDecimal};
pub use error::{ErrorFrame, ErrorStack};
pub use interval::Interval;

use crate::error::{ErrorKind, ProtocolError};

/// The extension type of [`Decimal`].
pub const DECIMAL: i8 = 1;
/// The extension type of a UUID, 16 bytes in the order they are written.
pub const UUID: i8 = 2;
/// The extension type of [`ErrorStack`].
pub const ERROR: i8 = 3;
/// The extension type of [`Datetime`].
pub const DATETIME: i8 = 4;
/// The extension type of [`Interval`].
pub const INTERVAL: i8 = 6;

/// Reads the payload of a UUID.
pub fn uuid(payload: &[u8]) -> Result<[u8; 16], ProtocolError> {
    payload.try_into().map_err(|_| fault("16 bytes of a UUID", 0))
}

const fn fault(expected: &'static str, offset: usize) -> ProtocolError {
    ProtocolError::new(ErrorKind::BadExtension, expected, offset)
}
