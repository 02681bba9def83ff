//! The opening handshake (RFC 6455 section 4.2), as a server reads it.

use sha1::{Digest, Sha1};

const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a client asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Opening {
    /// The value for `Sec-WebSocket-Accept`.
    pub accept: String,
    /// The sub-protocols it speaks, best first.
    pub protocols: Vec<String>,
    /// All `Sec-WebSocket-Extensions` fields as one list.
    pub extensions: Vec<u8>,
}

/// Why a request opens no WebSocket: an answer to give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// 400, or 426 for a request that would have to be one.
    pub status: u16,
    /// Why, in words.
    pub reason: &'static str,
    /// The answer carries `Sec-WebSocket-Version: 13`.
    pub tells_version: bool,
}

const fn refusal(reason: &'static str) -> Refusal {
    Refusal { status: 400, reason, tells_version: false }
}

const NO_UPGRADE: Refusal = Refusal {
    status: 426,
    reason: "this is a WebSocket: ask for an upgrade",
    tells_version: false,
};
const OTHER_VERSION: Refusal =
    Refusal { status: 426, reason: "the WebSocket version is 13", tells_version: true };
const NOT_GET: Refusal = refusal("a WebSocket is opened by GET");
const OLD_HTTP: Refusal = refusal("a WebSocket is opened by HTTP/1.1");
const BAD_KEY: Refusal = refusal("Sec-WebSocket-Key must be one field of 16 bytes in base64");
const BAD_PROTOCOLS: Refusal = refusal("Sec-WebSocket-Protocol must list tokens, each once");

impl Opening {
    /// Read the fields of a request, names in any case.
    pub fn read<'a>(
        is_get: bool,
        is_http11: bool,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<Self, Refusal> {
        let mut opening = Self::default();
        let (mut upgrade, mut connection, mut keys, mut versions) = (false, false, vec![], vec![]);
        for (name, value) in fields {
            match name.to_ascii_lowercase().as_slice() {
                b"upgrade" => upgrade |= lists(value, b"websocket"),
                b"connection" => connection |= lists(value, b"upgrade"),
                b"sec-websocket-key" => keys.push(value),
                b"sec-websocket-version" => versions.push(value),
                b"sec-websocket-protocol" => opening.add_protocols(value)?,
                b"sec-websocket-extensions" => opening.add_extensions(value),
                _ => {}
            }
        }
        if !upgrade || !connection {
            return Err(NO_UPGRADE);
        }
        if !is_get {
            return Err(NOT_GET);
        }
        if !is_http11 {
            return Err(OLD_HTTP);
        }
        if versions != [b"13"] {
            return Err(OTHER_VERSION);
        }
        let [key] = keys[..] else { return Err(BAD_KEY) };
        if !is_key(key) {
            return Err(BAD_KEY);
        }
        opening.accept = accept_value(key);
        Ok(opening)
    }

    fn add_protocols(&mut self, value: &[u8]) -> Result<(), Refusal> {
        for name in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            let is_token =
                |byte: &u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(byte);
            let known = self.protocols.iter().any(|protocol| protocol.as_bytes() == name);
            if name.is_empty() || !name.iter().all(is_token) || known {
                return Err(BAD_PROTOCOLS);
            }
            self.protocols.push(String::from_utf8_lossy(name).into_owned());
        }
        Ok(())
    }

    fn add_extensions(&mut self, value: &[u8]) {
        if !self.extensions.is_empty() {
            self.extensions.extend_from_slice(b", ");
        }
        self.extensions.extend_from_slice(value);
    }
}

/// The answer to a key (RFC 6455 section 4.2.2).
pub fn accept_value(key: &[u8]) -> String {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let mut text = String::with_capacity(28);
    for group in digest.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > group.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

/// 16 bytes in base64: 22 letters and two signs that fill up.
fn is_key(key: &[u8]) -> bool {
    let Some(letters) = key.strip_suffix(b"==") else { return false };
    letters.len() == 22 && letters.iter().all(|letter| ALPHABET.contains(letter))
}

/// Does a comma-separated value name this token, in any case?
fn lists(value: &[u8], token: &[u8]) -> bool {
    value.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}
