//! UTF-8 that comes in pieces.

use crate::fault::{BAD_TEXT, Fault};

/// How many bytes of `text` are whole characters, given that the first `checked` are.
///
/// Fails at the first byte that no continuation can mend. What may still become a character at
/// the end, at most three bytes, is left out.
pub fn check(text: &[u8], checked: usize) -> Result<usize, Fault> {
    match std::str::from_utf8(&text[checked..]) {
        Ok(_) => Ok(text.len()),
        Err(error) if error.error_len().is_none() => Ok(checked + error.valid_up_to()),
        Err(_) => Err(BAD_TEXT),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_cut_character_waits_and_a_broken_one_does_not() {
        let euro = "€".as_bytes();
        assert_eq!(Ok(0), check(&euro[..1], 0));
        assert_eq!(Ok(0), check(&euro[..2], 0));
        assert_eq!(Ok(3), check(euro, 0));
        assert!(check(&[0xe2, 0x28], 0).is_err());
        // The first half of a surrogate, and what lies above U+10FFFF, can never become right.
        assert!(check(&[0xed, 0xa0], 0).is_err());
        assert!(check(&[0xf4, 0x90], 0).is_err());
    }
}
