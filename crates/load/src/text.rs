//! Text with `${variables}`: paths, header values and bodies of a scenario.

use std::fmt;

/// Names of extracted values; a name's place is its slot in `Values::slots`.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The slot of `name`, made if new.
    pub fn define(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    /// The slot of `name` if something defines it.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| known == name)
    }

    /// How many slots a visitor needs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when nothing is extracted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What the variables stand for when one request is written.
pub struct Values<'a> {
    /// Extracted values by slot.
    pub slots: &'a [Vec<u8>],
    /// `${n}`: the running number of the request on its thread.
    pub number: u64,
    /// `${connection}`.
    pub connection: usize,
    /// `${random}`: 64 fresh bits.
    pub random: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(Vec<u8>),
    Slot { slot: usize, form: bool },
    Number,
    Connection,
    Random,
}

/// A compiled text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Vec<Part>);

/// A `${...}` that cannot be compiled.
#[derive(Debug, PartialEq, Eq)]
pub enum TextError {
    /// `${` without `}`.
    Open,
    /// A name that no step extracts and that is not built in.
    Unknown(String),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => write!(f, "${{ without }}"),
            Self::Unknown(name) => write!(
                f,
                "${{{name}}} is neither extracted by a step nor one of n, connection, random"
            ),
        }
    }
}

impl Text {
    /// Compiles; every extracted name must be in `names` already.
    pub fn parse(source: &str, names: &Names) -> Result<Self, TextError> {
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some(at) = rest.find("${") {
            push_literal(&mut parts, &rest[..at]);
            let inside = &rest[at + 2..];
            let end = inside.find('}').ok_or(TextError::Open)?;
            parts.push(variable(&inside[..end], names)?);
            rest = &inside[end + 1..];
        }
        push_literal(&mut parts, rest);
        Ok(Self(parts))
    }

    /// True when it always renders the same.
    pub fn is_static(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// Appends the text with every variable filled in.
    pub fn render(&self, out: &mut Vec<u8>, values: &Values<'_>) {
        for part in &self.0 {
            match part {
                Part::Literal(bytes) => out.extend_from_slice(bytes),
                Part::Slot { slot, form: false } => out.extend_from_slice(&values.slots[*slot]),
                Part::Slot { slot, form: true } => form_encode(out, &values.slots[*slot]),
                Part::Number => push_number(out, values.number),
                Part::Connection => push_number(out, values.connection as u64),
                Part::Random => push_number(out, values.random),
            }
        }
    }
}

/// Appends a decimal number.
pub fn push_number(out: &mut Vec<u8>, number: u64) {
    use std::io::Write;
    write!(out, "{number}").expect("writing to a Vec cannot fail");
}

fn push_literal(parts: &mut Vec<Part>, literal: &str) {
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.as_bytes().to_vec()));
    }
}

fn variable(inside: &str, names: &Names) -> Result<Part, TextError> {
    let (name, form) = match inside.strip_suffix(":form") {
        Some(name) => (name, true),
        None => (inside, false),
    };
    if let Some(slot) = names.find(name) {
        return Ok(Part::Slot { slot, form });
    }
    match name {
        "n" => Ok(Part::Number),
        "connection" => Ok(Part::Connection),
        "random" => Ok(Part::Random),
        _ => Err(TextError::Unknown(name.to_owned())),
    }
}

fn form_encode(out: &mut Vec<u8>, value: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
            b' ' => out.push(b'+'),
            _ => out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(source: &str) -> String {
        let mut names = Names::default();
        names.define("left");
        let text = Text::parse(source, &names).unwrap();
        let slots = [b"a b/+c".to_vec()];
        let mut out = Vec::new();
        text.render(&mut out, &Values { slots: &slots, number: 7, connection: 3, random: 9 });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fills_in_variables() {
        assert_eq!("t=a b/+c&u=a+b%2F%2Bc", render("t=${left}&u=${left:form}"));
        assert_eq!("/7/3/9", render("/${n}/${connection}/${random}"));
        assert_eq!("$5 {plain}", render("$5 {plain}"));
    }

    #[test]
    fn knows_static_text_and_refuses_the_unknown() {
        let names = Names::default();
        assert!(Text::parse("/good", &names).unwrap().is_static());
        assert!(!Text::parse("/${n}", &names).unwrap().is_static());
        assert_eq!(Err(TextError::Unknown("x".to_owned())), Text::parse("${x}", &names));
        assert_eq!(Err(TextError::Open), Text::parse("${n", &names));
    }
}
