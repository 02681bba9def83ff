//! What can be wrong with a peer's bytes: each fault once, with its close code.

/// Why a connection fails (RFC 6455 section 7.1.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The close code that says so to the peer.
    pub code: u16,
    /// The same in words.
    pub reason: &'static str,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.reason, self.code)
    }
}

impl std::error::Error for Fault {}

const fn protocol(reason: &'static str) -> Fault {
    Fault { code: 1002, reason }
}

pub const RESERVED_BITS: Fault = protocol("a reserved bit is set");
pub const RESERVED_OPCODE: Fault = protocol("the opcode is reserved");
pub const UNMASKED: Fault = protocol("a frame from a client is not masked");
pub const MASKED: Fault = protocol("a frame from a server is masked");
pub const LONG_LENGTH: Fault = protocol("the length is not in its shortest form");
pub const LARGE_LENGTH: Fault = protocol("the highest bit of the length is set");
pub const FRAGMENTED_CONTROL: Fault = protocol("a control frame is fragmented");
pub const LARGE_CONTROL: Fault = protocol("a control frame holds more than 125 bytes");
pub const NOTHING_TO_CONTINUE: Fault = protocol("there is no message to continue");
pub const UNFINISHED: Fault = protocol("a message starts inside another");
pub const SHORT_CLOSE: Fault = protocol("a close frame of one byte");
pub const BAD_CODE: Fault = protocol("the close code may not be sent");
pub const BAD_REASON: Fault = Fault { code: 1007, reason: "the close reason is not UTF-8" };
pub const BAD_TEXT: Fault = Fault { code: 1007, reason: "a text message is not UTF-8" };
pub const BAD_DEFLATE: Fault = Fault { code: 1007, reason: "the compressed data is damaged" };
pub const LARGE_MESSAGE: Fault = Fault { code: 1009, reason: "the message is too big" };
