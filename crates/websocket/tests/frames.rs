//! The vectors of frames, each whole, cut in two at every byte, and byte by byte.

mod support;

use serde::Deserialize;
use support::{Received, Settings, bytes, cuts, vectors};
use websocket::{Close, Control, Fault, Kind, Role};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    input: String,
    #[serde(default)]
    role: String,
    #[serde(default)]
    deflate: bool,
    #[serde(default)]
    forgets: bool,
    #[serde(default = "plenty")]
    limit: usize,
    #[serde(default)]
    events: Vec<Expected>,
    code: Option<u16>,
    reason: Option<String>,
    at: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    text: Option<String>,
    binary: Option<String>,
    ping: Option<String>,
    pong: Option<String>,
    close: Option<u16>,
    reason: Option<String>,
}

fn plenty() -> usize {
    1 << 20
}

impl Vector {
    fn settings(&self) -> Settings {
        let role = if self.role == "client" { Role::Client } else { Role::Server };
        Settings { role, limit: self.limit, deflate: self.deflate, forgets: self.forgets }
    }

    fn received(&self) -> Vec<Received> {
        self.events.iter().map(Expected::received).collect()
    }
}

impl Expected {
    fn received(&self) -> Received {
        if let Some(text) = &self.text {
            return Received::Message(Kind::Text, text.as_bytes().to_vec());
        }
        if let Some(binary) = &self.binary {
            return Received::Message(Kind::Binary, bytes(binary));
        }
        if let Some(code) = self.close {
            let reason = self.reason.clone().expect("a close has a reason");
            return Received::Close(Close { code, reason });
        }
        match (&self.ping, &self.pong) {
            (Some(ping), _) => Received::Control(Control::Ping, bytes(ping)),
            (_, Some(pong)) => Received::Control(Control::Pong, bytes(pong)),
            _ => panic!("an event of no kind"),
        }
    }
}

#[test]
fn accepted_however_it_is_cut() {
    for vector in vectors::<Vector>("accept.toml") {
        let input = bytes(&vector.input);
        for pieces in cuts(&input) {
            let (outcome, _) = vector.settings().decode(&pieces);
            let cut = pieces[0].len();
            assert_eq!(None, outcome.fault, "{} cut at {cut}", vector.name);
            assert_eq!(vector.received(), outcome.received, "{} cut at {cut}", vector.name);
        }
    }
}

#[test]
fn refused_however_it_is_cut() {
    for vector in vectors::<Vector>("refuse.toml") {
        let input = bytes(&vector.input);
        for pieces in cuts(&input) {
            let (outcome, _) = vector.settings().decode(&pieces);
            let said = outcome.fault.map(|Fault { code, reason }| (code, reason.to_owned()));
            let expected = vector.code.zip(vector.reason.clone());
            assert_eq!(expected, said, "{} cut at {}", vector.name, pieces[0].len());
            assert_eq!(vector.received(), outcome.received, "{}", vector.name);
        }
    }
}

#[test]
fn refused_at_the_first_byte_that_shows_it() {
    for vector in vectors::<Vector>("refuse.toml") {
        let input = bytes(&vector.input);
        let single: Vec<&[u8]> = input.chunks(1).collect();
        let (_, fed) = vector.settings().decode(&single);
        let at = vector.at.expect("a refusal has its place");
        // Where a decompressor notices is its own affair, as long as it is in time.
        let in_time = if vector.deflate { fed <= at } else { fed == at };
        assert!(in_time, "{}: after {fed} bytes, not {at}", vector.name);
    }
}

#[test]
fn what_is_cut_off_is_neither_a_message_nor_a_fault() {
    for vector in vectors::<Vector>("accept.toml") {
        let input = bytes(&vector.input);
        let (outcome, _) = vector.settings().decode(&[&input[..input.len() - 1]]);
        assert_eq!(None, outcome.fault, "{}", vector.name);
        let mut expected = vector.received();
        expected.pop();
        assert_eq!(expected, outcome.received, "{}", vector.name);
    }
}
