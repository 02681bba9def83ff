//! What a form says about its parts: the boundary between them and the head of each
//! (RFC 7578, RFC 2046 section 5.1.1).

use crate::classes::{self, TOKEN};
use crate::decode;
use crate::fields::{self, Field};
use crate::parameters;
use crate::refusal::{
    BAD_BOUNDARY, BAD_DISPOSITION, BAD_FILE_NAME, CODED_PART, DOUBLE_PART_FIELD, NO_DISPOSITION,
    Refusal,
};

/// Longest boundary that RFC 2046 allows.
const LONGEST_BOUNDARY: usize = 70;

/// The head of one part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartHead {
    /// Name of the form's field.
    pub name: Vec<u8>,
    /// Name of the file as the client gave it, possibly empty; `None` if the part is no file.
    pub filename: Option<Vec<u8>>,
    /// Value of Content-Type.
    pub content_type: Option<Vec<u8>>,
    /// Every header field in order.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The boundary of a form with this content type; 400 if there is none.
///
/// ```
/// let kind = br#"multipart/form-data; boundary="a b""#;
/// assert_eq!(b"a b", http1::boundary(kind).unwrap().as_slice());
/// assert!(http1::boundary(b"multipart/form-data").is_err());
/// ```
pub fn boundary(content_type: &[u8]) -> Result<Vec<u8>, Refusal> {
    // Without quotes more than a token is common: `boundary=a/b`.
    let (_, parameters) = parameters::parse(content_type, |byte| is_boundary(byte) && byte != b' ')
        .ok_or(BAD_BOUNDARY)?;
    let found = parameters::only(&parameters, "boundary").map_err(|()| BAD_BOUNDARY)?;
    found.filter(|found| is_valid(found)).map(<[u8]>::to_vec).ok_or(BAD_BOUNDARY)
}

pub(crate) fn is_valid(boundary: &[u8]) -> bool {
    matches!(boundary.len(), 1..=LONGEST_BOUNDARY)
        && boundary.iter().all(|&byte| is_boundary(byte))
        && !boundary.ends_with(b" ")
}

fn is_boundary(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte)
}

impl PartHead {
    /// From the lines of a part's head, whose fields have been found.
    pub(crate) fn read(lines: &[u8], found: &[Field]) -> Result<Self, Refusal> {
        let only = |name| match only(lines, found, name) {
            Ok(value) => Ok(value),
            Err(()) => Err(DOUBLE_PART_FIELD),
        };
        let disposition = only("content-disposition")?.ok_or(NO_DISPOSITION)?;
        let content_type = only("content-type")?.map(<[u8]>::to_vec);
        if let Some(coding) = only("content-transfer-encoding")?
            && ![&b"7bit"[..], b"8bit", b"binary"]
                .iter()
                .any(|plain| coding.eq_ignore_ascii_case(plain))
        {
            // RFC 7578 section 4.7 has done away with it; data would be stored undecoded.
            return Err(CODED_PART);
        }
        let (name, filename) = names(disposition)?;
        let pair = |field: &Field| (field.name.of(lines).to_vec(), field.value.of(lines).to_vec());
        Ok(Self { name, filename, content_type, fields: found.iter().map(pair).collect() })
    }
}

fn only<'a>(lines: &'a [u8], found: &[Field], name: &str) -> Result<Option<&'a [u8]>, ()> {
    let count = found
        .iter()
        .filter(|field| field.name.of(lines).eq_ignore_ascii_case(name.as_bytes()))
        .count();
    if count > 1 { Err(()) } else { Ok(fields::find(found, lines, name)) }
}

/// Name of the field, and of the file, in `form-data; name="x"; filename="y"`.
fn names(disposition: &[u8]) -> Result<(Vec<u8>, Option<Vec<u8>>), Refusal> {
    let (kind, parameters) =
        parameters::parse(disposition, |byte| classes::is(byte, TOKEN)).ok_or(BAD_DISPOSITION)?;
    let only = |name| parameters::only(&parameters, name).map_err(|()| BAD_DISPOSITION);
    if !kind.eq_ignore_ascii_case(b"form-data") {
        return Err(BAD_DISPOSITION);
    }
    let name = only("name")?.ok_or(BAD_DISPOSITION)?.to_vec();
    let filename = only("filename")?.map(<[u8]>::to_vec);
    // The extended one says more (RFC 6266 section 4.3), though RFC 7578 does not want it sent.
    let extended = only("filename*")?.map(extended).transpose()?;
    Ok((name, extended.or(filename)))
}

/// `charset'language'percent-encoded` (RFC 8187 section 3.2), as UTF-8.
fn extended(value: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut pieces = value.splitn(3, |&byte| byte == b'\'');
    let (Some(charset), Some(_), Some(text)) = (pieces.next(), pieces.next(), pieces.next()) else {
        return Err(BAD_FILE_NAME);
    };
    let text = percent_decoded(text).ok_or(BAD_FILE_NAME)?;
    if text.iter().any(u8::is_ascii_control) {
        return Err(BAD_FILE_NAME);
    }
    if charset.eq_ignore_ascii_case(b"utf-8") {
        return String::from_utf8(text).map(String::into_bytes).map_err(|_| BAD_FILE_NAME);
    }
    if charset.eq_ignore_ascii_case(b"iso-8859-1") {
        let text: String = text.iter().map(|&byte| char::from(byte)).collect();
        return Ok(text.into_bytes());
    }
    Err(BAD_FILE_NAME)
}

/// Unlike in a URL, an escape that is none is an error here.
fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        if byte != b'%' {
            out.push(byte);
            rest = tail;
            continue;
        }
        out.push(decode::escape(tail)?);
        rest = &tail[2..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_tokens_or_quoted() {
        let long = "x".repeat(70);
        let cases = [
            ("; boundary=abc", "abc"),
            ("; BOUNDARY=\"abc\"", "abc"),
            ("; charset=utf-8; boundary=abc", "abc"),
            ("; boundary=a/b:c=d", "a/b:c=d"),
            ("; boundary=\"a b\"", "a b"),
            (&format!("; boundary={long}"), &long),
        ];
        for (parameters, expected) in cases {
            let kind = format!("multipart/form-data{parameters}");
            assert_eq!(expected.as_bytes(), boundary(kind.as_bytes()).unwrap(), "{kind}");
        }
    }

    #[test]
    fn boundaries_that_are_none_are_refused() {
        let long = format!("; boundary={}", "x".repeat(71));
        let cases = [
            "",
            "; boundary",
            "; boundary=",
            "; boundary=\"\"",
            "; boundary=\"a \"",
            &long,
            "; boundary=a; boundary=b",
            "; boundary=a b",
            "; boundary=\"a\tb\"",
            "; boundary=a@b",
            "; boundary=\"\\\"\"",
        ];
        for parameters in cases {
            let kind = format!("multipart/form-data{parameters}");
            assert_eq!(Err(BAD_BOUNDARY), boundary(kind.as_bytes()), "{kind}");
        }
    }
}
