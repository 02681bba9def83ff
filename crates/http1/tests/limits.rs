//! Every limit from both sides: the largest message that passes, the smallest that does not.

mod support;

use http1::{Chunked, Limits, Method, Progress, Refusal, RefusalKind, ResponseHead};
use support::{Asking, Outcome, read, read_every_way};

fn limits() -> Limits {
    Limits { request_line: 40, header_count: 4, header_bytes: 160, body_bytes: 10 }
}

fn status(input: &str) -> Option<u16> {
    match read_every_way(input, input.as_bytes(), &limits()) {
        Outcome::Message { .. } => None,
        Outcome::Refused(refusal) => {
            assert_eq!(RefusalKind::TooLarge, refusal.kind, "{input}");
            Some(refusal.status)
        }
        Outcome::Partial => panic!("{input}: partial"),
    }
}

/// A request whose request line has exactly that many bytes.
fn with_line(start: &str, bytes: usize) -> String {
    let path = "a".repeat(bytes - "GET / HTTP/1.1".len());
    format!("{start}GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

#[test]
fn a_request_line_of_the_limit_passes_and_one_more_is_414() {
    assert_eq!(None, status(&with_line("", 40)));
    assert_eq!(Some(414), status(&with_line("", 41)));
    assert_eq!(None, status(&with_line("\r\n", 40)));
    assert_eq!(Some(414), status(&with_line("\r\n", 41)));
}

#[test]
fn a_request_line_without_end_is_414_as_soon_as_the_limit_is_full() {
    for asking in [Asking::Anew, Asking::Further] {
        let endless = "G".repeat(42);
        assert_eq!(Outcome::Partial, read(&[&endless.as_bytes()[..41]], &limits(), asking));
        let outcome = read(&[&endless.as_bytes()[..41], b"G"], &limits(), Asking::Anew);
        assert!(matches!(outcome, Outcome::Refused(Refusal { status: 414, .. })), "{outcome:?}");
    }
}

#[test]
fn a_fault_behind_the_limit_of_the_line_is_not_looked_for() {
    let input = format!("GET /{} \x01\r\n\r\n", "a".repeat(60));
    assert_eq!(Some(414), status(&input));
}

#[test]
fn as_many_fields_as_the_limit_pass_and_one_more_is_431() {
    let request = |fields: usize| {
        format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "a: b\r\n".repeat(fields - 1))
    };
    assert_eq!(None, status(&request(4)));
    assert_eq!(Some(431), status(&request(5)));
}

#[test]
fn a_head_of_the_limit_passes_and_one_byte_more_is_431() {
    let request = |bytes: usize| {
        let fixed = "GET / HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n".len();
        format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(bytes - fixed))
    };
    assert_eq!(None, status(&request(160)));
    assert_eq!(Some(431), status(&request(161)));
    assert_eq!(None, status(&format!("\r\n{}", request(158))));
    assert_eq!(Some(431), status(&format!("\r\n{}", request(159))));
}

#[test]
fn a_head_without_end_is_431_as_soon_as_the_limit_is_full() {
    let endless = format!("GET / HTTP/1.1\r\nHost: {}", "x".repeat(200));
    for asking in [Asking::Anew, Asking::Further] {
        let (short, last) = endless.as_bytes()[..160].split_at(159);
        assert_eq!(Outcome::Partial, read(&[short], &limits(), asking));
        let outcome = read(&[short, last], &limits(), asking);
        assert!(matches!(outcome, Outcome::Refused(Refusal { status: 431, .. })), "{outcome:?}");
    }
}

#[test]
fn a_head_may_be_limited_to_less_than_a_request_line() {
    let limits = Limits { request_line: 100, header_bytes: 30, ..limits() };
    let outcome = read_every_way("line", with_line("", 50).as_bytes(), &limits);
    assert!(matches!(outcome, Outcome::Refused(Refusal { status: 431, .. })), "{outcome:?}");
}

#[test]
fn a_response_head_has_the_same_limits() {
    let parse = |input: &str| {
        let mut head = ResponseHead::default();
        head.parse(input.as_bytes(), &limits(), Method::Get).map_err(|refusal| refusal.status)
    };
    let response = |bytes: usize| {
        let fixed = "HTTP/1.1 200 OK\r\nA: \r\n\r\n".len();
        format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "a".repeat(bytes - fixed))
    };
    assert_eq!(Ok(Progress::Complete), parse(&response(160)));
    assert_eq!(Err(431), parse(&response(161)));
    assert_eq!(Ok(Progress::Partial), parse(&response(200)[..159]));
    assert_eq!(Err(431), parse(&response(200)[..160]));
    let fields = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(count));
    assert_eq!(Ok(Progress::Complete), parse(&fields(4)));
    assert_eq!(Err(431), parse(&fields(5)));
}

#[test]
fn a_body_of_the_limit_passes_and_one_byte_more_is_413() {
    let request = |bytes: usize| {
        let body = "b".repeat(bytes);
        format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {bytes}\r\n\r\n{body}")
    };
    assert_eq!(None, status(&request(10)));
    assert_eq!(Some(413), status(&request(11)));
}

#[test]
fn chunks_of_the_limit_pass_and_one_byte_more_is_413() {
    let request = |second: usize| {
        let body = "b".repeat(second);
        format!(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
             6\r\n123456\r\n{second:x}\r\n{body}\r\n0\r\n\r\n"
        )
    };
    assert_eq!(None, status(&request(4)));
    assert_eq!(Some(413), status(&request(5)));
}

#[test]
fn the_largest_chunk_size_does_not_overflow() {
    let decode = |input: &[u8]| Chunked::new(u64::MAX).decode(input, &mut Vec::new());
    assert!(decode(b"ffffffffffffffff\r\n").is_ok());
    assert_eq!(413, decode(b"1\r\nx\r\nffffffffffffffff\r\n").unwrap_err().status);
}

#[test]
fn extensions_are_limited_over_the_whole_body() {
    let body = |bytes: usize| {
        let half = bytes / 2;
        let extension = |length: usize| format!(";{}", "e".repeat(length - 1));
        format!("1{}\r\nx\r\n0{}\r\n\r\n", extension(half), extension(bytes - half))
    };
    let decode = |text: &str| Chunked::new(10).decode(text.as_bytes(), &mut Vec::new());
    assert!(decode(&body(16 * 1024)).unwrap().done);
    assert_eq!(400, decode(&body(16 * 1024 + 1)).unwrap_err().status);
}

#[test]
fn trailers_are_limited() {
    let body = |bytes: usize| format!("0\r\na: {}\r\n\r\n", "t".repeat(bytes - 7));
    let decode = |text: &str, step: usize| {
        let mut decoder = Chunked::new(10);
        let mut done = false;
        for piece in text.as_bytes().chunks(step) {
            done = decoder.decode(piece, &mut Vec::new())?.done;
        }
        Ok::<bool, Refusal>(done)
    };
    for step in [1, 7, usize::MAX] {
        assert_eq!(Ok(true), decode(&body(8 * 1024), step));
        assert_eq!(431, decode(&body(8 * 1024 + 1), step).unwrap_err().status);
    }
}
