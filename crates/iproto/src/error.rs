//! What can be wrong with bytes that a server sent.

use std::fmt;

/// The sort of fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The input ended inside a value.
    Truncated,
    /// A byte that starts no msgpack value (`0xc1`).
    BadMarker,
    /// A value of another type than the protocol asks for.
    WrongType,
    /// A number outside of what the protocol allows.
    OutOfRange,
    /// The packet does not begin with an unsigned length.
    BadLength,
    /// The packet is longer than the caller accepts.
    TooLarge,
    /// A reply type this protocol does not know.
    UnknownReply,
    /// Text that is not UTF-8 where the protocol asks for text.
    BadText,
    /// The payload of an extension type is malformed.
    BadExtension,
    /// Bytes are left over after the last value.
    Trailing,
}

impl ErrorKind {
    /// A short description in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::BadMarker => "bad msgpack marker",
            Self::WrongType => "wrong type",
            Self::OutOfRange => "out of range",
            Self::BadLength => "bad length",
            Self::TooLarge => "too large",
            Self::UnknownReply => "unknown reply type",
            Self::BadText => "bad text",
            Self::BadExtension => "bad extension",
            Self::Trailing => "trailing bytes",
        }
    }
}

/// A fault in what was received: what, where, and what should have stood there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProtocolError {
    /// The sort of fault.
    pub kind: ErrorKind,
    /// What the protocol asks for at this place.
    pub expected: &'static str,
    /// Offset of the fault from the first byte of the input that was being read.
    pub offset: usize,
}

impl ProtocolError {
    /// A fault of `kind` at `offset`, where `expected` should have stood.
    pub const fn new(kind: ErrorKind, expected: &'static str, offset: usize) -> Self {
        Self { kind, expected, offset }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, expected, offset } = self;
        write!(formatter, "{}: expected {expected} at byte {offset}", kind.as_str())
    }
}

impl std::error::Error for ProtocolError {}
