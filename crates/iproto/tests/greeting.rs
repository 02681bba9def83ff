//! The greeting vectors, and the scramble a real server accepted.

mod support;

use iproto::{Greeting, GreetingError, chap_sha1};
use serde::Deserialize;
use support::{bytes, vectors};

#[derive(Deserialize)]
struct Vectors {
    accept: Vec<Accepted>,
    refuse: Vec<Refused>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    name: String,
    input: String,
    version: String,
    salt: String,
    scramble: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    name: String,
    input: String,
    reason: String,
}

#[test]
fn greetings_are_read() {
    for Accepted { name, input, version, salt, scramble } in
        vectors::<Vectors>("greeting.toml").accept
    {
        let greeting = Greeting::parse(input.as_bytes()).expect(&name);
        assert_eq!(version, greeting.version, "{name}");
        assert_eq!(bytes(&salt), greeting.salt, "{name}");
        if let Some(scramble) = scramble {
            assert_eq!(bytes(&scramble), chap_sha1(b"secret", &greeting.salt), "{name}");
        }
    }
}

#[test]
fn what_is_no_greeting_is_refused_with_a_reason() {
    for Refused { name, input, reason } in vectors::<Vectors>("greeting.toml").refuse {
        let error = Greeting::parse(input.as_bytes()).expect_err(&name);
        assert_eq!(reason, error.to_string(), "{name}");
    }
}

#[test]
fn a_greeting_is_whole_or_refused_at_every_length() {
    let whole = vectors::<Vectors>("greeting.toml").accept.remove(0).input;
    for length in 0..Greeting::LEN {
        let cut = &whole.as_bytes()[..length];
        assert_eq!(Err(GreetingError::Short), Greeting::parse(cut), "{length} bytes");
    }
}
