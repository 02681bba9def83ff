//! Invariant: any payload is a value or a fault within it; a value that is written again reads as
//! itself, a decimal also by way of its text.

#![no_main]

use iproto::ProtocolError;
use iproto::ext::{self, Datetime, Decimal, ErrorStack, Interval};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some(decimal) = round_trip(input, Decimal::decode, Decimal::encode) {
        let text = decimal.to_string();
        // The server's own have at most 38 digits; the text of more is refused.
        if let Ok(again) = text.parse::<Decimal>() {
            assert_eq!(decimal, again, "{text}");
        }
    }
    round_trip(input, Datetime::decode, Datetime::encode);
    round_trip(input, Interval::decode, Interval::encode);
    round_trip(input, ErrorStack::decode, ErrorStack::encode);
    assert_eq!(input.len() == 16, ext::uuid(input).is_ok());
    if let Ok(text) = str::from_utf8(input)
        && let Ok(decimal) = text.parse::<Decimal>()
    {
        let mut payload = Vec::new();
        decimal.encode(&mut payload);
        assert_eq!(Ok(decimal), Decimal::decode(&payload));
    }
});

fn round_trip<T: PartialEq + std::fmt::Debug>(
    input: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, ProtocolError>,
    encode: impl Fn(&T, &mut Vec<u8>),
) -> Option<T> {
    match decode(input) {
        Ok(value) => {
            let mut payload = Vec::new();
            encode(&value, &mut payload);
            assert_eq!(Ok(&value), decode(&payload).as_ref());
            Some(value)
        }
        Err(error) => {
            assert!(error.offset <= input.len());
            None
        }
    }
}
