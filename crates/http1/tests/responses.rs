//! The response vectors, each at every length of its input.

mod support;

use http1::{Limits, Method, Progress, Refusal, ResponseFraming, ResponseHead, Version};
use serde::Deserialize;
use support::{bytes, text, vectors};

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum ExpectedFraming {
    Length(u64),
    Word(String),
}

#[derive(Deserialize)]
struct Accepted {
    name: String,
    input: String,
    #[serde(default = "get")]
    to: String,
    #[serde(flatten)]
    message: Message,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(default)]
struct Message {
    status: u16,
    version: String,
    framing: ExpectedFraming,
    keep_alive: bool,
    rest: String,
    fields: Option<Vec<(String, String)>>,
}

impl Default for Message {
    fn default() -> Self {
        Self {
            status: 200,
            version: "1.1".into(),
            framing: ExpectedFraming::Word("none".into()),
            keep_alive: true,
            rest: String::new(),
            fields: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    name: String,
    input: String,
    reason: String,
    #[serde(default = "get")]
    to: String,
}

fn get() -> String {
    "GET".into()
}

/// Parses a growing input until something is decided; asserts that all of it decides the same.
fn read_growing(name: &str, input: &[u8], to: &str) -> Result<Option<ResponseHead>, Refusal> {
    let to = Method::from_bytes(to.as_bytes());
    let parse = |end: usize| {
        let mut head = ResponseHead::default();
        let progress = head.parse(&input[..end], &Limits::default(), to)?;
        Ok((progress == Progress::Complete).then_some(head))
    };
    let whole = parse(input.len());
    let first = (0..=input.len()).map(parse).find(|result| *result != Ok(None));
    assert_eq!(whole, first.unwrap_or(Ok(None)), "{name}");
    whole
}

fn message(input: &[u8], head: &ResponseHead) -> Message {
    Message {
        status: head.status,
        version: if head.version == Version::Http10 { "1.0" } else { "1.1" }.into(),
        framing: match head.framing {
            ResponseFraming::None => ExpectedFraming::Word("none".into()),
            ResponseFraming::Length(length) => ExpectedFraming::Length(length),
            ResponseFraming::Chunked => ExpectedFraming::Word("chunked".into()),
            ResponseFraming::UntilClose => ExpectedFraming::Word("close".into()),
        },
        keep_alive: head.keep_alive,
        rest: text(&input[head.len..]),
        fields: Some(
            head.fields
                .iter()
                .map(|field| (text(field.name.of(input)), text(field.value.of(input))))
                .collect(),
        ),
    }
}

#[test]
fn responses_are_read() {
    for vector in vectors::<Accepted>("responses/accept.toml") {
        let input = bytes(&vector.input);
        let head = read_growing(&vector.name, &input, &vector.to)
            .unwrap_or_else(|refusal| panic!("{}: {refusal}", vector.name))
            .unwrap_or_else(|| panic!("{}: partial", vector.name));
        let mut actual = message(&input, &head);
        if vector.message.fields.is_none() {
            actual.fields = None;
        }
        assert_eq!(vector.message, actual, "{}", vector.name);
    }
}

#[test]
fn untrustworthy_responses_are_refused() {
    for vector in vectors::<Refused>("responses/refuse.toml") {
        match read_growing(&vector.name, &bytes(&vector.input), &vector.to) {
            Err(refusal) => assert_eq!(vector.reason, refusal.reason, "{}", vector.name),
            Ok(other) => panic!("{}: {other:?}", vector.name),
        }
    }
}
