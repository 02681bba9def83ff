//! Decimals: a scale, then digits two to a byte and a sign in the last half.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::fault;
use crate::error::ProtocolError;
use crate::msgpack::{self, Reader};

/// An exact decimal number: `digits` × 10^-`scale`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decimal {
    negative: bool,
    /// Values 0 to 9, the first not zero unless it is the only one.
    digits: Vec<u8>,
    scale: i32,
}

/// Text that is no decimal the server can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotDecimal;

/// The most digits the server holds.
const MOST_DIGITS: usize = 38;
const PLUS: u8 = 0x0c;
const MINUS: u8 = 0x0d;

impl Decimal {
    /// Reads the payload of an extension.
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader::new(payload);
        let scale = reader.int()?;
        let scale = i32::try_from(scale).map_err(|_| fault("a scale of 32 bits", 0))?;
        let at = reader.position();
        let (&last, packed) =
            reader.rest().split_last().ok_or_else(|| fault("digits of a decimal", at))?;
        let halves = packed.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        let digits: Vec<u8> = halves.chain([last >> 4]).collect();
        if let Some(place) = digits.iter().position(|&digit| digit > 9) {
            return Err(fault("a digit of a decimal", at + place / 2));
        }
        let negative = match last & 0x0f {
            0x0a | PLUS | 0x0e | 0x0f => false,
            0x0b | MINUS => true,
            _ => return Err(fault("the sign of a decimal", payload.len() - 1)),
        };
        Ok(Self { negative, digits: without_leading_zeros(digits), scale })
    }

    /// Appends the payload of an extension.
    pub fn encode(&self, out: &mut Vec<u8>) {
        msgpack::int(out, self.scale.into());
        let sign = if self.negative { MINUS } else { PLUS };
        let mut halves = Vec::with_capacity(self.digits.len() + 2);
        if self.digits.len().is_multiple_of(2) {
            halves.push(0);
        }
        halves.extend_from_slice(&self.digits);
        halves.push(sign);
        out.extend(halves.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    }
}

impl FromStr for Decimal {
    type Err = NotDecimal;

    /// Takes `-12.50`, `.5` and `1.5E+3`; refuses infinity, NaN and more than 38 digits.
    fn from_str(text: &str) -> Result<Self, NotDecimal> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (number, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse().map_err(|_| NotDecimal)?),
            None => (unsigned, 0i32),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let characters = || whole.bytes().chain(fraction.bytes());
        if !characters().all(|digit| digit.is_ascii_digit()) || characters().next().is_none() {
            return Err(NotDecimal);
        }
        let digits = without_leading_zeros(characters().map(|digit| digit - b'0').collect());
        if digits.len() > MOST_DIGITS {
            return Err(NotDecimal);
        }
        let places = i32::try_from(fraction.len()).map_err(|_| NotDecimal)?;
        let scale = places.checked_sub(exponent).ok_or(NotDecimal)?;
        Ok(Self { negative, digits, scale })
    }
}

impl fmt::Display for Decimal {
    /// Writes by the rule of the General Decimal Arithmetic's to-scientific-string, so that the
    /// scale survives: a plain number where that needs few zeros, otherwise an exponent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text: String = self.digits.iter().map(|&digit| char::from(b'0' + digit)).collect();
        let exponent = -i64::from(self.scale);
        let adjusted = exponent + i64::try_from(text.len()).unwrap_or(i64::MAX) - 1;
        if exponent <= 0 && adjusted >= -6 {
            let places = usize::try_from(self.scale).unwrap_or(0);
            if places >= text.len() {
                text.insert_str(0, &"0".repeat(places + 1 - text.len()));
            }
            if places > 0 {
                text.insert(text.len() - places, '.');
            }
        } else {
            if text.len() > 1 {
                text.insert(1, '.');
            }
            write!(text, "E{adjusted:+}")?;
        }
        let sign = if self.negative { "-" } else { "" };
        write!(formatter, "{sign}{text}")
    }
}

fn without_leading_zeros(mut digits: Vec<u8>) -> Vec<u8> {
    let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
    digits.drain(..zeros.min(digits.len() - 1));
    digits
}

impl fmt::Display for NotDecimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a decimal is a finite number of at most 38 digits")
    }
}

impl std::error::Error for NotDecimal {}
