//! The greeting: 128 bytes of text that the server sends first.

use std::fmt;

/// What the server said when the connection opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Greeting {
    /// The server's version, such as `2.6.0`.
    pub version: String,
    /// The salt for [`chap_sha1`](crate::chap_sha1).
    pub salt: [u8; 20],
}

/// Why a greeting was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GreetingError {
    /// Fewer than [`Greeting::LEN`] bytes.
    Short,
    /// The first line does not begin with `Tarantool` and a version.
    NotTarantool,
    /// The port of the Lua console, not of the binary protocol.
    Console,
    /// The second line holds no base64 salt of at least 20 bytes.
    BadSalt,
}

const LINE: usize = 64;
const SALT: usize = 20;
/// 27 characters of base64 hold the 20 bytes that are used.
const SALT_TEXT: usize = 27;

impl Greeting {
    /// The length of a greeting in bytes.
    pub const LEN: usize = 128;

    /// Reads the first [`Self::LEN`] bytes of a connection.
    pub fn parse(input: &[u8]) -> Result<Self, GreetingError> {
        let input = input.get(..Self::LEN).ok_or(GreetingError::Short)?;
        let (first, second) = input.split_at(LINE);
        let first = str::from_utf8(first).map_err(|_| GreetingError::NotTarantool)?;
        let rest = first.strip_prefix("Tarantool ").ok_or(GreetingError::NotTarantool)?;
        if rest.contains("(Lua console)") {
            return Err(GreetingError::Console);
        }
        let mut words = rest.split_ascii_whitespace();
        let version = words.next().ok_or(GreetingError::NotTarantool)?;
        if !version.starts_with(|c: char| c.is_ascii_digit()) || words.next() != Some("(Binary)") {
            return Err(GreetingError::NotTarantool);
        }
        Ok(Self { version: version.to_owned(), salt: salt(second)? })
    }
}

fn salt(line: &[u8]) -> Result<[u8; SALT], GreetingError> {
    let mut bits = 0u32;
    let mut held = 0;
    let mut out = [0; SALT];
    let mut filled = 0;
    for &byte in line.iter().take(SALT_TEXT) {
        bits = (bits << 6 | u32::from(sextet(byte)?)) & 0xffff;
        held += 6;
        if held >= 8 && filled < SALT {
            held -= 8;
            out[filled] = (bits >> held & 0xff) as u8;
            filled += 1;
        }
    }
    Ok(out)
}

fn sextet(byte: u8) -> Result<u8, GreetingError> {
    match byte {
        b'A'..=b'Z' => Ok(byte - b'A'),
        b'a'..=b'z' => Ok(byte - b'a' + 26),
        b'0'..=b'9' => Ok(byte - b'0' + 52),
        b'+' => Ok(62),
        b'/' => Ok(63),
        _ => Err(GreetingError::BadSalt),
    }
}

impl fmt::Display for GreetingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Short => "the greeting is shorter than 128 bytes",
            Self::NotTarantool => {
                "the greeting is not Tarantool's: is this another service's port?"
            }
            Self::Console => {
                "this is the admin console port: connect to the port of box.cfg{listen=...}"
            }
            Self::BadSalt => "the greeting holds no valid salt",
        })
    }
}

impl std::error::Error for GreetingError {}
