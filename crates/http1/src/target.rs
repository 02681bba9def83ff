//! Request targets (RFC 9112 section 3.2): four forms, and their agreement with Host.

use crate::classes::{self, HOST, LITERAL, PATH, TARGET};
use crate::fields::Span;
use crate::method::Method;
use crate::refusal::{BAD_AUTHORITY, BAD_TARGET, BAD_TARGET_FORM, HOST_MISMATCH, Refusal};

/// A request target and its parts.
pub(crate) struct Target {
    pub whole: Span,
    pub path: Span,
    pub query: Option<Span>,
    /// Present in absolute-form and authority-form.
    pub authority: Option<Authority>,
}

/// Whom the target itself addresses.
#[derive(Clone, Copy)]
pub(crate) struct Authority {
    span: Span,
    /// What a missing port means; empty if a port has to be there.
    default_port: &'static [u8],
}

/// Reads the target that starts at `start` and the space behind it; `None` if partial.
#[inline]
pub(crate) fn read(input: &[u8], start: usize, method: Method) -> Result<Option<Target>, Refusal> {
    let rest = &input[start..];
    let (path, after) = rest.split_at(classes::run(rest, PATH));
    let query = if let [b'?', ..] = after { classes::run(after, TARGET) } else { 0 };
    let mark = start + path.len();
    let end = mark + query;
    match &after[query..] {
        [] => return Ok(None),
        [b' ', ..] if end > start => {}
        _ => return Err(BAD_TARGET),
    }
    if rest[0] == b'/' && method != Method::Connect {
        return Ok(Some(Target {
            whole: Span::new(start, end),
            path: Span::new(start, mark),
            query: (mark < end).then(|| Span::new(mark + 1, end)),
            authority: None,
        }));
    }
    unusual(input, start, mark, end, method).map(Some)
}

/// The three forms that are not a plain path.
#[cold]
fn unusual(
    input: &[u8],
    start: usize,
    mark: usize,
    end: usize,
    method: Method,
) -> Result<Target, Refusal> {
    let whole = Span::new(start, end);
    match whole.of(input) {
        _ if method == Method::Connect => authority_form(input, whole),
        b"*" if method == Method::Options => {
            Ok(Target { whole, path: whole, query: None, authority: None })
        }
        _ => absolute_form(input, whole, mark),
    }
}

fn authority_form(input: &[u8], whole: Span) -> Result<Target, Refusal> {
    match split_authority(whole.of(input)) {
        Some((host, Some(port))) if !host.is_empty() && !port.is_empty() => Ok(Target {
            whole,
            path: Span { start: whole.end, end: whole.end },
            query: None,
            authority: Some(Authority { span: whole, default_port: b"" }),
        }),
        _ => Err(BAD_TARGET_FORM),
    }
}

fn absolute_form(input: &[u8], whole: Span, mark: usize) -> Result<Target, Refusal> {
    let (scheme_len, default_port) = scheme(whole.of(input)).ok_or(BAD_TARGET_FORM)?;
    let authority_start = whole.start as usize + scheme_len;
    let slash = memchr::memchr(b'/', &input[authority_start..mark])
        .map_or(mark, |offset| authority_start + offset);
    let span = Span::new(authority_start, slash);
    match split_authority(span.of(input)) {
        Some((host, _)) if !host.is_empty() => {}
        _ => return Err(BAD_AUTHORITY),
    }
    // An empty path means "/" (RFC 9110 section 4.2.3): the slash before the authority is one.
    let path = if slash == mark {
        Span::new(authority_start - 1, authority_start)
    } else {
        Span::new(slash, mark)
    };
    let end = whole.end as usize;
    let query = (mark < end).then(|| Span::new(mark + 1, end));
    Ok(Target { whole, path, query, authority: Some(Authority { span, default_port }) })
}

/// Bytes of the scheme with its slashes, and the port that it implies.
fn scheme(target: &[u8]) -> Option<(usize, &'static [u8])> {
    let known: [(&[u8], &[u8]); 2] = [(b"http://", b"80"), (b"https://", b"443")];
    known
        .into_iter()
        .find(|(name, _)| {
            target.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        })
        .map(|(name, port)| (name.len(), port))
}

/// Refuses a Host field that names another authority than the target.
///
/// RFC 9112 section 3.2.2 would ignore the field; two names for one message are how caches and
/// proxies come to different answers, so the message goes.
#[inline]
pub(crate) fn agree(
    input: &[u8],
    authority: Option<Authority>,
    host: Option<Span>,
) -> Result<(), Refusal> {
    match (authority, host) {
        (Some(authority), Some(host)) if !is_same(input, authority, host) => Err(HOST_MISMATCH),
        _ => Ok(()),
    }
}

#[cold]
fn is_same(input: &[u8], authority: Authority, host: Span) -> bool {
    let parts = |span: Span| {
        let (host, port) = split_authority(span.of(input))?;
        let port = port.filter(|port| !port.is_empty()).unwrap_or(authority.default_port);
        Some((host.to_ascii_lowercase(), port))
    };
    parts(authority.span) == parts(host)
}

/// Whether `value` may be the value of a Host field: `host [":" port]`, possibly empty.
#[inline]
pub(crate) fn is_authority(value: &[u8]) -> bool {
    match &value[classes::run(value, HOST)..] {
        [] => true,
        [b':', port @ ..] => is_port(port),
        _ => split_authority(value).is_some(),
    }
}

/// Host and port; `None` if malformed. User information is not allowed (RFC 9110 section 4.2.4).
#[cold]
fn split_authority(value: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let end = match value.first() {
        Some(b'[') => literal_end(value)?,
        _ => classes::run(value, HOST),
    };
    let (host, rest) = value.split_at(end);
    match rest {
        [] => Some((host, None)),
        [b':', port @ ..] if is_port(port) => Some((host, Some(port))),
        _ => None,
    }
}

/// End of an IPv6 address in brackets.
fn literal_end(value: &[u8]) -> Option<usize> {
    let close = 1 + classes::run(&value[1..], LITERAL);
    let text = std::str::from_utf8(&value[1..close]).ok()?;
    (value.get(close) == Some(&b']') && text.parse::<std::net::Ipv6Addr>().is_ok())
        .then_some(close + 1)
}

#[inline]
fn is_port(port: &[u8]) -> bool {
    port.iter().all(u8::is_ascii_digit)
        && match port.len() {
            0..5 => true,
            5 => port <= b"65535",
            _ => false,
        }
}
