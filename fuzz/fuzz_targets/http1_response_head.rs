//! Invariant: what comes of a response head does not depend on how its bytes arrive, and an
//! accepted head never has two framings.

#![no_main]

use http1::{Limits, Method, Progress, Refusal, ResponseFraming, ResponseHead};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits =
    Limits { request_line: 64, header_count: 8, header_bytes: 256, body_bytes: 1 << 20 };

fuzz_target!(|input: &[u8]| {
    // The first byte says what was asked.
    let Some((&asked, input)) = input.split_first() else {
        return;
    };
    let to = [Method::Get, Method::Head, Method::Connect][usize::from(asked) % 3];
    let whole = parse(&mut ResponseHead::default(), input, to);
    let mut used = ResponseHead::default();
    let grown = (0..=input.len())
        .map(|end| parse(&mut used, &input[..end], to))
        .find(|result| *result != Ok(None))
        .unwrap_or(Ok(None));
    assert_eq!(whole, grown);
    if let Ok(Some(head)) = whole {
        assert_sound(input, &head, to);
    }
});

fn parse(
    head: &mut ResponseHead,
    input: &[u8],
    to: Method,
) -> Result<Option<ResponseHead>, Refusal> {
    let progress = head.parse(input, &LIMITS, to)?;
    Ok((progress == Progress::Complete).then(|| head.clone()))
}

fn assert_sound(input: &[u8], head: &ResponseHead, to: Method) {
    assert!((100..1000).contains(&head.status));
    assert!(input[..head.len].ends_with(b"\r\n\r\n") && head.len <= LIMITS.header_bytes);
    let length = head.field(input, "content-length");
    let coding = head.field(input, "transfer-encoding");
    assert!(length.is_none() || coding.is_none());
    assert!(head.framing != ResponseFraming::UntilClose || !head.keep_alive);
    if to == Method::Head {
        assert_eq!(ResponseFraming::None, head.framing);
    }
}
