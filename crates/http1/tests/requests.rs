//! The request vectors, each whole, cut in two at every byte, and byte by byte.

mod support;

use http1::{Framing, Head, Limits, Version};
use serde::Deserialize;
use support::{Outcome, bytes, read_every_way, text, vectors};

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum ExpectedFraming {
    Length(u64),
    Word(String),
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum ExpectedHost {
    Absent(bool),
    Value(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    name: String,
    input: String,
    #[serde(flatten)]
    message: Message,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(default)]
struct Message {
    method: String,
    path: String,
    query: Option<String>,
    version: String,
    framing: ExpectedFraming,
    body: String,
    keep_alive: bool,
    expect_continue: bool,
    upgrade: bool,
    host: ExpectedHost,
    rest: String,
    fields: Option<Vec<(String, String)>>,
}

impl Default for Message {
    fn default() -> Self {
        Self {
            method: "GET".into(),
            path: "/".into(),
            query: None,
            version: "1.1".into(),
            framing: ExpectedFraming::Word("none".into()),
            body: String::new(),
            keep_alive: true,
            expect_continue: false,
            upgrade: false,
            host: ExpectedHost::Value("x".into()),
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
    #[serde(default = "bad_request")]
    status: u16,
}

fn bad_request() -> u16 {
    400
}

fn message(input: &[u8], head: &Head, body: &[u8], rest: &[u8]) -> Message {
    assert_eq!(head.method_name.of(input), &bytes(&text(head.method_name.of(input)))[..]);
    if head.method != http1::Method::Other {
        assert_eq!(head.method.as_str().as_bytes(), head.method_name.of(input));
    }
    Message {
        method: text(head.method_name.of(input)),
        path: text(head.path.of(input)),
        query: head.query.map(|query| text(query.of(input))),
        version: if head.version == Version::Http10 { "1.0" } else { "1.1" }.into(),
        framing: match head.framing {
            Framing::None => ExpectedFraming::Word("none".into()),
            Framing::Length(length) => ExpectedFraming::Length(length),
            Framing::Chunked => ExpectedFraming::Word("chunked".into()),
        },
        body: text(body),
        keep_alive: head.keep_alive,
        expect_continue: head.expect_continue,
        upgrade: head.upgrade,
        host: head
            .host
            .map_or(ExpectedHost::Absent(false), |host| ExpectedHost::Value(text(host.of(input)))),
        rest: text(rest),
        fields: Some(
            head.fields
                .iter()
                .map(|field| (text(field.name.of(input)), text(field.value.of(input))))
                .collect(),
        ),
    }
}

fn accepts(file: &str) {
    for vector in vectors::<Accepted>(file) {
        let input = bytes(&vector.input);
        match read_every_way(&vector.name, &input, &Limits::default()) {
            Outcome::Message { head, body, rest } => {
                let mut actual = message(&input, &head, &body, &rest);
                if vector.message.fields.is_none() {
                    actual.fields = None;
                }
                assert_eq!(vector.message, actual, "{}", vector.name);
            }
            other => panic!("{}: {other:?}", vector.name),
        }
    }
}

fn refuses(file: &str) {
    for vector in vectors::<Refused>(file) {
        match read_every_way(&vector.name, &bytes(&vector.input), &Limits::default()) {
            Outcome::Refused(refusal) => {
                let actual = (refusal.status, refusal.reason);
                assert_eq!((vector.status, vector.reason.as_str()), actual, "{}", vector.name);
            }
            other => panic!("{}: {other:?}", vector.name),
        }
    }
}

#[test]
fn heads_are_read() {
    accepts("accept/heads.toml");
}

#[test]
fn targets_are_read() {
    accepts("accept/targets.toml");
}

#[test]
fn bodies_are_read() {
    accepts("accept/bodies.toml");
}

#[test]
fn what_h1spec_wants_accepted_is_read() {
    accepts("accept/h1spec.toml");
}

#[test]
fn what_browsers_send_to_websites() {
    accepts("accept/websites.toml");
}

#[test]
fn bad_request_lines_are_refused() {
    refuses("refuse/request_line.toml");
}

#[test]
fn bad_targets_and_hosts_are_refused() {
    refuses("refuse/targets.toml");
}

#[test]
fn bad_fields_are_refused() {
    refuses("refuse/fields.toml");
}

#[test]
fn ambiguous_framing_is_refused() {
    refuses("refuse/framing.toml");
}

#[test]
fn bad_chunks_are_refused() {
    refuses("refuse/chunked.toml");
}

#[test]
fn what_h1spec_wants_refused_is_refused() {
    refuses("refuse/h1spec.toml");
}
