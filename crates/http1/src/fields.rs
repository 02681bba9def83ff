//! Field lines (RFC 9112 section 5): of requests, responses and trailers alike.

use crate::classes::{self, TOKEN};
use crate::framing::Facts;
use crate::refusal::{
    BAD_FIELD_NAME, BAD_FIELD_VALUE, BARE_CR, BARE_LF, FOLDING, MANY_FIELDS, Refusal,
    SPACE_BEFORE_COLON,
};

/// A stretch of the input, as offsets from its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From offsets inside a window, which is never larger than `u32` can say.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a window is at most u32::MAX long")]
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The bytes meant; `input` must be what was parsed.
    #[inline]
    pub fn of(self, input: &[u8]) -> &[u8] {
        &input[self.start as usize..self.end as usize]
    }

    /// Nothing is meant.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many bytes are meant.
    #[inline]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }
}

/// One header field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Field {
    /// The name as it was sent.
    pub name: Span,
    /// The value without white space around it.
    pub value: Span,
}

/// Reads lines from `at` until the blank one; tells where the blank line ends, `None` if partial.
#[inline]
pub(crate) fn read(
    input: &[u8],
    mut at: usize,
    most: usize,
    fields: &mut Vec<Field>,
    facts: &mut Facts,
) -> Result<Option<usize>, Refusal> {
    loop {
        match input.get(at) {
            None => return Ok(None),
            Some(b'\r') => return line_end(input, at),
            Some(_) if fields.len() >= most => return Err(MANY_FIELDS),
            Some(_) => {}
        }
        let Some((field, next)) = line(input, at)? else {
            return Ok(None);
        };
        facts.add(field.name.of(input), field.value, input)?;
        fields.push(field);
        at = next;
    }
}

/// The value of the first field called `name` (lower case).
pub(crate) fn find<'a>(fields: &[Field], input: &'a [u8], name: &str) -> Option<&'a [u8]> {
    fields
        .iter()
        .find(|field| {
            field.name.len() == name.len()
                && field.name.of(input).eq_ignore_ascii_case(name.as_bytes())
        })
        .map(|field| field.value.of(input))
}

/// One field line and where the next one starts; `None` if partial.
#[inline]
pub(crate) fn line(input: &[u8], start: usize) -> Result<Option<(Field, usize)>, Refusal> {
    let rest = &input[start..];
    let name_len = classes::run(rest, TOKEN);
    let after = match &rest[name_len..] {
        [b':', after @ ..] if name_len > 0 => after,
        [] => return Ok(None),
        [byte, ..] => return Err(bad_name(*byte, name_len == 0)),
    };
    let after = skip_blank(after);
    let value_start = input.len() - after.len();
    let (value, end) = after.split_at(classes::value_run(after));
    let next = match end {
        [b'\r', b'\n', ..] => value_start + value.len() + 2,
        _ => return line_end(input, value_start + value.len()).map(|_| None),
    };
    let name = Span::new(start, start + name_len);
    let value = Span::new(value_start, value_start + trimmed(value).len());
    Ok(Some((Field { name, value }, next)))
}

/// Past the CR LF expected at `at`; `None` if partial.
#[inline]
pub(crate) fn line_end(input: &[u8], at: usize) -> Result<Option<usize>, Refusal> {
    match input.get(at) {
        None => Ok(None),
        Some(b'\r') => match input.get(at + 1) {
            None => Ok(None),
            Some(b'\n') => Ok(Some(at + 2)),
            Some(_) => Err(BARE_CR),
        },
        Some(b'\n') => Err(BARE_LF),
        Some(_) => Err(BAD_FIELD_VALUE),
    }
}

#[cold]
fn bad_name(byte: u8, first: bool) -> Refusal {
    match byte {
        b' ' | b'\t' if first => FOLDING,
        b' ' | b'\t' => SPACE_BEFORE_COLON,
        b'\r' if first => BARE_CR,
        b'\n' => BARE_LF,
        _ => BAD_FIELD_NAME,
    }
}

#[inline]
pub(crate) fn skip_blank(mut rest: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', tail @ ..] = rest {
        rest = tail;
    }
    rest
}

#[inline]
fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [head @ .., b' ' | b'\t'] = value {
        value = head;
    }
    value
}
