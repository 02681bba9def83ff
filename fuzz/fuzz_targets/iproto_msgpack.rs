//! Invariant: skipping a value ends where walking its tokens ends, or both refuse it; what was
//! walked and written again is not longer, and reads as the same tokens; a refused reader has not
//! moved.

#![no_main]

use iproto::msgpack::{self, Reader, Token};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut skipper = Reader::new(input);
    let mut walker = Reader::new(input);
    while !skipper.is_empty() {
        let start = skipper.position();
        let skipped = skipper.skip();
        let walked = walk(&mut walker);
        match (skipped, walked) {
            (Ok(()), Some(tokens)) => {
                assert!(skipper.position() > start && skipper.position() <= input.len());
                assert_eq!(skipper.position(), walker.position());
                check_rewritten(skipper.since(start), &tokens);
            }
            (Err(error), None) => {
                assert_eq!(start, skipper.position());
                assert!(error.offset <= input.len());
                return;
            }
            (skipped, walked) => panic!("skipped {skipped:?}, walked {walked:?}"),
        }
    }
});

/// All tokens of one value, or nothing if it is malformed.
fn walk<'a>(reader: &mut Reader<'a>) -> Option<Vec<Token<'a>>> {
    let mut tokens = Vec::new();
    let mut owed = 1u64;
    while owed > 0 {
        let token = reader.token().ok()?;
        owed -= 1;
        owed += match token {
            Token::Array(count) => u64::from(count),
            Token::Map(count) => 2 * u64::from(count),
            _ => 0,
        };
        tokens.push(token);
    }
    Some(tokens)
}

fn check_rewritten(input: &[u8], tokens: &[Token<'_>]) {
    let mut out = Vec::new();
    for &token in tokens {
        write(&mut out, token);
    }
    assert!(out.len() <= input.len());
    let mut reader = Reader::new(&out);
    let again = walk(&mut reader).expect("what was written can be read");
    assert!(reader.is_empty());
    assert!(again.iter().zip(tokens).all(|(again, token)| same(*again, *token)));
    assert_eq!(tokens.len(), again.len());
}

fn write(out: &mut Vec<u8>, token: Token<'_>) {
    match token {
        Token::Nil => msgpack::nil(out),
        Token::Bool(value) => msgpack::bool(out, value),
        Token::Int(value) => msgpack::int(out, value),
        Token::UInt(value) => msgpack::uint(out, value),
        Token::F32(value) => msgpack::f32(out, value),
        Token::F64(value) => msgpack::f64(out, value),
        Token::Str(value) => msgpack::str_bytes(out, value),
        Token::Bin(value) => msgpack::bin(out, value),
        Token::Array(count) => msgpack::array(out, count as usize),
        Token::Map(count) => msgpack::map(out, count as usize),
        Token::Ext(kind, payload) => msgpack::ext(out, kind, payload),
    }
}

/// Floats by their bits, and integers by their value: the form may change.
fn same(first: Token<'_>, second: Token<'_>) -> bool {
    match (first, second) {
        (Token::F32(first), Token::F32(second)) => first.to_bits() == second.to_bits(),
        (Token::F64(first), Token::F64(second)) => first.to_bits() == second.to_bits(),
        (Token::UInt(first), Token::Int(second)) => i64::try_from(first) == Ok(second),
        (first, second) => first == second,
    }
}
