//! Invariant: a form reads to the same parts, or to the same refusal, however its bytes arrive; no
//! part holds a delimiter, and none is larger than its limit.

#![no_main]

use http1::{FormLimits, Multipart, PartEvent, PartHead, Refusal};
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 64;

fuzz_target!(|input: &[u8]| {
    // The first byte says how long the pieces are.
    let Some((&step, input)) = input.split_first() else {
        return;
    };
    let whole = read(input, input.len().max(1));
    assert_eq!(whole, read(input, 1));
    assert_eq!(whole, read(input, usize::from(step).max(1)));
    let Ok(parts) = whole else {
        return;
    };
    for (head, data) in parts {
        assert!(!data.windows(5).any(|five| five == b"\r\n--b"));
        assert!(data.len() as u64 <= LIMIT);
        assert!(!head.fields.is_empty());
    }
});

fn read(input: &[u8], size: usize) -> Result<Vec<(PartHead, Vec<u8>)>, Refusal> {
    let limits = FormLimits {
        fields: 4,
        files: 4,
        field_bytes: LIMIT,
        file_bytes: LIMIT,
        head_bytes: 256,
        form_bytes: 1024,
    };
    let mut form = Multipart::new(b"b", limits)?;
    let mut parts: Vec<(PartHead, Vec<u8>)> = Vec::new();
    for mut piece in input.chunks(size) {
        loop {
            let step = form.next(piece)?;
            piece = &piece[step.consumed..];
            match step.event {
                None => break,
                Some(PartEvent::Begin(head)) => parts.push((head.clone(), Vec::new())),
                Some(PartEvent::Data(data)) => parts.last_mut().unwrap().1.extend_from_slice(data),
                Some(PartEvent::End) => {}
            }
        }
    }
    form.finish()?;
    Ok(parts)
}
