//! Which byte may stand where, and fast ways over runs of them.

/// RFC 9110 section 5.6.2: what names and methods are made of.
pub(crate) const TOKEN: u8 = 1;
/// What a path may contain here: printable ASCII without `?`, `#` and the characters that every
/// browser escapes (`"`, `<`, `>`). RFC 3986 allows fewer, but browsers send `|`, `^`, `{`, ... raw.
pub(crate) const PATH: u8 = 2;
/// What a path with its query may contain.
pub(crate) const TARGET: u8 = 4;
/// RFC 3986 section 3.2.2: a registered name or an IPv4 address.
pub(crate) const HOST: u8 = 8;
/// RFC 3986 section 3.2.2: the inside of an IP literal.
pub(crate) const LITERAL: u8 = 16;
/// RFC 9110 section 5.5: what a field value may contain (white space included).
pub(crate) const VALUE: u8 = 32;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends at 256")]
        let byte = code as u8;
        table[code] = class_of(byte);
        code += 1;
    }
    table
}

const fn class_of(byte: u8) -> u8 {
    let alphanumeric = byte.is_ascii_alphanumeric();
    let mut class = 0;
    if alphanumeric || one_of(byte, b"!#$%&'*+-.^_`|~") {
        class |= TOKEN;
    }
    if byte.is_ascii_graphic() && !one_of(byte, b"\"<>#") {
        class |= TARGET;
        if byte != b'?' {
            class |= PATH;
        }
    }
    if alphanumeric || one_of(byte, b"-._~%!$&'()*+,;=") {
        class |= HOST;
    }
    if byte.is_ascii_hexdigit() || one_of(byte, b":.") {
        class |= LITERAL;
    }
    if byte >= b' ' && byte != 0x7f || byte == b'\t' {
        class |= VALUE;
    }
    class
}

const fn one_of(byte: u8, set: &[u8]) -> bool {
    let mut index = 0;
    while index < set.len() {
        if set[index] == byte {
            return true;
        }
        index += 1;
    }
    false
}

/// Whether `byte` belongs to `class`.
#[inline]
pub(crate) fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// Whether all of `bytes` belong to `class`.
#[inline]
pub(crate) fn all(bytes: &[u8], class: u8) -> bool {
    bytes.iter().all(|&byte| is(byte, class))
}

/// How many bytes at the start of `input` belong to `class`.
#[inline]
pub(crate) fn run(input: &[u8], class: u8) -> usize {
    let mut rest = input;
    while let Some((block, tail)) = rest.split_first_chunk::<8>() {
        if let Some(stop) = stop(block, class) {
            return input.len() - rest.len() + stop;
        }
        rest = tail;
    }
    input.len() - rest.len() + short_run(rest, class)
}

/// How many bytes at the start of `input` a field value may contain.
#[inline]
pub(crate) fn value_run(input: &[u8]) -> usize {
    let mut rest = input;
    while let Some((block, tail)) = rest.split_first_chunk::<16>() {
        // A tab is a control character that is allowed.
        if has_control(block)
            && let Some(stop) = stop(block, VALUE)
        {
            return input.len() - rest.len() + stop;
        }
        rest = tail;
    }
    input.len() - rest.len() + short_run(rest, VALUE)
}

/// The first byte outside `class`; unrolled, since the size is known: three instructions a byte.
#[inline]
fn stop<const N: usize>(block: &[u8; N], class: u8) -> Option<usize> {
    for (offset, &byte) in block.iter().enumerate() {
        if !is(byte, class) {
            return Some(offset);
        }
    }
    None
}

#[inline]
fn short_run(input: &[u8], class: u8) -> usize {
    input.iter().position(|&byte| !is(byte, class)).unwrap_or(input.len())
}

/// Whether there is a control character; compiled into a few vector instructions.
#[inline]
fn has_control(block: &[u8; 16]) -> bool {
    block.iter().fold(0, |any, &byte| any | u8::from(byte < b' ') | u8::from(byte == 0x7f)) != 0
}

/// Whether `name`, which has to be a token, is `known` (lower case) in any case.
///
/// Among the bytes of tokens only letters differ from another one in the bit 0x20.
#[inline]
pub(crate) fn is_name<const N: usize>(name: &[u8], known: &[u8; N]) -> bool {
    let Ok(name) = <&[u8; N]>::try_from(name) else {
        return false;
    };
    name.iter().zip(known).fold(0, |sum, (byte, letter)| sum | ((byte | 0x20) ^ letter)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_way_stops_where_the_slow_one_does() {
        for byte in 0..=255 {
            for place in 0..40 {
                for filler in [b'a', b'\t', 0x80, 0xff, b' '] {
                    let mut input = [filler; 40];
                    input[place] = byte;
                    assert_eq!(
                        run(&input, VALUE),
                        value_run(&input),
                        "{byte} at {place} among {filler}"
                    );
                }
            }
        }
    }

    #[test]
    fn names_are_told_from_every_other_token() {
        for byte in (0..=255).filter(|&byte| is(byte, TOKEN)) {
            let same = [b'a', b'-', byte].eq_ignore_ascii_case(b"a-t");
            assert_eq!(same, is_name(&[b'A', b'-', byte], b"a-t"), "{byte}");
            let same = byte == b'-';
            assert_eq!(same, is_name(&[byte, b'b'], b"-b"), "{byte}");
        }
        assert!(!is_name(b"hos", b"host") && !is_name(b"hosts", b"host"));
    }

    #[test]
    fn tokens_are_the_characters_of_the_rule() {
        let tokens: Vec<u8> = (0..=255).filter(|&byte| is(byte, TOKEN)).collect();
        let expected =
            b"!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";
        assert_eq!(expected, tokens.as_slice());
    }
}
