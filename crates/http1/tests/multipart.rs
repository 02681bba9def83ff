//! The vectors of forms, each whole, cut in two at every byte, and byte by byte; and their limits.

mod support;

use http1::{FormLimits, Multipart, PartEvent, PartHead, Refusal};
use serde::Deserialize;
use support::{bytes, cuts, text, vectors_of};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    name: String,
    #[serde(default = "short")]
    boundary: String,
    input: String,
    parts: Vec<Part>,
}

#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    fields: Option<Vec<(String, String)>>,
    data: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    name: String,
    input: String,
    reason: String,
}

fn short() -> String {
    "b".into()
}

impl Part {
    fn begun(head: &PartHead) -> Self {
        let fields = head.fields.iter().map(|(name, value)| (text(name), text(value))).collect();
        Self {
            name: text(&head.name),
            filename: head.filename.as_deref().map(text),
            content_type: head.content_type.as_deref().map(text),
            fields: Some(fields),
            data: String::new(),
        }
    }
}

fn read(pieces: &[&[u8]], boundary: &[u8], limits: &FormLimits) -> Result<Vec<Part>, Refusal> {
    let mut form = Multipart::new(boundary, limits.clone())?;
    let mut parts: Vec<Part> = Vec::new();
    let mut open = false;
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let step = form.next(rest)?;
            rest = &rest[step.consumed..];
            match step.event {
                None => break,
                Some(PartEvent::Begin(head)) => {
                    assert!(!open);
                    open = true;
                    parts.push(Part::begun(head));
                }
                Some(PartEvent::Data(data)) => {
                    assert!(open && !data.is_empty());
                    parts.last_mut().unwrap().data.push_str(&text(data));
                }
                Some(PartEvent::End) => {
                    assert!(open);
                    open = false;
                }
            }
        }
        assert!(rest.is_empty());
    }
    form.finish()?;
    assert!(!open);
    Ok(parts)
}

fn read_every_way(
    name: &str,
    input: &[u8],
    boundary: &[u8],
    limits: &FormLimits,
) -> Result<Vec<Part>, Refusal> {
    let whole = read(&[input], boundary, limits);
    for pieces in cuts(input) {
        let cut = read(&pieces, boundary, limits);
        assert_eq!(whole, cut, "{name}: cut into {:?}", pieces.first().map(|one| one.len()));
    }
    whole
}

#[test]
fn forms_are_read() {
    for vector in vectors_of::<Accepted>("multipart/accept.toml") {
        let (input, boundary) = (bytes(&vector.input), bytes(&vector.boundary));
        let limits = FormLimits::default();
        let mut parts = read_every_way(&vector.name, &input, &boundary, &limits).unwrap();
        for (part, expected) in parts.iter_mut().zip(&vector.parts) {
            if expected.fields.is_none() {
                part.fields = None;
            }
        }
        assert_eq!(vector.parts, parts, "{}", vector.name);
    }
}

#[test]
fn what_is_no_form_is_refused() {
    for vector in vectors_of::<Refused>("multipart/refuse.toml") {
        let input = bytes(&vector.input);
        match read_every_way(&vector.name, &input, b"b", &FormLimits::default()) {
            Err(refusal) => {
                let actual = (refusal.status, refusal.reason);
                assert_eq!((400, vector.reason.as_str()), actual, "{}", vector.name);
            }
            Ok(parts) => panic!("{}: {parts:?}", vector.name),
        }
    }
}

#[test]
fn a_boundary_has_one_to_seventy_characters() {
    let limits = FormLimits::default;
    for valid in [&b"b"[..], &[b'x'; 70], b"a b", b"'()+_,-./:=?"] {
        assert!(Multipart::new(valid, limits()).is_ok());
    }
    for invalid in [&b""[..], &[b'x'; 71], b"a ", b"a\r\n", b"\x00"] {
        assert!(Multipart::new(invalid, limits()).is_err());
    }
}

/// Two fields of 3 and 5 bytes and two files of 4 and 6; the longest head has 64 bytes.
const FORM: &[u8] = b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n123\r\n\
    --b\r\nContent-Disposition: form-data; name=b\r\n\r\n12345\r\n\
    --b\r\nContent-Disposition: form-data; name=c; filename=long.txt\r\n\r\n1234\r\n\
    --b\r\nContent-Disposition: form-data; name=d; filename=x\r\n\r\n123456\r\n--b--\r\n";
const HEAD: usize = "Content-Disposition: form-data; name=c; filename=long.txt\r\n\r\n".len();

#[test]
fn every_limit_holds_from_both_sides() {
    let all = || FormLimits {
        fields: 2,
        files: 2,
        field_bytes: 5,
        file_bytes: 6,
        head_bytes: HEAD,
        form_bytes: FORM.len() as u64,
    };
    let refused = |limits| match read_every_way("limits", FORM, b"b", &limits) {
        Ok(_) => None,
        Err(refusal) => Some((refusal.status, refusal.reason)),
    };
    assert_eq!(None, refused(all()));
    let cases = [
        (FormLimits { fields: 1, ..all() }, "The form has too many fields."),
        (FormLimits { files: 1, ..all() }, "The form has too many files."),
        (FormLimits { field_bytes: 4, ..all() }, "A field of the form is too large."),
        (FormLimits { file_bytes: 5, ..all() }, "A file of the form is too large."),
        (
            FormLimits { head_bytes: HEAD - 1, ..all() },
            "The header fields of a part are too large.",
        ),
        (FormLimits { form_bytes: all().form_bytes - 1, ..all() }, "The form is too large."),
    ];
    for (limits, reason) in cases {
        assert_eq!(Some((413, reason)), refused(limits));
    }
}
