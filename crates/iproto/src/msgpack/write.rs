//! Appending msgpack values to a buffer, each in its shortest form.

/// Appends nil.
#[inline]
pub fn nil(out: &mut Vec<u8>) {
    out.push(0xc0);
}

/// Appends a boolean.
#[inline]
pub fn bool(out: &mut Vec<u8>, value: bool) {
    out.push(0xc2 | u8::from(value));
}

/// Appends a signed integer.
#[inline]
pub fn int(out: &mut Vec<u8>, value: i64) {
    if let Ok(unsigned) = u64::try_from(value) {
        return uint(out, unsigned);
    }
    if let Ok(small) = i8::try_from(value) {
        if small < -32 {
            out.push(0xd0);
        }
        out.extend_from_slice(&small.to_be_bytes());
    } else if let Ok(short) = i16::try_from(value) {
        prefixed(out, 0xd1, short.to_be_bytes());
    } else if let Ok(long) = i32::try_from(value) {
        prefixed(out, 0xd2, long.to_be_bytes());
    } else {
        prefixed(out, 0xd3, value.to_be_bytes());
    }
}

/// Appends an unsigned integer.
#[inline]
pub fn uint(out: &mut Vec<u8>, value: u64) {
    if let Ok(small) = u8::try_from(value) {
        if small > 0x7f {
            out.push(0xcc);
        }
        out.push(small);
    } else if let Ok(short) = u16::try_from(value) {
        prefixed(out, 0xcd, short.to_be_bytes());
    } else if let Ok(long) = u32::try_from(value) {
        prefixed(out, 0xce, long.to_be_bytes());
    } else {
        prefixed(out, 0xcf, value.to_be_bytes());
    }
}

/// Appends a float of four bytes.
#[inline]
pub fn f32(out: &mut Vec<u8>, value: f32) {
    prefixed(out, 0xca, value.to_be_bytes());
}

/// Appends a float of eight bytes.
#[inline]
pub fn f64(out: &mut Vec<u8>, value: f64) {
    prefixed(out, 0xcb, value.to_be_bytes());
}

/// Appends text.
#[inline]
pub fn str(out: &mut Vec<u8>, value: &str) {
    str_bytes(out, value.as_bytes());
}

/// Appends bytes under the marker of text: the protocol's strings need not be UTF-8.
#[inline]
pub fn str_bytes(out: &mut Vec<u8>, value: &[u8]) {
    match value.len() {
        len @ 0..=31 => out.push(0xa0 | low(len)),
        len @ 32..=0xff => out.extend_from_slice(&[0xd9, low(len)]),
        len => long_length(out, len, 0xda),
    }
    out.extend_from_slice(value);
}

/// Appends binary data.
#[inline]
pub fn bin(out: &mut Vec<u8>, value: &[u8]) {
    match value.len() {
        len @ 0..=0xff => out.extend_from_slice(&[0xc4, low(len)]),
        len => long_length(out, len, 0xc5),
    }
    out.extend_from_slice(value);
}

/// Appends the head of an array: `len` values follow.
#[inline]
pub fn array(out: &mut Vec<u8>, len: usize) {
    match len {
        0..=15 => out.push(0x90 | low(len)),
        _ => long_length(out, len, 0xdc),
    }
}

/// Appends the head of a map: `len` pairs of values follow.
#[inline]
pub fn map(out: &mut Vec<u8>, len: usize) {
    match len {
        0..=15 => out.push(0x80 | low(len)),
        _ => long_length(out, len, 0xde),
    }
}

/// Appends an extension value.
pub fn ext(out: &mut Vec<u8>, kind: i8, payload: &[u8]) {
    match payload.len() {
        1 => out.push(0xd4),
        2 => out.push(0xd5),
        4 => out.push(0xd6),
        8 => out.push(0xd7),
        16 => out.push(0xd8),
        len @ 0..=0xff => out.extend_from_slice(&[0xc7, low(len)]),
        len => long_length(out, len, 0xc8),
    }
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Appends a length of two bytes under `marker`, or of four under the marker after it.
///
/// # Panics
/// On 4 GiB and more, which msgpack cannot say.
fn long_length(out: &mut Vec<u8>, len: usize, marker: u8) {
    if let Ok(short) = u16::try_from(len) {
        prefixed(out, marker, short.to_be_bytes());
    } else {
        let long = u32::try_from(len).expect("msgpack lengths are below 4 GiB");
        prefixed(out, marker + 1, long.to_be_bytes());
    }
}

#[inline]
fn prefixed<const N: usize>(out: &mut Vec<u8>, marker: u8, digits: [u8; N]) {
    out.push(marker);
    out.extend_from_slice(&digits);
}

/// The length as one byte; the caller has matched its range.
#[inline]
fn low(len: usize) -> u8 {
    len.to_le_bytes()[0]
}
