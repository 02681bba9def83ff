//! Invariant: what comes of a request head does not depend on how its bytes arrive, and a head
//! that is accepted is unambiguous.
//!
//! * Growing the input byte by byte ends in the result of the whole input, be it asked with
//!   `parse` or with `parse_more`; a used `Head` reads like a fresh one.
//! * Every span lies inside the head, every line ends in CR LF, no value holds a control
//!   character, and at most one of the framing fields is there, once.

#![no_main]

use http1::{Framing, Head, Limits, Progress, Refusal, Version};
use libfuzzer_sys::fuzz_target;

/// Small, so that the fuzzer gets to both sides of each.
const LIMITS: Limits =
    Limits { request_line: 64, header_count: 8, header_bytes: 256, body_bytes: 1 << 20 };

fuzz_target!(|input: &[u8]| {
    let whole = parse(&mut Head::default(), input);
    assert_eq!(whole, grown(input));
    assert_later_agrees(input, &whole);
    if let Ok(Some(head)) = whole {
        assert_unambiguous(input, &head);
    }
});

fn parse(head: &mut Head, input: &[u8]) -> Result<Option<Head>, Refusal> {
    let progress = head.parse(input, &LIMITS)?;
    Ok((progress == Progress::Complete).then(|| head.clone()))
}

/// The first decision while the input grows byte by byte.
fn grown(input: &[u8]) -> Result<Option<Head>, Refusal> {
    let mut head = Head::default();
    (0..=input.len())
        .map(|end| parse(&mut head, &input[..end]))
        .find(|result| *result != Ok(None))
        .unwrap_or(Ok(None))
}

/// `parse_more` may notice a fault later, but it notices the same one.
fn assert_later_agrees(input: &[u8], whole: &Result<Option<Head>, Refusal>) {
    let mut head = Head::default();
    let mut seen = 0;
    for end in 0..=input.len() {
        match head.parse_more(&input[..end], seen, &LIMITS) {
            Ok(Progress::Partial) => seen = end,
            Ok(Progress::Complete) => return assert_eq!(*whole, Ok(Some(head))),
            Err(refusal) => return assert_eq!(*whole, Err(refusal)),
        }
    }
    assert!(!matches!(whole, Ok(Some(_))), "parse_more missed a complete head");
}

fn assert_unambiguous(input: &[u8], head: &Head) {
    let text = &input[..head.len];
    assert!(text.ends_with(b"\r\n\r\n") && head.len <= LIMITS.header_bytes);
    assert!(head.fields.len() <= LIMITS.header_count);
    for (place, &byte) in text.iter().enumerate() {
        match byte {
            b'\n' => assert_eq!(b'\r', text[place - 1]),
            b'\r' => assert_eq!(b'\n', text[place + 1]),
            _ => assert!(byte >= b' ' && byte != 0x7f || byte == b'\t'),
        }
    }
    assert!(head.target.end as usize <= head.len && !head.target.of(text).contains(&b' '));
    let count = |name: &str| {
        let is = |field: &&http1::Field| field.name.of(text).eq_ignore_ascii_case(name.as_bytes());
        head.fields.iter().filter(is).count()
    };
    let hosts = count("host");
    assert!(hosts == 1 || hosts == 0 && head.version == Version::Http10);
    let expected = match head.framing {
        Framing::None => (count("content-length").min(1), 0),
        Framing::Length(_) => (1, 0),
        Framing::Chunked => (0, 1),
    };
    assert_eq!(expected, (count("content-length"), count("transfer-encoding")));
}
