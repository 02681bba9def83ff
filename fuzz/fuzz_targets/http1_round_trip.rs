//! Invariant: what the writer writes, the reader reads back, whatever an application asks for:
//! the status, each field, the content, and not one byte more.

#![no_main]

use http1::{
    Answer, Chunked, Limits, Method, Owed, Payload, Prelude, Progress, ResponseFraming,
    ResponseHead, Version, push_field, write, write_chunk, write_last_chunk,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
struct Wish<'a> {
    status: u16,
    http10: bool,
    keep_alive: bool,
    head_only: bool,
    chunked: bool,
    content_type: bool,
    server: Option<&'a str>,
    time: u64,
    fields: Vec<(&'a [u8], &'a [u8])>,
    content: &'a [u8],
}

fuzz_target!(|wish: Wish<'_>| {
    let mut prelude = Prelude::new(wish.server, true);
    prelude.set_time(wish.time);
    let mut fields = Vec::new();
    let sent: Vec<_> = wish
        .fields
        .iter()
        .filter(|(name, value)| push_field(&mut fields, name, value).is_ok())
        .collect();
    let owed = owed(&wish);
    let mut out = b"before".to_vec();
    write(&mut out, &prelude, owed, &answer(&wish, &fields));
    write_content(&mut out, &wish, owed);

    let response = &out["before".len()..];
    let head = read_head(response, &wish, sent.len());
    let skipped = head.fields.len() - sent.len() - trailing(&wish, &head);
    for (field, (name, value)) in head.fields[skipped..].iter().zip(sent) {
        assert_eq!(*name, field.name.of(response));
        assert_eq!(trim(value), field.value.of(response));
    }
    assert_content(&wish, &head, &response[head.len..]);
});

fn owed(wish: &Wish<'_>) -> Owed {
    Owed {
        version: if wish.http10 { Version::Http10 } else { Version::Http11 },
        keep_alive: wish.keep_alive,
        head_only: wish.head_only,
    }
}

fn answer<'a>(wish: &'a Wish<'a>, fields: &'a [u8]) -> Answer<'a> {
    Answer {
        status: wish.status,
        content_type: wish.content_type.then_some(b"text/plain"),
        fields,
        payload: if wish.chunked { Payload::Chunked } else { Payload::Bytes(wish.content) },
    }
}

/// What a caller does after [`write`] if it has promised chunks.
fn write_content(out: &mut Vec<u8>, wish: &Wish<'_>, owed: Owed) {
    if !wish.chunked || wish.head_only || bodiless(status(wish)) {
        return;
    }
    if !owed.chunks() {
        return out.extend_from_slice(wish.content);
    }
    for piece in wish.content.chunks(7) {
        write_chunk(out, piece);
    }
    write_last_chunk(out);
}

fn read_head(response: &[u8], wish: &Wish<'_>, fields: usize) -> ResponseHead {
    let limits = Limits { header_count: fields + 8, header_bytes: usize::MAX, ..Limits::default() };
    let to = if wish.head_only { Method::Head } else { Method::Get };
    let mut head = ResponseHead::default();
    assert_eq!(Ok(Progress::Complete), head.parse(response, &limits, to));
    assert_eq!(status(wish), head.status);
    assert_eq!(Some(&http1::format_date(wish.time)[..]), head.field(response, "date"));
    assert!(wish.keep_alive || !head.keep_alive || head.status == 101);
    head
}

/// Fields that the writer puts behind those of the application.
fn trailing(wish: &Wish<'_>, head: &ResponseHead) -> usize {
    let none = bodiless(head.status) && head.status != 205;
    let unframed = wish.chunked && wish.http10 && head.status != 205;
    usize::from(!none && !unframed)
}

fn assert_content(wish: &Wish<'_>, head: &ResponseHead, content: &[u8]) {
    let expected = if wish.head_only || bodiless(head.status) { b"" } else { wish.content };
    match head.framing {
        ResponseFraming::None => assert!(content.is_empty() && expected.is_empty()),
        ResponseFraming::Length(length) => {
            assert_eq!(length, content.len() as u64);
            assert_eq!(expected, content);
        }
        ResponseFraming::Chunked => {
            let mut data = Vec::new();
            let decoded = Chunked::new(u64::MAX).decode(content, &mut data).expect("our chunks");
            assert!(decoded.done && decoded.consumed == content.len());
            assert_eq!(expected, data);
        }
        ResponseFraming::UntilClose => assert_eq!(expected, content),
    }
}

fn status(wish: &Wish<'_>) -> u16 {
    if (100..1000).contains(&wish.status) { wish.status } else { 500 }
}

fn bodiless(status: u16) -> bool {
    status < 200 || matches!(status, 204 | 205 | 304)
}

fn trim(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().take_while(|byte| blank(byte)).count();
    let end = value.iter().rev().take_while(|byte| blank(byte)).count();
    if start == value.len() { b"" } else { &value[start..value.len() - end] }
}
