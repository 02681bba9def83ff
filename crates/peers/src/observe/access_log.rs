//! The access log: a template such as `{client} "{method} {target}" {status}`, filled for each exchange.
//!
//! What the request says is copied when it starts, since its buffers are used again; the answer's
//! part comes at the end.

use std::io::Write;
use std::mem::take;
use std::net::SocketAddr;

use http1::{Version, format_date};
use reactor::Address;

use super::Micros;
use super::text::Escape;
use crate::request::RequestData;

/// A field that a template may name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Client,
    Method,
    Target,
    Version,
    /// A header of the request, in lower case.
    Header(String),
    /// `21/Nov/2026:23:48:23 +0000`.
    Time,
    /// `2026-11-21T23:48:23Z`.
    IsoTime,
    Status,
    Bytes,
    Micros,
    Seconds,
    /// `X-Request-ID` of the answer, or of the request.
    RequestId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(Vec<u8>),
    /// Known when the request comes: the next text of the scene.
    Early(Field),
    /// Known when it has been answered.
    Late(Field),
}

/// A template that does not make sense: the name that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError(pub String);

/// What a line looks like.
#[derive(Clone, Debug)]
pub struct Template {
    parts: Vec<Part>,
    escape: Escape,
}

/// The request's part of a line: escaped texts, one after the other.
#[derive(Debug, Default)]
pub(super) struct Scene {
    texts: Vec<u8>,
    ends: Vec<usize>,
    request_id: Vec<u8>,
}

/// A second of the wall clock, written once for all lines of that second.
#[derive(Debug)]
pub(super) struct Moment {
    seconds: u64,
    time: Vec<u8>,
    iso_time: Vec<u8>,
}

impl Default for Moment {
    fn default() -> Self {
        Self { seconds: u64::MAX, time: Vec::new(), iso_time: Vec::new() }
    }
}

impl Moment {
    pub(super) fn move_to(&mut self, unix_seconds: u64) {
        if self.seconds != unix_seconds {
            self.seconds = unix_seconds;
            self.time.clear();
            self.iso_time.clear();
            push_time(&mut self.time, unix_seconds);
            push_iso_time(&mut self.iso_time, unix_seconds);
        }
    }
}

impl Template {
    /// Read a template: literal text and `{field}`; `{{` and `}}` are braces.
    pub fn parse(text: &str, json: bool) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.extend_from_slice(&rest.as_bytes()[..at]);
            let brace = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            if rest.as_bytes().first() == Some(&brace) {
                literal.push(brace);
                rest = &rest[1..];
                continue;
            }
            let (name, after) = rest
                .split_once('}')
                .filter(|_| brace == b'{')
                .ok_or_else(|| TemplateError(rest.to_owned()))?;
            if !literal.is_empty() {
                parts.push(Part::Literal(take(&mut literal)));
            }
            parts.push(part(name)?);
            rest = after;
        }
        literal.extend_from_slice(rest.as_bytes());
        literal.push(b'\n');
        parts.push(Part::Literal(literal));
        Ok(Self { parts, escape: if json { Escape::Json } else { Escape::Hex } })
    }

    pub(super) fn remember(
        &self,
        scene: &mut Scene,
        request: &RequestData,
        from: &Address,
        moment: &Moment,
    ) {
        scene.texts.clear();
        scene.ends.clear();
        for part in &self.parts {
            match part {
                Part::Early(field) => {
                    self.push_early(&mut scene.texts, field, request, from, moment);
                    scene.ends.push(scene.texts.len());
                }
                Part::Late(Field::RequestId) => {
                    scene.request_id.clear();
                    let given = request.field("x-request-id").unwrap_or_default();
                    scene.request_id.extend_from_slice(given);
                }
                _ => {}
            }
        }
    }

    fn push_early(
        &self,
        out: &mut Vec<u8>,
        field: &Field,
        request: &RequestData,
        from: &Address,
        moment: &Moment,
    ) {
        let head = &request.head;
        match field {
            Field::Client => push_client(out, from),
            Field::Method => self.push_text(out, head.method_name.of(&request.bytes)),
            Field::Target => self.push_text(out, head.target.of(&request.bytes)),
            Field::Version => out.extend_from_slice(match head.version {
                Version::Http10 => b"1.0",
                Version::Http11 => b"1.1",
            }),
            Field::Header(name) => self.push_text(out, request.field(name).unwrap_or_default()),
            Field::Time => out.extend_from_slice(&moment.time),
            Field::IsoTime => out.extend_from_slice(&moment.iso_time),
            Field::Status | Field::Bytes | Field::Micros | Field::Seconds | Field::RequestId => {}
        }
    }

    /// What is not there is `-`, except in JSON, where it is empty.
    fn push_text(&self, out: &mut Vec<u8>, value: &[u8]) {
        if value.is_empty() && self.escape == Escape::Hex {
            out.push(b'-');
        }
        self.escape.push(out, value);
    }

    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        scene: &Scene,
        status: u16,
        bytes: u64,
        took: Micros,
        fields: &[u8],
    ) {
        let mut early = 0;
        let mut at = 0;
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.extend_from_slice(text),
                Part::Early(_) => {
                    let end = scene.ends.get(early).copied().unwrap_or(at);
                    out.extend_from_slice(&scene.texts[at..end]);
                    (early, at) = (early + 1, end);
                }
                Part::Late(Field::Status) => push_number(out, u64::from(status)),
                Part::Late(Field::Bytes) => push_number(out, bytes),
                Part::Late(Field::Micros) => push_number(out, took),
                Part::Late(Field::Seconds) => {
                    let _ = write!(out, "{}.{:06}", took / 1_000_000, took % 1_000_000);
                }
                Part::Late(_) => {
                    self.push_text(out, answered_id(fields).unwrap_or(&scene.request_id));
                }
            }
        }
    }
}

fn part(name: &str) -> Result<Part, TemplateError> {
    Ok(match name {
        "status" => Part::Late(Field::Status),
        "bytes" => Part::Late(Field::Bytes),
        "micros" => Part::Late(Field::Micros),
        "seconds" => Part::Late(Field::Seconds),
        "request_id" => Part::Late(Field::RequestId),
        "client" => Part::Early(Field::Client),
        "method" => Part::Early(Field::Method),
        "target" => Part::Early(Field::Target),
        "version" => Part::Early(Field::Version),
        "time" => Part::Early(Field::Time),
        "iso_time" => Part::Early(Field::IsoTime),
        "host" | "referer" => Part::Early(Field::Header(name.to_owned())),
        "user_agent" => Part::Early(Field::Header("user-agent".to_owned())),
        _ => match name.strip_prefix("header:") {
            Some(header) if !header.is_empty() => {
                Part::Early(Field::Header(header.to_ascii_lowercase()))
            }
            _ => return Err(TemplateError(name.to_owned())),
        },
    })
}

fn answered_id(fields: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"x-request-id:";
    fields.split(|&byte| byte == b'\n').find_map(|line| {
        let (name, value) = line.split_at_checked(NAME.len())?;
        name.eq_ignore_ascii_case(NAME).then(|| value.trim_ascii())
    })
}

fn push_client(out: &mut Vec<u8>, from: &Address) {
    match from {
        Address::Tcp(SocketAddr::V4(address)) => {
            for (place, number) in address.ip().octets().into_iter().enumerate() {
                if place > 0 {
                    out.push(b'.');
                }
                push_number(out, u64::from(number));
            }
        }
        Address::Tcp(address) => {
            let _ = write!(out, "{}", address.ip());
        }
        Address::Unix(_) | Address::Unnamed => out.push(b'-'),
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}

/// The parts of `Sun, 06 Nov 1994 08:49:37 GMT`: day, month, year, time.
fn date_parts(date: &[u8; 29]) -> [&[u8]; 4] {
    [&date[5..7], &date[8..11], &date[12..16], &date[17..25]]
}

fn push_time(out: &mut Vec<u8>, unix_seconds: u64) {
    let date = format_date(unix_seconds);
    let [day, month, year, time] = date_parts(&date);
    for piece in [day, b"/", month, b"/", year, b":", time, b" +0000"] {
        out.extend_from_slice(piece);
    }
}

fn push_iso_time(out: &mut Vec<u8>, unix_seconds: u64) {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let date = format_date(unix_seconds);
    let [day, month, year, time] = date_parts(&date);
    let number = MONTHS.chunks(3).position(|name| name == month).unwrap_or_default() + 1;
    out.extend_from_slice(year);
    let _ = write!(out, "-{number:02}-");
    for piece in [day, b"T", time, b"Z"] {
        out.extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(template: &str, json: bool, head: &str, fields: &str) -> String {
        let template = Template::parse(template, json).expect("a good template");
        let mut request = RequestData::default();
        let limits = http1::Limits::default();
        request.head.parse(head.as_bytes(), &limits).expect("a good head");
        request.bytes.extend_from_slice(head.as_bytes());
        let from = Address::Tcp("127.0.0.9:80".parse().expect("an address"));
        let mut scene = Scene::default();
        let mut moment = Moment::default();
        moment.move_to(784_111_776);
        moment.move_to(784_111_777);
        template.remember(&mut scene, &request, &from, &moment);
        let mut out = Vec::new();
        template.write(&mut out, &scene, 200, 12, 1_500_002, fields.as_bytes());
        String::from_utf8(out).expect("text")
    }

    const HEAD: &str = "GET /a?b='c' HTTP/1.1\r\nHost: h\r\nUser-Agent: x\"y\r\n\r\n";

    #[test]
    fn every_field_stands_where_the_template_says() {
        let template = "{client} [{time}] \"{method} {target} HTTP/{version}\" {status} {bytes} \
            \"{referer}\" \"{user_agent}\" {micros} {seconds} {iso_time} {host} {header:Host} {request_id}";
        assert_eq!(
            "127.0.0.9 [06/Nov/1994:08:49:37 +0000] \"GET /a?b='c' HTTP/1.1\" 200 12 \"-\" \
             \"x\\\"y\" 1500002 1.500002 1994-11-06T08:49:37Z h h id-7\n",
            line(template, false, HEAD, "Content-Type: x\r\nX-Request-Id: id-7\r\n")
        );
    }

    #[test]
    fn numbers_are_written_to_their_last_digit() {
        for number in [0, 7, 10, 65_535, u64::MAX] {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(number.to_string().as_bytes(), out);
        }
    }

    #[test]
    fn json_is_json() {
        assert_eq!(
            "{\"agent\":\"x\\\"y\",\"referer\":\"\",\"status\":200}\n",
            line(
                "{{\"agent\":\"{user_agent}\",\"referer\":\"{referer}\",\"status\":{status}}}",
                true,
                HEAD,
                ""
            )
        );
    }

    #[test]
    fn the_requests_own_id_is_told_where_the_answer_has_none() {
        let head = "GET / HTTP/1.1\r\nHost: h\r\nX-Request-ID: mine\r\n\r\n";
        assert_eq!("mine\n", line("{request_id}", false, head, "X-Request-Id-2: no\r\n"));
        assert_eq!("-\n", line("{request_id}", false, HEAD, ""));
    }

    #[test]
    fn what_is_no_template_is_named() {
        for (text, name) in [
            ("{colour}", "colour"),
            ("{header:}", "header:"),
            ("{status", "status"),
            ("a } b", " b"),
        ] {
            let error = Template::parse(text, false).expect_err("a bad template");
            assert_eq!(TemplateError(name.to_owned()), error);
        }
    }
}
