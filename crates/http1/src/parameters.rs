//! Parameters of a field value: `; name=token; name="quoted"` (RFC 9110 section 5.6.6).

use std::borrow::Cow;

use crate::classes::{self, TOKEN, VALUE};
use crate::fields::skip_blank;

/// One parameter; the name as it was sent.
pub(crate) type Parameter<'a> = (&'a [u8], Cow<'a, [u8]>);

/// What stands before the first semicolon, and every parameter in order; `None` if malformed.
///
/// `bare` tells which bytes a value without quotes may contain.
pub(crate) fn parse(value: &[u8], bare: fn(u8) -> bool) -> Option<(&[u8], Vec<Parameter<'_>>)> {
    let end = memchr::memchr(b';', value).unwrap_or(value.len());
    let mut rest = &value[end..];
    let mut found = Vec::new();
    while let [b';', tail @ ..] = rest {
        let tail = skip_blank(tail);
        if tail.is_empty() || tail[0] == b';' {
            rest = tail;
            continue;
        }
        let (parameter, tail) = one(tail, bare)?;
        found.push(parameter);
        rest = skip_blank(tail);
    }
    rest.is_empty().then(|| (value[..end].trim_ascii(), found))
}

/// The value of the only parameter called `name` (lower case); `Err` if there are several.
pub(crate) fn only<'a>(
    parameters: &'a [Parameter<'_>],
    name: &str,
) -> Result<Option<&'a [u8]>, ()> {
    let mut found =
        parameters.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()));
    let first = found.next().map(|(_, value)| value.as_ref());
    if found.next().is_some() { Err(()) } else { Ok(first) }
}

fn one(input: &[u8], bare: fn(u8) -> bool) -> Option<(Parameter<'_>, &[u8])> {
    let name_len = classes::run(input, TOKEN);
    let (name, rest) = input.split_at(name_len);
    match rest {
        [b'=', b'"', tail @ ..] if name_len > 0 => {
            let (value, tail) = quoted(tail)?;
            Some(((name, value), tail))
        }
        [b'=', tail @ ..] if name_len > 0 => {
            let len = tail.iter().position(|&byte| !bare(byte)).unwrap_or(tail.len());
            let (value, tail) = tail.split_at(len);
            (len > 0).then_some(((name, Cow::Borrowed(value)), tail))
        }
        _ => None,
    }
}

/// The inside of a quoted string and what follows it.
///
/// Only a quote and a backslash can be escaped: some clients send the backslashes of a path as
/// they are.
fn quoted(input: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut at = 0;
    let mut plain = Vec::new();
    let mut taken = 0;
    loop {
        match &input[at..] {
            [b'"', tail @ ..] if taken == 0 => return Some((Cow::Borrowed(&input[..at]), tail)),
            [b'"', tail @ ..] => {
                plain.extend_from_slice(&input[taken..at]);
                return Some((Cow::Owned(plain), tail));
            }
            [b'\\', b'"' | b'\\', ..] => {
                plain.extend_from_slice(&input[taken..at]);
                // The escaped byte begins the next stretch.
                taken = at + 1;
                at += 2;
            }
            [byte, ..] if classes::is(*byte, VALUE) => at += 1,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(byte: u8) -> bool {
        classes::is(byte, TOKEN)
    }

    fn read(value: &str) -> Option<(String, Vec<(String, String)>)> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (kind, parameters) = parse(value.as_bytes(), token)?;
        Some((
            text(kind),
            parameters.iter().map(|(name, value)| (text(name), text(value))).collect(),
        ))
    }

    #[test]
    fn values_are_tokens_or_quoted() {
        let cases = [
            ("a/b", vec![]),
            ("a/b;", vec![]),
            ("a/b ; ;x=1;;", vec![("x", "1")]),
            ("a/b; x=1 ;\ty=\"two; \"", vec![("x", "1"), ("y", "two; ")]),
            (r#"a/b; x="\"\\a\b""#, vec![("x", r#""\a\b"#)]),
            (r#"a/b; x="""#, vec![("x", "")]),
            (r#"a/b; x="\\""#, vec![("x", r"\")]),
            ("a/b; x=\"ä\"", vec![("x", "ä")]),
        ];
        for (value, expected) in cases {
            let expected =
                expected.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            assert_eq!(Some(("a/b".into(), expected)), read(value), "{value}");
        }
    }

    #[test]
    fn malformed_parameters_are_told() {
        let cases =
            ["; x", "; =1", "; x=", "; x=\"", "; x=\"\\\"", "; x = 1", "; x=1 y=2", ";x=\"a\"b"];
        for case in cases.into_iter().chain(["; x=a b", "; x=\u{e4}", "; x=\"\x07\""]) {
            assert_eq!(None, read(&format!("a/b{case}")), "{case}");
        }
    }

    #[test]
    fn a_name_that_comes_twice_is_told() {
        let (_, parameters) = parse(b"a; x=1; X=2; y=3", token).unwrap();
        assert_eq!(Err(()), only(&parameters, "x"));
        assert_eq!(Ok(Some(&b"3"[..])), only(&parameters, "y"));
        assert_eq!(Ok(None), only(&parameters, "z"));
    }
}
