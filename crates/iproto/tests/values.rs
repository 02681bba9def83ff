//! The value vectors and the extensions: reading, skipping, and writing back the shortest form.

mod support;

use iproto::ext::{self, Datetime, Decimal, ErrorStack, Interval};
use iproto::msgpack::{self, Reader, Token};
use iproto::{ErrorKind, ProtocolError};
use serde::Deserialize;
use support::{bytes, vectors};

#[derive(Deserialize)]
struct Vectors {
    vector: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    packed: String,
    python: String,
    #[serde(default)]
    read_only: bool,
}

fn values() -> Vec<(Vector, Vec<u8>)> {
    let vectors = vectors::<Vectors>("values.toml").vector;
    vectors.into_iter().map(|vector| (bytes(&vector.packed), vector)).map(swap).collect()
}

fn swap<A, B>((first, second): (A, B)) -> (B, A) {
    (second, first)
}

/// Reads all tokens and writes each again.
fn rewritten(input: &[u8]) -> Result<Vec<u8>, ProtocolError> {
    let mut reader = Reader::new(input);
    let mut out = Vec::new();
    while !reader.is_empty() {
        write(&mut out, reader.token()?);
    }
    Ok(out)
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

#[test]
fn the_shortest_form_is_written_back() {
    for (vector, packed) in values() {
        let back = rewritten(&packed).unwrap();
        if vector.read_only {
            assert!(back.len() <= packed.len(), "{}", vector.python);
        } else {
            assert_eq!(packed, back, "{}", vector.python);
        }
    }
}

#[test]
fn skipping_goes_where_reading_goes() {
    for (vector, packed) in values() {
        let mut skipper = Reader::new(&packed);
        skipper.skip().unwrap();
        assert_eq!(packed.len(), skipper.position(), "{}", vector.python);
    }
}

#[test]
fn a_value_cut_short_is_refused_and_the_reader_stays() {
    for (vector, packed) in values() {
        for length in 0..packed.len() {
            let mut reader = Reader::new(&packed[..length]);
            let error = reader.skip().unwrap_err();
            assert_eq!(ErrorKind::Truncated, error.kind, "{}: {length}", vector.python);
            assert_eq!(0, reader.position(), "{}", vector.python);
            let whole = reader.token().is_ok();
            assert_eq!(whole, reader.position() > 0, "{}: {length}", vector.python);
            assert!(rewritten(&packed[..length]).is_err() || length == 0 || is_head(&packed));
        }
    }
}

/// Arrays and maps may end between two tokens.
fn is_head(packed: &[u8]) -> bool {
    matches!(Reader::new(packed).token(), Ok(Token::Array(_) | Token::Map(_)))
}

#[test]
fn depth_costs_nothing() {
    let deep = [vec![0x91; 1_000_000], vec![0xc0]].concat();
    let mut reader = Reader::new(&deep);
    assert_eq!(Ok(()), reader.skip());
    assert_eq!(deep.len(), reader.position());
}

#[test]
fn counts_that_were_only_claimed_are_refused_at_once() {
    let lie = [0xdf, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(ErrorKind::Truncated, Reader::new(&lie.repeat(1000)).skip().unwrap_err().kind);
    let long = [0xc6, 0xff, 0xff, 0xff, 0xff, 0];
    assert_eq!(ErrorKind::Truncated, Reader::new(&long).token().unwrap_err().kind);
}

#[test]
fn lengths_change_their_form_at_their_edges() {
    let widths = |write: fn(&mut Vec<u8>, &[u8])| {
        [0, 1, 2, 3, 4, 15, 16, 31, 32, 255, 256, 65_535, 65_536].map(|len| {
            let mut out = Vec::new();
            write(&mut out, &vec![7; len]);
            let mut reader = Reader::new(&out);
            reader.skip().unwrap();
            assert!(reader.is_empty());
            assert_eq!(out, rewritten(&out).unwrap());
            out.len() - len
        })
    };
    assert_eq!([1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 5], widths(msgpack::str_bytes));
    assert_eq!([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 5], widths(msgpack::bin));
    assert_eq!(
        [3, 2, 2, 3, 2, 3, 2, 3, 3, 3, 4, 4, 6],
        widths(|out, payload| msgpack::ext(out, 9, payload))
    );
}

#[test]
fn decimals_keep_sign_digits_and_scale() {
    let longest = "9".repeat(38);
    for text in
        ["0", "-0.00", "-12.50", "1E+5", "1E-7", "0.000001", "-1.23E+38", "123456", &longest]
    {
        let decimal: Decimal = text.parse().unwrap();
        assert_eq!(text, decimal.to_string());
        let mut payload = Vec::new();
        decimal.encode(&mut payload);
        assert_eq!(Ok(decimal), Decimal::decode(&payload), "{text}");
    }
    let long = "1".repeat(39);
    for text in ["", "-", ".", "1e", "1.2.3", "NaN", "Infinity", "--1", "1E+99999999999", &long] {
        assert!(text.parse::<Decimal>().is_err(), "{text}");
    }
}

#[test]
fn malformed_payloads_say_where() {
    let of_decimal = |hex| Decimal::decode(&bytes(hex)).unwrap_err();
    assert_eq!("a msgpack value", of_decimal("").expected);
    assert_eq!("digits of a decimal", of_decimal("02").expected);
    assert_eq!(("a digit of a decimal", 2), place(of_decimal("0212b50c")));
    assert_eq!(("the sign of a decimal", 2), place(of_decimal("021259")));
    assert_eq!("a scale of 32 bits", of_decimal("cf0000000100000000 1c").expected);
    let of_datetime = |hex| Datetime::decode(&bytes(hex)).unwrap_err();
    assert_eq!("8 or 16 bytes of a datetime", of_datetime("00").expected);
    assert_eq!("8 or 16 bytes of a datetime", of_datetime("000000000000000000").expected);
    let of_interval = |hex| Interval::decode(&bytes(hex)).unwrap_err();
    assert_eq!(("a part of an interval", 1), place(of_interval("010900")));
    assert_eq!(ErrorKind::Truncated, of_interval("0100").kind);
    assert_eq!(ErrorKind::Trailing, of_interval("0000").kind);
    assert_eq!("16 bytes of a UUID", ext::uuid(&[0; 15]).unwrap_err().expected);
}

fn place(error: ProtocolError) -> (&'static str, usize) {
    (error.expected, error.offset)
}

#[test]
fn datetimes_intervals_and_errors_come_back() {
    let moment = Datetime { seconds: -1, nanoseconds: 999, tz_offset: -300, tz_index: 947 };
    let mut payload = Vec::new();
    moment.encode(&mut payload);
    assert_eq!((16, Ok(moment)), (payload.len(), Datetime::decode(&payload)));
    let span = Interval { years: i64::MIN, weeks: 1, adjust: 2, ..Interval::default() };
    payload.clear();
    span.encode(&mut payload);
    assert_eq!(Ok(span), Interval::decode(&payload));
    let sent = "8100928700ab437573746f6d4572726f72020101a46576616c03a3776879040005030681ab\
                637573746f6d5f74797065a74d794572726f728600ab436c69656e744572726f72020101a4\
                6576616c03a4646565700400052a";
    let stack = ErrorStack::decode(&bytes(sent)).unwrap();
    let said: Vec<_> =
        stack.frames.iter().map(|frame| (frame.message.as_str(), frame.code)).collect();
    assert_eq!([("why", 3), ("deep", 42)], said[..]);
    payload.clear();
    stack.encode(&mut payload);
    assert_eq!(Ok(stack), ErrorStack::decode(&payload));
}
