//! permessage-deflate: which of a client's offers is taken (RFC 7692 sections 5 and 7.1).

use crate::deflate::Deflater;
use crate::inflate::Inflater;

const NAME: &[u8] = b"permessage-deflate";

/// The windows that a server is willing to use, as powers of two from 9 to 15: a smaller window
/// takes less memory and compresses less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// Of what it sends.
    pub server: u8,
    /// Of what clients send, where they can choose.
    pub client: u8,
}

impl Default for Windows {
    fn default() -> Self {
        Self { server: 12, client: 12 }
    }
}

/// What both sides have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deflate {
    /// Window of what the server sends.
    pub server_bits: u8,
    /// Window of what the client sends, if it is told to keep to one.
    pub client_bits: Option<u8>,
    /// The server compresses every message by itself.
    pub server_forgets: bool,
    /// So does the client.
    pub client_forgets: bool,
}

impl Deflate {
    /// The first offer in a `Sec-WebSocket-Extensions` value that can be taken.
    pub fn negotiate(value: &[u8], windows: Windows) -> Option<Self> {
        split(value, b',').find_map(|offer| Self::accept(offer, windows))
    }

    /// What the answer says, for `Sec-WebSocket-Extensions`.
    pub fn answer(&self) -> String {
        let mut text = "permessage-deflate".to_owned();
        if self.server_forgets {
            text += "; server_no_context_takeover";
        }
        if self.client_forgets {
            text += "; client_no_context_takeover";
        }
        let server = Some(self.server_bits).filter(|&bits| bits < 15);
        for (name, bits) in [("server", server), ("client", self.client_bits)] {
            if let Some(bits) = bits {
                text.extend(["; ", name, "_max_window_bits=", &bits.to_string()]);
            }
        }
        text
    }

    /// What compresses the server's messages.
    pub fn deflater(&self, level: u32) -> Deflater {
        Deflater::new(self.server_bits, level, self.server_forgets)
    }

    /// What decompresses the client's messages.
    pub fn inflater(&self) -> Inflater {
        Inflater::new(self.client_forgets)
    }

    /// One offer; `None` where it is of another extension, is malformed or cannot be kept.
    fn accept(offer: &[u8], windows: Windows) -> Option<Self> {
        let mut parts = split(offer, b';');
        if !parts.next()?.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let mut taken = Self {
            server_bits: windows.server,
            client_bits: None,
            server_forgets: false,
            client_forgets: false,
        };
        let mut seen: Vec<&[u8]> = Vec::new();
        for part in parts {
            let (name, value) = parameter(part);
            if seen.contains(&name) {
                return None;
            }
            seen.push(name);
            match (name, value) {
                (b"server_no_context_takeover", None) => taken.server_forgets = true,
                (b"client_no_context_takeover", None) => taken.client_forgets = true,
                (b"server_max_window_bits", Some(value)) => {
                    // Zlib has no raw window of 8 bits: such an offer cannot be kept.
                    let bits = bits(value).filter(|&bits| bits > 8)?;
                    taken.server_bits = windows.server.min(bits);
                }
                (b"client_max_window_bits", value) => {
                    let most = value.map_or(Some(15), bits)?;
                    taken.client_bits = Some(windows.client.min(most)).filter(|&bits| bits < 15);
                }
                _ => return None,
            }
        }
        Some(taken)
    }
}

/// The parts of a list, trimmed; separators inside quotes separate nothing.
fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    text.split(move |&byte| {
        quoted ^= byte == b'"';
        byte == separator && !quoted
    })
    .map(<[u8]>::trim_ascii)
}

/// A name, and the value behind the equals sign without its quotes.
fn parameter(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(place) = text.iter().position(|&byte| byte == b'=') else { return (text, None) };
    let value = text[place + 1..].trim_ascii();
    let value =
        value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    (text[..place].trim_ascii(), Some(value))
}

/// A window, 8 to 15, without leading zeros.
fn bits(value: &[u8]) -> Option<u8> {
    match value {
        [digit @ b'8'..=b'9'] => Some(digit - b'0'),
        [b'1', digit @ b'0'..=b'5'] => Some(10 + digit - b'0'),
        _ => None,
    }
}
