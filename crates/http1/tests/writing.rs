//! What is written: each kind of response, byte for byte, and read back.

use http1::{
    Answer, FieldError, Limits, Method, Owed, Payload, Prelude, Progress, ResponseFraming,
    ResponseHead, Version, push_field, write, write_chunk, write_continue, write_last_chunk,
    write_refusal,
};

const OWED: Owed = Owed { version: Version::Http11, keep_alive: true, head_only: false };
const OLD: Owed = Owed { version: Version::Http10, ..OWED };
const PRELUDE: &str = "Server: tarmac\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n";

fn answer(status: u16, payload: Payload<'static>) -> Answer<'static> {
    Answer { status, content_type: Some(b"text/plain"), fields: b"A: b\r\n", payload }
}

fn written(owed: Owed, answer: &Answer<'_>) -> String {
    let mut out = Vec::new();
    write(&mut out, &Prelude::new(Some("tarmac"), true), owed, answer);
    String::from_utf8(out).unwrap().replacen(PRELUDE, "{prelude}", 1)
}

#[test]
fn a_response_with_bytes() {
    assert_eq!(
        "HTTP/1.1 200 OK\r\n{prelude}Content-Type: text/plain\r\nA: b\r\nContent-Length: 12\r\n\
         \r\nHello world!",
        written(OWED, &answer(200, Payload::Bytes(b"Hello world!")))
    );
}

#[test]
fn a_response_without_type_fields_or_content() {
    let bare =
        Answer { status: 404, content_type: None, fields: b"", payload: Payload::Bytes(b"") };
    assert_eq!(
        "HTTP/1.1 404 Not Found\r\n{prelude}Content-Length: 0\r\n\r\n",
        written(OWED, &bare)
    );
}

#[test]
fn head_announces_what_get_would_send() {
    let owed = Owed { head_only: true, ..OWED };
    assert_eq!(
        "HTTP/1.1 200 OK\r\n{prelude}Content-Type: text/plain\r\nA: b\r\nContent-Length: 12\r\n\
         \r\n",
        written(owed, &answer(200, Payload::Bytes(b"Hello world!")))
    );
}

#[test]
fn a_length_whose_body_follows_elsewhere() {
    let text = written(OWED, &answer(206, Payload::Length(u64::MAX)));
    assert!(text.starts_with("HTTP/1.1 206 Partial Content\r\n"), "{text}");
    assert!(text.ends_with("Content-Length: 18446744073709551615\r\n\r\n"), "{text}");
}

#[test]
fn statuses_without_content_send_none_and_no_length() {
    for status in [100, 103, 204, 304] {
        let text = written(OWED, &answer(status, Payload::Bytes(b"content")));
        assert!(text.ends_with("A: b\r\n\r\n"), "{text}");
        assert!(!text.contains("Content-Length"), "{text}");
    }
    let text = written(OWED, &answer(205, Payload::Bytes(b"content")));
    assert!(text.ends_with("A: b\r\nContent-Length: 0\r\n\r\n"), "{text}");
}

#[test]
fn a_status_of_no_three_digits_is_a_whole_500() {
    for status in [0, 42, 99, 1000, u16::MAX] {
        let text = written(OWED, &answer(status, Payload::Bytes(b"x")));
        assert!(text.starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "{text}");
        assert!(text.ends_with("Content-Length: 1\r\n\r\nx"), "{text}");
    }
}

#[test]
fn the_connection_field_says_what_is_not_understood_anyway() {
    let connection = |owed: Owed, status: u16, payload: Payload<'static>| {
        let text = written(owed, &answer(status, payload));
        let (_, rest) = text.split_once("Connection: ")?;
        rest.lines().next().map(str::to_owned)
    };
    let closing = Owed { keep_alive: false, ..OWED };
    let old_closing = Owed { keep_alive: false, ..OLD };
    let bytes = Payload::Bytes(b"x");
    assert_eq!(None, connection(OWED, 200, bytes));
    assert_eq!(Some("close".into()), connection(closing, 200, bytes));
    assert_eq!(Some("keep-alive".into()), connection(OLD, 200, bytes));
    assert_eq!(Some("close".into()), connection(old_closing, 200, bytes));
    assert_eq!(Some("Upgrade".into()), connection(OWED, 101, bytes));
    assert_eq!(Some("close".into()), connection(OLD, 200, Payload::Chunked));
    assert_eq!(Some("close".into()), connection(OLD, 42, Payload::Chunked));
    assert_eq!(Some("keep-alive".into()), connection(OLD, 204, Payload::Chunked));
    assert_eq!(None, connection(OWED, 200, Payload::Chunked));
}

#[test]
fn chunks_are_announced_to_those_who_know_them() {
    let text = written(OWED, &answer(200, Payload::Chunked));
    assert!(text.ends_with("A: b\r\nTransfer-Encoding: chunked\r\n\r\n"), "{text}");
    let text = written(OLD, &answer(200, Payload::Chunked));
    assert!(text.ends_with("A: b\r\n\r\n"), "{text}");
    assert!(OWED.chunks() && !OLD.chunks());
}

#[test]
fn chunks_have_sizes_in_hexadecimal_and_empty_ones_do_not_end_the_body() {
    let mut out = Vec::new();
    write_chunk(&mut out, b"hello");
    write_chunk(&mut out, b"");
    write_chunk(&mut out, &[b'x'; 0x1a0]);
    write_last_chunk(&mut out);
    let expected = format!("5\r\nhello\r\n1a0\r\n{}\r\n0\r\n\r\n", "x".repeat(0x1a0));
    assert_eq!(expected.as_bytes(), out);
}

#[test]
fn responses_are_appended() {
    let mut out = Vec::new();
    write_continue(&mut out);
    write(&mut out, &Prelude::new(None, false), OWED, &answer(200, Payload::Bytes(b"x")));
    assert_eq!(
        "HTTP/1.1 100 Continue\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nA: b\r\nContent-Length: 1\r\n\r\nx",
        String::from_utf8(out).unwrap()
    );
}

#[test]
fn a_refusal_is_a_whole_last_response() {
    let refusal = http1::Head::default().parse(b"\0\0", &Limits::default()).unwrap_err();
    let mut out = Vec::new();
    write_refusal(&mut out, &Prelude::new(None, false), &refusal);
    let mut head = ResponseHead::default();
    assert_eq!(Ok(Progress::Complete), head.parse(&out, &Limits::default(), Method::Get));
    let content = format!("{}\n", refusal.reason);
    assert_eq!(400, head.status);
    assert!(!head.keep_alive);
    assert_eq!(ResponseFraming::Length(content.len() as u64), head.framing);
    assert_eq!(content.as_bytes(), &out[head.len..]);
}

#[test]
fn fields_that_could_break_a_response_are_refused() {
    let push = |name: &str, value: &str| {
        let mut out = Vec::new();
        let result = push_field(&mut out, name.as_bytes(), value.as_bytes());
        assert_eq!(result.is_err(), out.is_empty(), "{name}: {value}");
        result
    };
    assert_eq!(Ok(()), push("Set-Cookie", "a=b; Path=/"));
    assert_eq!(Ok(()), push("X", "tab\tand \u{e9}"));
    assert_eq!(Ok(()), push("X", ""));
    for value in ["a\r\nb: c", "a\rb", "a\nb", "a\0b", "a\x7f", "\x1b[1m"] {
        assert_eq!(Err(FieldError::Value), push("X", value), "{value:?}");
    }
    for name in ["", "a b", "a:", "a\r\n", "\u{e9}", "a\0"] {
        assert_eq!(Err(FieldError::Name), push(name, "x"), "{name:?}");
    }
    for name in ["Content-Length", "TRANSFER-encoding", "connection", "Date"] {
        assert_eq!(Err(FieldError::Reserved), push(name, "x"), "{name}");
    }
}

#[test]
fn numbers_of_every_length_are_written_whole() {
    let mut number = 1_u64;
    for digits in 1..=19 {
        for value in [number, number * 9, number + number / 2] {
            let text = written(OWED, &answer(200, Payload::Length(value)));
            assert!(
                text.ends_with(&format!("Content-Length: {value}\r\n\r\n")),
                "{digits}: {text}"
            );
        }
        number = number.saturating_mul(10);
    }
}
