//! Invariant: the chunked coding decodes to the same data, or to the same refusal, however its
//! bytes arrive; it never takes a byte behind its end, and never more data than its limit.

#![no_main]

use http1::{Chunked, Refusal};
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 4096;

#[derive(PartialEq, Debug)]
struct Body {
    data: Vec<u8>,
    consumed: usize,
    done: bool,
}

fuzz_target!(|input: &[u8]| {
    // The first byte says how long the pieces are.
    let Some((&step, input)) = input.split_first() else {
        return;
    };
    let whole = decode(input, input.len().max(1));
    assert_eq!(whole, decode(input, 1));
    assert_eq!(whole, decode(input, usize::from(step).max(1)));
    let Ok(body) = whole else {
        return;
    };
    assert!(body.data.len() as u64 <= LIMIT);
    assert!(body.done || body.consumed == input.len());
    if body.done {
        assert!(input[..body.consumed].ends_with(b"\r\n"));
        assert_eq!(Ok(body), decode_exactly(input));
    }
});

fn decode(input: &[u8], size: usize) -> Result<Body, Refusal> {
    let mut decoder = Chunked::new(LIMIT);
    let mut body = Body { data: Vec::new(), consumed: 0, done: false };
    for piece in input.chunks(size) {
        let step = decoder.decode(piece, &mut body.data)?;
        body.consumed += step.consumed;
        body.done = step.done;
        if body.done {
            break;
        }
    }
    Ok(body)
}

/// Decodes only what the first decoding used up: it is a body by itself.
fn decode_exactly(input: &[u8]) -> Result<Body, Refusal> {
    let consumed = decode(input, input.len())?.consumed;
    decode(&input[..consumed], consumed)
}
