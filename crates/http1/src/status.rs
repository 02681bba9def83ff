//! Status lines, ready to be copied.

macro_rules! lines {
    ($($code:literal $phrase:literal)*) => {
        /// The status line of a registered status.
        #[inline]
        pub(crate) fn line(status: u16) -> Option<&'static [u8]> {
            match status {
                $($code => Some(concat!("HTTP/1.1 ", $code, " ", $phrase, "\r\n").as_bytes()),)*
                _ => None,
            }
        }
    };
}

lines! {
    100 "Continue"
    101 "Switching Protocols"
    102 "Processing"
    103 "Early Hints"
    200 "OK"
    201 "Created"
    202 "Accepted"
    203 "Non-Authoritative Information"
    204 "No Content"
    205 "Reset Content"
    206 "Partial Content"
    207 "Multi-Status"
    208 "Already Reported"
    226 "IM Used"
    300 "Multiple Choices"
    301 "Moved Permanently"
    302 "Found"
    303 "See Other"
    304 "Not Modified"
    305 "Use Proxy"
    307 "Temporary Redirect"
    308 "Permanent Redirect"
    400 "Bad Request"
    401 "Unauthorized"
    402 "Payment Required"
    403 "Forbidden"
    404 "Not Found"
    405 "Method Not Allowed"
    406 "Not Acceptable"
    407 "Proxy Authentication Required"
    408 "Request Timeout"
    409 "Conflict"
    410 "Gone"
    411 "Length Required"
    412 "Precondition Failed"
    413 "Content Too Large"
    414 "URI Too Long"
    415 "Unsupported Media Type"
    416 "Range Not Satisfiable"
    417 "Expectation Failed"
    418 "I'm a teapot"
    421 "Misdirected Request"
    422 "Unprocessable Content"
    423 "Locked"
    424 "Failed Dependency"
    425 "Too Early"
    426 "Upgrade Required"
    428 "Precondition Required"
    429 "Too Many Requests"
    431 "Request Header Fields Too Large"
    451 "Unavailable For Legal Reasons"
    500 "Internal Server Error"
    501 "Not Implemented"
    502 "Bad Gateway"
    503 "Service Unavailable"
    504 "Gateway Timeout"
    505 "HTTP Version Not Supported"
    506 "Variant Also Negotiates"
    507 "Insufficient Storage"
    508 "Loop Detected"
    510 "Not Extended"
    511 "Network Authentication Required"
}

/// The status that is sent: what has no three digits becomes 500.
#[inline]
pub(crate) fn sendable(status: u16) -> u16 {
    if (100..1000).contains(&status) { status } else { 500 }
}

/// The status line of a sendable status.
pub(crate) fn push_line(out: &mut Vec<u8>, status: u16) {
    if let Some(line) = line(status) {
        return out.extend_from_slice(line);
    }
    out.extend_from_slice(b"HTTP/1.1 ");
    crate::response::push_number(out, u64::from(status));
    out.extend_from_slice(b" \r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(status: u16) -> String {
        let mut out = Vec::new();
        push_line(&mut out, sendable(status));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn known_unknown_and_impossible_statuses_get_a_line() {
        assert_eq!("HTTP/1.1 404 Not Found\r\n", pushed(404));
        assert_eq!("HTTP/1.1 299 \r\n", pushed(299));
        assert_eq!("HTTP/1.1 500 Internal Server Error\r\n", pushed(99));
        assert_eq!("HTTP/1.1 500 Internal Server Error\r\n", pushed(1000));
    }
}
