//! Text of clients as a log may show it: nothing that ends a line, closes a quote or moves a cursor.

/// How a log writes what is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// `\xHH`, as Apache and nginx do.
    Hex,
    /// As a JSON string wants it; what is not UTF-8 becomes U+FFFD.
    Json,
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl Escape {
    pub(super) fn push(self, out: &mut Vec<u8>, value: &[u8]) {
        match self {
            Self::Hex => push_hex(out, value),
            Self::Json => push_json(out, value),
        }
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

fn push_hex(out: &mut Vec<u8>, value: &[u8]) {
    let plain = value.iter().take_while(|&&byte| is_plain(byte)).count();
    out.extend_from_slice(&value[..plain]);
    for &byte in &value[plain..] {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => {
                out.extend_from_slice(b"\\x");
                push_digits(out, byte);
            }
        }
    }
}

fn push_json(out: &mut Vec<u8>, value: &[u8]) {
    if value.iter().copied().all(is_plain) {
        return out.extend_from_slice(value);
    }
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_character(out, character);
        }
        if !chunk.invalid().is_empty() {
            push_character(out, char::REPLACEMENT_CHARACTER);
        }
    }
}

fn push_character(out: &mut Vec<u8>, character: char) {
    match character {
        '"' | '\\' => {
            out.push(b'\\');
            push_utf8(out, character);
        }
        '\u{2028}' | '\u{2029}' => push_utf16(out, character),
        _ if character.is_control() => push_utf16(out, character),
        _ => push_utf8(out, character),
    }
}

fn push_utf8(out: &mut Vec<u8>, character: char) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

fn push_utf16(out: &mut Vec<u8>, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.extend_from_slice(b"\\u");
        for byte in unit.to_be_bytes() {
            push_digits(out, byte);
        }
    }
}

fn push_digits(out: &mut Vec<u8>, byte: u8) {
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(escape: Escape, value: &[u8]) -> String {
        let mut out = Vec::new();
        escape.push(&mut out, value);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn no_byte_ends_a_line_or_closes_a_quote() {
        for byte in 0..=u8::MAX {
            for escape in [Escape::Hex, Escape::Json] {
                let text = escaped(escape, &[b'a', byte, b'b']);
                assert!(!text.chars().any(char::is_control), "{text:?}");
                let inner = text.replace("\\\\", "").replace("\\\"", "");
                assert!(!inner.contains('"'), "{text:?}");
                assert!(text.starts_with('a') && text.ends_with('b'), "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_still_told() {
        assert_eq!("a\\\"b\\\\\\x0a\\xc3\\xa9", escaped(Escape::Hex, "a\"b\\\né".as_bytes()));
        assert_eq!("a\\\"\\u000a\\u2028é", escaped(Escape::Json, "a\"\n\u{2028}é".as_bytes()));
        assert_eq!("\u{fffd}x", escaped(Escape::Json, b"\xffx"));
    }
}
