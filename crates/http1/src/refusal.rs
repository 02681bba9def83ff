//! Every reason to refuse a message: the only place that pairs a fault with a status.

use std::fmt;

/// Why a message is refused. The connection cannot be used any further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Status of the response that says so.
    pub status: u16,
    /// A short sentence for the body of that response.
    pub reason: &'static str,
    /// What the fault concerns, for counters and logs.
    pub kind: RefusalKind,
}

/// What a refusal concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefusalKind {
    /// Bytes that no HTTP/1.1 message may contain there.
    Syntax,
    /// The request target, or its form.
    Target,
    /// The HTTP version.
    Version,
    /// The Host field.
    Host,
    /// Where the body ends is in doubt.
    Framing,
    /// The chunked coding.
    Chunk,
    /// An expectation that cannot be met.
    Expectation,
    /// The parts of a form.
    Form,
    /// A limit was passed.
    TooLarge,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.status, self.reason)
    }
}

impl std::error::Error for Refusal {}

const fn refusal(status: u16, kind: RefusalKind, reason: &'static str) -> Refusal {
    Refusal { status, reason, kind }
}

macro_rules! refusals {
    ($($name:ident = $status:literal $kind:ident $reason:literal;)*) => {
        $(pub(crate) const $name: Refusal = refusal($status, RefusalKind::$kind, $reason);)*
        #[cfg(test)]
        const ALL: &[Refusal] = &[$($name),*];
    };
}

refusals! {
    BAD_METHOD = 400 Syntax "The method is not a token.";
    BAD_FIELD_NAME = 400 Syntax "A field name is not a token followed by a colon.";
    SPACE_BEFORE_COLON = 400 Syntax "There is white space between a field name and its colon.";
    BAD_FIELD_VALUE = 400 Syntax "A field value contains a control character.";
    FOLDING = 400 Syntax "Folded field lines are obsolete.";
    BARE_CR = 400 Syntax "A carriage return stands without a line feed.";
    BARE_LF = 400 Syntax "A line feed stands without a carriage return.";
    BAD_STATUS_LINE = 400 Syntax "The status line is malformed.";

    BAD_TARGET = 400 Target "The request target contains a character that is not allowed.";
    BAD_TARGET_FORM = 400 Target "The form of the request target does not fit the method.";
    BAD_AUTHORITY = 400 Target "The authority of the request target is malformed.";

    BAD_VERSION = 400 Version "The request line does not end in an HTTP version.";
    UNKNOWN_VERSION = 505 Version "Only HTTP/1.0 and HTTP/1.1 are spoken here.";

    NO_HOST = 400 Host "The Host field is missing.";
    DOUBLE_HOST = 400 Host "There is more than one Host field.";
    BAD_HOST = 400 Host "The Host field is malformed.";
    HOST_MISMATCH = 400 Host "The Host field and the request target disagree.";

    BAD_LENGTH = 400 Framing "Content-Length is not a number.";
    DOUBLE_LENGTH = 400 Framing "There is more than one Content-Length.";
    LENGTH_AND_CODING = 400 Framing "Content-Length and Transfer-Encoding exclude each other.";
    BAD_CODING = 400 Framing "The only transfer coding understood is chunked, once.";
    CODING_IN_HTTP10 = 400 Framing "HTTP/1.0 has no Transfer-Encoding.";
    UNEXPECTED_BODY = 400 Framing "The method allows no body.";
    FRAMING_TRAILER = 400 Framing "A trailer names a field that belongs into the head.";

    BAD_CHUNK_SIZE = 400 Chunk "A chunk size is malformed.";
    BAD_CHUNK_EXTENSION = 400 Chunk "A chunk extension is malformed.";
    BAD_CHUNK_END = 400 Chunk "A chunk does not end where its size says.";

    BAD_BOUNDARY = 400 Form "The content type of the form names no valid boundary.";
    BAD_BOUNDARY_LINE = 400 Form "Something follows a boundary of the form on its line.";
    UNFINISHED_FORM = 400 Form "The form ends before its last boundary.";
    NO_DISPOSITION = 400 Form "A part of the form has no Content-Disposition.";
    BAD_DISPOSITION = 400 Form "The Content-Disposition of a part is not form-data with a name.";
    DOUBLE_PART_FIELD = 400 Form "A part of the form says twice what it is.";
    BAD_FILE_NAME = 400 Form "The extended file name of a part is malformed.";
    CODED_PART = 400 Form "A part of the form has a Content-Transfer-Encoding.";

    UNKNOWN_EXPECTATION = 417 Expectation "The only expectation understood is 100-continue.";

    LONG_REQUEST_LINE = 414 TooLarge "The request line is too long.";
    MANY_FIELDS = 431 TooLarge "There are too many header fields.";
    LARGE_HEAD = 431 TooLarge "The header fields are too large.";
    LARGE_TRAILERS = 431 TooLarge "The trailer fields are too large.";
    LARGE_BODY = 413 TooLarge "The body is too large.";
    MANY_FORM_FIELDS = 413 TooLarge "The form has too many fields.";
    MANY_FILES = 413 TooLarge "The form has too many files.";
    LARGE_FORM = 413 TooLarge "The form is too large.";
    LARGE_FORM_FIELD = 413 TooLarge "A field of the form is too large.";
    LARGE_FILE = 413 TooLarge "A file of the form is too large.";
    LARGE_PART_HEAD = 413 TooLarge "The header fields of a part are too large.";
    LARGE_EXTENSIONS = 400 TooLarge "The chunk extensions are too large.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_is_a_sentence_of_its_own_with_an_error_status() {
        for (index, one) in ALL.iter().enumerate() {
            assert!((400..600).contains(&one.status), "{one}");
            assert!(one.reason.ends_with('.'), "{one}");
            assert!(ALL[index + 1..].iter().all(|other| other.reason != one.reason), "{one}");
        }
    }
}
