//! The header of the PROXY protocol, versions 1 and 2: who is behind the proxy that connected.
//!
//! It comes once, before anything else on a connection. Only a proxy's listener reads it: whoever
//! may send it may claim any address.

use std::net::IpAddr;

/// The longest header of version 1, with its line end.
const LONGEST_LINE: usize = 107;
/// The longest header of version 2 that is taken: addresses, and a little about the connection.
pub const LONGEST_PROXY_HEADER: usize = 4096;
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Signature, command, family, length.
const FIXED: usize = 16;

/// What a proxy said of the connection behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proxied {
    /// Bytes of the header.
    pub len: usize,
    /// The client's address and port; `None` where the proxy speaks for itself or does not know.
    pub source: Option<(IpAddr, u16)>,
    /// The client's own connection was encrypted, as far as the proxy told.
    pub secure: bool,
}

/// Why a header is refused; there is nobody to tell it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotProxied(pub &'static str);

type Result<T> = std::result::Result<T, NotProxied>;

/// Read the header at the start of `input`, which holds all that came so far. `None`: more has to
/// come.
pub fn proxy_header(input: &[u8]) -> Result<Option<Proxied>> {
    let is_line = matches_so_far(input, b"PROXY ");
    if is_line && input.len() >= 6 {
        return line(input);
    }
    let is_binary = matches_so_far(input, SIGNATURE);
    if is_binary && input.len() >= FIXED {
        return binary(input);
    }
    if is_line || is_binary {
        return Ok(None);
    }
    Err(NotProxied("no header of the PROXY protocol"))
}

fn matches_so_far(input: &[u8], start: &[u8]) -> bool {
    let count = input.len().min(start.len());
    input[..count] == start[..count]
}

/// Version 1: `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n`.
fn line(input: &[u8]) -> Result<Option<Proxied>> {
    let within = &input[..input.len().min(LONGEST_LINE)];
    let Some(end) = memchr::memchr(b'\n', within) else {
        if input.len() >= LONGEST_LINE {
            return Err(NotProxied("the line is too long"));
        }
        return Ok(None);
    };
    let Some(text) =
        within[..end].strip_suffix(b"\r").and_then(|line| std::str::from_utf8(line).ok())
    else {
        return Err(NotProxied("the line does not end as it must"));
    };
    let len = end + 1;
    let mut words = text.split(' ').skip(1);
    let mut next = || words.next().ok_or(NotProxied("the line has too few words"));
    let family = next()?;
    if family == "UNKNOWN" {
        // What follows is of no importance.
        return Ok(Some(Proxied { len, ..Proxied::default() }));
    }
    let (source, destination) = (address(family, next()?)?, address(family, next()?)?);
    let (port, _) = (port(next()?)?, port(next()?)?);
    if words.next().is_some() {
        return Err(NotProxied("the line has too many words"));
    }
    debug_assert_eq!(source.is_ipv4(), destination.is_ipv4());
    Ok(Some(Proxied { len, source: Some((source, port)), secure: false }))
}

fn address(family: &str, text: &str) -> Result<IpAddr> {
    match family {
        "TCP4" => text.parse().map(IpAddr::V4).ok(),
        "TCP6" => text.parse().map(IpAddr::V6).ok(),
        _ => return Err(NotProxied("the protocol is neither TCP4 nor TCP6 nor UNKNOWN")),
    }
    .ok_or(NotProxied("an address is wrong"))
}

fn port(text: &str) -> Result<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let short = text == "0" || !text.starts_with('0');
    let port = if plain && short { text.parse().ok() } else { None };
    port.ok_or(NotProxied("a port is wrong"))
}

/// Version 2: the signature, a command, a family, a length, addresses, and more facts.
fn binary(input: &[u8]) -> Result<Option<Proxied>> {
    let (command, family) = (input[12], input[13]);
    if command >> 4 != 2 {
        return Err(NotProxied("the version is not 2"));
    }
    let len = FIXED + usize::from(u16::from_be_bytes([input[14], input[15]]));
    if len > LONGEST_PROXY_HEADER {
        return Err(NotProxied("the header is too long"));
    }
    let length = match (command & 0xf, family) {
        // The proxy speaks for itself, or does not know: the rest is of no importance.
        (0, _) | (1, 0) => None,
        (1, 0x11) => Some(12),
        (1, 0x21) => Some(36),
        (1, 0x31) => Some(216),
        (1, _) => return Err(NotProxied("the family is not that of a stream")),
        _ => return Err(NotProxied("the command is neither LOCAL nor PROXY")),
    };
    if length.is_some_and(|length| len < FIXED + length) {
        return Err(NotProxied("the addresses are cut off"));
    }
    if input.len() < len {
        return Ok(None);
    }
    let Some(length) = length else { return Ok(Some(Proxied { len, ..Proxied::default() })) };
    let rest = &input[FIXED..len];
    let secure = facts(&input[..len], FIXED + length)?;
    Ok(Some(Proxied { len, source: source(family, rest), secure }))
}

fn source(family: u8, rest: &[u8]) -> Option<(IpAddr, u16)> {
    let port = |at: usize| u16::from_be_bytes([rest[at], rest[at + 1]]);
    match family {
        0x11 => {
            let octets: [u8; 4] = rest[..4].try_into().ok()?;
            Some((IpAddr::from(octets), port(8)))
        }
        0x21 => {
            let octets: [u8; 16] = rest[..16].try_into().ok()?;
            Some((IpAddr::from(octets), port(32)))
        }
        _ => None,
    }
}

/// Look through the facts behind the addresses: was the client's connection encrypted, and is the
/// header whole?
fn facts(header: &[u8], start: usize) -> Result<bool> {
    const CRC32C: u8 = 0x03;
    const SSL: u8 = 0x20;
    let mut secure = false;
    let mut at = start;
    while at < header.len() {
        let Some(&[kind, high, low]) = header.get(at..at + 3) else {
            return Err(NotProxied("a fact is cut off"));
        };
        at += 3;
        let end = at + usize::from(u16::from_be_bytes([high, low]));
        let value = header.get(at..end).ok_or(NotProxied("a fact is cut off"))?;
        match kind {
            CRC32C => {
                let told: [u8; 4] =
                    value.try_into().map_err(|_| NotProxied("the checksum is cut off"))?;
                if checksum(header, at) != u32::from_be_bytes(told) {
                    return Err(NotProxied("the checksum is wrong"));
                }
            }
            // The first bit: the client connected over TLS.
            SSL => secure = value.first().is_some_and(|client| client & 1 == 1),
            _ => {}
        }
        at = end;
    }
    Ok(secure)
}

/// CRC-32C of the header with zeros where its own value stands.
fn checksum(header: &[u8], value_at: usize) -> u32 {
    let mut crc = u32::MAX;
    for (at, &byte) in header.iter().enumerate() {
        let byte = if (value_at..value_at + 4).contains(&at) { 0 } else { byte };
        crc ^= u32::from(byte);
        for _ in 0..8 {
            let odd = crc & 1 == 1;
            crc >>= 1;
            if odd {
                crc ^= 0x82f6_3b78;
            }
        }
    }
    !crc
}
