//! Small readers: percent escapes, `a=1&b=2` pairs, cookies. Lenient, since none of them decides
//! where a message ends.

use std::borrow::Cow;

/// Resolves `%XX`; malformed escapes stay as they are.
pub fn percent_decode(input: &[u8], plus_is_space: bool) -> Cow<'_, [u8]> {
    let found = if plus_is_space {
        memchr::memchr2(b'%', b'+', input)
    } else {
        memchr::memchr(b'%', input)
    };
    match found {
        None => Cow::Borrowed(input),
        Some(first) => Cow::Owned(decode_from(input, first, plus_is_space)),
    }
}

/// The names and values of `application/x-www-form-urlencoded` text: a query or a form.
///
/// Empty pieces are skipped; a piece without `=` has an empty value.
pub fn pairs(query: &[u8]) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    query.split(|&byte| byte == b'&').filter(|piece| !piece.is_empty()).map(|piece| {
        let (name, value) = split_once(piece, b'=').unwrap_or((piece, b""));
        (percent_decode(name, true), percent_decode(value, true))
    })
}

/// The names and values of a Cookie field (RFC 6265 section 4.2); quotes around a value are
/// dropped, pieces without `=` or without a name are skipped.
pub fn cookies(value: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    value.split(|&byte| byte == b';').filter_map(|piece| {
        let (name, value) = split_once(piece, b'=')?;
        let name = name.trim_ascii();
        (!name.is_empty()).then(|| (name, unquoted(value.trim_ascii())))
    })
}

fn decode_from(input: &[u8], first: usize, plus_is_space: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    out.extend_from_slice(&input[..first]);
    let mut rest = &input[first..];
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match (*byte, escape(tail)) {
            (b'%', Some(decoded)) => {
                out.push(decoded);
                rest = &tail[2..];
            }
            (b'+', _) if plus_is_space => out.push(b' '),
            (byte, _) => out.push(byte),
        }
    }
    out
}

/// The byte that two digits at the start of `digits` mean.
pub(crate) fn escape(digits: &[u8]) -> Option<u8> {
    let &[high, low, ..] = digits else {
        return None;
    };
    Some(hexadecimal(high)? << 4 | hexadecimal(low)?)
}

fn hexadecimal(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn split_once(piece: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let place = memchr::memchr(mark, piece)?;
    Some((&piece[..place], &piece[place + 1..]))
}

fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] => inner,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &[u8], plus: bool) -> String {
        String::from_utf8_lossy(&percent_decode(input, plus)).into_owned()
    }

    #[test]
    fn escapes_of_either_case_are_resolved() {
        assert_eq!("a b/ä", text(b"a%20b%2f%C3%a4", false));
        assert_eq!("a+b", text(b"a+b", false));
        assert_eq!("a b c", text(b"a+b%20c", true));
    }

    #[test]
    fn malformed_escapes_stay() {
        for input in ["%", "%4", "%zz", "100%", "%%41x"] {
            let expected = input.replace("%41", "A");
            assert_eq!(expected, text(input.as_bytes(), true));
        }
    }

    #[test]
    fn nothing_to_decode_is_borrowed() {
        assert!(matches!(percent_decode(b"plain", true), Cow::Borrowed(b"plain")));
    }

    #[test]
    fn pairs_keep_their_order_and_repetitions() {
        let read: Vec<(String, String)> = pairs(b"a=1&&b&a=%26+x=y&=z")
            .map(|(name, value)| {
                let text = |part: Cow<'_, [u8]>| String::from_utf8(part.into_owned()).unwrap();
                (text(name), text(value))
            })
            .collect();
        let expected = [("a", "1"), ("b", ""), ("a", "& x=y"), ("", "z")];
        assert_eq!(expected.map(|(name, value)| (name.into(), value.into())), *read);
    }

    #[test]
    fn cookies_are_trimmed_and_unquoted() {
        let read: Vec<_> = cookies(b"a=1; b=\"x y\";c; =d ;e=f=g; h=\"").collect();
        let expected: [(&[u8], &[u8]); 4] =
            [(b"a", b"1"), (b"b", b"x y"), (b"e", b"f=g"), (b"h", b"\"")];
        assert_eq!(expected, *read);
    }
}
