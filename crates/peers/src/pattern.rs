//! Patterns of routes: `/packs/{pack}/{number:int}` as segments, and what a typed segment reads.

/// A path parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// `{x}` and `{x:path}`: percent-decoded bytes.
    Text(Vec<u8>),
    /// `{x:int}`.
    Int(i64),
    /// `{x:float}`: finite.
    Float(f64),
    /// `{x:uuid}`.
    Uuid(u128),
}

/// Why a pattern was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(pub String);

/// The type of a parameter that fills one segment; the first one that can read a segment wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `-?[0-9]+` within 64 bits.
    Int,
    /// `-?[0-9]+(\.[0-9]+)?`.
    Float,
    /// Hexadecimal with its four dashes.
    Uuid,
    /// Anything but nothing.
    Text,
}

/// A part of a pattern, between two slashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Text that a segment must equal.
    Literal(&'a str),
    /// A parameter that fills one segment.
    Typed(Kind),
    /// `{x:path}`: everything that is left, at least nothing.
    Rest,
}

impl Kind {
    /// In the order of their numbers, in which they are tried.
    pub const ALL: [Self; 4] = [Self::Int, Self::Float, Self::Uuid, Self::Text];

    /// The value of a decoded segment, if it is of this kind.
    pub fn read(self, segment: &[u8]) -> Option<ParamValue> {
        match self {
            Self::Int => integer(segment).map(ParamValue::Int),
            Self::Float => decimal(segment).map(ParamValue::Float),
            Self::Uuid => uuid(segment).map(ParamValue::Uuid),
            Self::Text => (!segment.is_empty()).then(|| ParamValue::Text(segment.to_vec())),
        }
    }
}

/// `-?[0-9]+` within 64 bits.
fn integer(segment: &[u8]) -> Option<i64> {
    let digits = segment.strip_prefix(b"-").unwrap_or(segment);
    digits.iter().all(u8::is_ascii_digit).then_some(())?;
    std::str::from_utf8(segment).ok()?.parse().ok()
}

/// `-?[0-9]+(\.[0-9]+)?` that is not beyond every number.
fn decimal(segment: &[u8]) -> Option<f64> {
    let digits = segment.strip_prefix(b"-").unwrap_or(segment);
    let mut parts = digits.splitn(2, |&byte| byte == b'.');
    let good = parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    let value: f64 = std::str::from_utf8(segment).ok().filter(|_| good)?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Thirty-two digits of either case in groups of 8, 4, 4, 4 and 12.
fn uuid(segment: &[u8]) -> Option<u128> {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    if segment.len() != 36 {
        return None;
    }
    segment.iter().enumerate().try_fold(0, |value: u128, (place, &byte)| {
        if DASHES.contains(&place) {
            return (byte == b'-').then_some(value);
        }
        Some(value << 4 | u128::from(char::from(byte).to_digit(16)?))
    })
}

/// The segments of a pattern and the names of its parameters.
pub fn parse(pattern: &str) -> Result<(Vec<Segment<'_>>, Vec<String>), PatternError> {
    let Some(path) = pattern.strip_prefix('/') else {
        return Err(PatternError(format!("the pattern {pattern:?} must begin with '/'")));
    };
    let mut names = Vec::new();
    let mut segments = Vec::new();
    let parts: Vec<&str> = path.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        let segment = match part.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(inner) => {
                let (name, kind) = inner.split_once(':').unwrap_or((inner, "str"));
                add_name(pattern, name, &mut names)?;
                segment_of(pattern, kind, index + 1 == parts.len())?
            }
            None if part.contains(['{', '}']) => {
                let text = format!("in {pattern:?} a parameter must be a whole segment: {part:?}");
                return Err(PatternError(text));
            }
            None => Segment::Literal(part),
        };
        segments.push(segment);
    }
    Ok((segments, names))
}

fn add_name(pattern: &str, name: &str, names: &mut Vec<String>) -> Result<(), PatternError> {
    let mut letters = name.chars();
    let good = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_');
    if !good {
        return Err(PatternError(format!("{name:?} in {pattern:?} is not a parameter name")));
    }
    if names.iter().any(|known| known == name) {
        return Err(PatternError(format!("{name:?} stands twice in {pattern:?}")));
    }
    names.push(name.to_owned());
    Ok(())
}

fn segment_of(pattern: &str, kind: &str, last: bool) -> Result<Segment<'static>, PatternError> {
    Ok(match kind {
        "str" => Segment::Typed(Kind::Text),
        "int" => Segment::Typed(Kind::Int),
        "float" => Segment::Typed(Kind::Float),
        "uuid" => Segment::Typed(Kind::Uuid),
        "path" if last => Segment::Rest,
        "path" => {
            return Err(PatternError(format!("in {pattern:?} a path parameter must come last")));
        }
        _ => {
            return Err(PatternError(format!(
                "{kind:?} in {pattern:?} is not a parameter type: use str, int, float, uuid or path"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_their_numbers() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(number, kind as usize);
        }
    }

    #[test]
    fn integers_within_64_bits() {
        let good = [("0", 0), ("-5", -5), ("007", 7), ("9223372036854775807", i64::MAX)];
        for (text, value) in good {
            assert_eq!(Some(value), integer(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "+1", "1.0", "1 ", "9223372036854775808", "0x1", "\u{661}"] {
            assert_eq!(None, integer(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn decimals_that_are_numbers() {
        for (text, value) in [("0", 0.0), ("-1.5", -1.5), ("10.25", 10.25)] {
            assert_eq!(Some(value), decimal(text.as_bytes()), "{text}");
        }
        let long = "9".repeat(400);
        for text in ["", "-", ".5", "5.", "1.2.3", "1e5", "inf", "nan", "+1", "1,5", &long] {
            assert_eq!(None, decimal(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn uuids_with_their_dashes() {
        let value = Some(0x0188_f3c2_1234_7abc_8def_0123_4567_89ab);
        assert_eq!(value, uuid(b"0188f3c2-1234-7abc-8def-0123456789ab"));
        assert_eq!(value, uuid(b"0188F3C2-1234-7ABC-8DEF-0123456789AB"));
        let bad = [
            "",
            "0188f3c212347abc8def0123456789ab",
            "0188f3c2-1234-7abc-8def-0123456789a",
            "0188f3c2-1234-7abc-8def-0123456789abc",
            "0188f3c2-1234-7abc-8def-0123456789ag",
            "0188f3c2-1234-7abc-8def00123456789ab",
            "-188f3c2-1234-7abc-8def-0123456789ab",
        ];
        for text in bad {
            assert_eq!(None, uuid(text.as_bytes()), "{text}");
        }
    }
}
