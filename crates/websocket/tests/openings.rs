//! The vectors of opening handshakes and of offers of extensions.

mod support;

use serde::Deserialize;
use support::vectors;
use websocket::{Deflate, Opening, Refusal, Windows};

fn yes() -> bool {
    true
}

fn bad_request() -> u16 {
    400
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    #[serde(default = "yes")]
    get: bool,
    #[serde(default = "yes")]
    http11: bool,
    fields: Vec<(String, String)>,
    #[serde(default)]
    accept: String,
    #[serde(default)]
    protocols: Vec<String>,
    #[serde(default)]
    extensions: String,
    refused: Option<String>,
    #[serde(default = "bad_request")]
    status: u16,
    #[serde(default)]
    tells_version: bool,
}

#[test]
fn openings() {
    for asked in vectors::<Asked>("openings.toml") {
        let fields = asked.fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let answer = Opening::read(asked.get, asked.http11, fields);
        match asked.refused {
            None => {
                let expected = Opening {
                    accept: asked.accept,
                    protocols: asked.protocols,
                    extensions: asked.extensions.into_bytes(),
                };
                assert_eq!(Ok(expected), answer, "{}", asked.name);
            }
            Some(reason) => {
                let Err(Refusal { status, reason: said, tells_version }) = answer else {
                    panic!("{}: accepted", asked.name);
                };
                let expected = (asked.status, reason.as_str(), asked.tells_version);
                assert_eq!(expected, (status, said, tells_version), "{}", asked.name);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    name: String,
    offer: String,
    server: Option<u8>,
    client: Option<u8>,
    answer: Option<String>,
}

#[test]
fn offers() {
    for offered in vectors::<Offered>("offers.toml") {
        let usual = Windows::default();
        let windows = Windows {
            server: offered.server.unwrap_or(usual.server),
            client: offered.client.unwrap_or(usual.client),
        };
        let answer = Deflate::negotiate(offered.offer.as_bytes(), windows);
        assert_eq!(offered.answer, answer.map(|answer| answer.answer()), "{}", offered.name);
    }
}
