//! How much of a message is read before it is refused.

/// Upper bounds on what one request may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of the request line without its line end; more is refused with 414.
    pub request_line: usize,
    /// Header fields of one head; more is refused with 431.
    pub header_count: usize,
    /// Bytes of the whole head, request line and blank line included; more is refused with 431.
    pub header_bytes: usize,
    /// Bytes of the body; more is refused with 413.
    pub body_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_line: 8190,
            header_count: 100,
            header_bytes: 32_768,
            body_bytes: 16 * 1024 * 1024,
        }
    }
}

/// The part of the input that may belong to something limited to `most` bytes.
///
/// Looking no further than the limit is what makes a refusal independent of how the input was
/// cut into pieces.
pub(crate) struct Window<'a> {
    /// The bytes to look at.
    pub bytes: &'a [u8],
    /// There is no room for more: what is not complete now is too large.
    pub full: bool,
}

impl<'a> Window<'a> {
    /// At most `most` bytes of `input`; never more than a `u32` span can address.
    pub(crate) fn new(input: &'a [u8], most: usize) -> Self {
        let most = most.min(u32::MAX as usize);
        Self { bytes: &input[..input.len().min(most)], full: input.len() >= most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_full_from_its_limit_on() {
        assert!(!Window::new(b"abc", 4).full);
        assert!(Window::new(b"abcd", 4).full);
        assert!(Window::new(b"abcde", 4).full);
        assert_eq!(b"abcd", Window::new(b"abcde", 4).bytes);
    }
}
