//! Close codes and the payload of a close frame (RFC 6455 sections 5.5.1 and 7.4).

use crate::fault::{BAD_CODE, BAD_REASON, Fault, SHORT_CLOSE};

/// What a close frame says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Close {
    /// The code; 1005 where the frame was empty.
    pub code: u16,
    /// The words that came with it.
    pub reason: String,
}

impl Close {
    /// The code that stands for a close frame without one.
    pub const NO_CODE: u16 = 1005;
    /// The code that stands for a connection that ended without a close frame.
    pub const ABNORMAL: u16 = 1006;
    /// The most bytes that a reason may have.
    pub const REASON_BYTES: usize = 123;

    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Fault> {
        match payload {
            [] => Ok(Self { code: Self::NO_CODE, reason: String::new() }),
            [_] => Err(SHORT_CLOSE),
            [high, low, reason @ ..] => {
                let code = u16::from_be_bytes([*high, *low]);
                if !is_sendable(code) {
                    return Err(BAD_CODE);
                }
                let reason = std::str::from_utf8(reason).map_err(|_| BAD_REASON)?;
                Ok(Self { code, reason: reason.to_owned() })
            }
        }
    }
}

/// May a close frame carry this code? 1004 to 1006 and 1015 never travel; what is not assigned
/// below 3000 is reserved.
pub fn is_sendable(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

#[cfg(test)]
mod tests {
    use super::is_sendable;

    #[test]
    fn codes_that_never_travel_are_told_from_those_that_do() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, u16::MAX] {
            assert!(!is_sendable(code), "{code}");
        }
        for code in [1000, 1003, 1007, 1014, 3000, 3999, 4000, 4999] {
            assert!(is_sendable(code), "{code}");
        }
    }
}
