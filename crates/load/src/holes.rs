//! A body with holes: the parts between given markers may change, everything else must not.

use memchr::memmem;

/// One kind of hole: what stands before and after the part to ignore.
#[derive(Clone, Debug)]
pub struct Hole {
    start: memmem::Finder<'static>,
    end: memmem::Finder<'static>,
}

impl Hole {
    /// Both markers must have at least one byte.
    pub fn new(start: &[u8], end: &[u8]) -> Option<Self> {
        if start.is_empty() || end.is_empty() {
            return None;
        }
        let finder = |marker: &[u8]| memmem::Finder::new(marker).into_owned();
        Some(Self { start: finder(start), end: finder(end) })
    }
}

/// The literal segments of a body; between two of them is a hole closed by the next one's start.
#[derive(Clone, Debug)]
pub struct Template {
    first: Vec<u8>,
    // Each segment after a hole, with the kind of that hole.
    after: Vec<(usize, Vec<u8>)>,
}

impl Template {
    /// Splits `body` at the holes. A start marker that is never closed is plain text.
    pub fn new(body: &[u8], holes: &[Hole]) -> Self {
        let mut segments = split(body, holes);
        let (_, first) = segments.remove(0);
        let after = segments.into_iter().map(|(kind, bytes)| (kind, bytes.to_vec())).collect();
        Self { first: first.to_vec(), after }
    }

    /// Compares; `Err` is the offset in `body` where it stops being the same.
    #[inline]
    pub fn matches(&self, body: &[u8], holes: &[Hole]) -> Result<(), usize> {
        if self.after.is_empty() && self.first == body {
            return Ok(());
        }
        let mut at = literal(body, 0, &self.first)?;
        for (kind, segment) in &self.after {
            at += holes[*kind].end.find(&body[at..]).ok_or(at)?;
            at = literal(body, at, segment)?;
        }
        if at == body.len() { Ok(()) } else { Err(at) }
    }

    /// What identifies the template in reports and `--expect-hash`.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.write(&self.first);
        for (kind, segment) in &self.after {
            hash.write(&(*kind as u64).to_le_bytes());
            hash.write(segment);
        }
        hash.0
    }

    /// How many holes the learned body had.
    pub fn hole_count(&self) -> usize {
        self.after.len()
    }
}

// FNV-1a: steady across releases and machines, which is all that is asked of it here.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn literal(body: &[u8], at: usize, segment: &[u8]) -> Result<usize, usize> {
    let rest = &body[at..];
    if rest.starts_with(segment) {
        return Ok(at + segment.len());
    }
    let same = rest.iter().zip(segment).take_while(|(a, b)| a == b).count();
    Err(at + same)
}

fn split<'b>(body: &'b [u8], holes: &[Hole]) -> Vec<(usize, &'b [u8])> {
    let mut segments = Vec::new();
    let (mut kind, mut from, mut at) = (0, 0, 0);
    while let Some((next, start)) = earliest(&body[at..], holes) {
        let inside = at + start;
        match holes[next].end.find(&body[inside..]) {
            Some(end) => {
                segments.push((kind, &body[from..inside]));
                (kind, from) = (next, inside + end);
                at = from + holes[next].end.needle().len();
            }
            None => at = inside,
        }
    }
    segments.push((kind, &body[from..]));
    segments
}

// The kind whose start marker comes first, and where that marker ends.
fn earliest(body: &[u8], holes: &[Hole]) -> Option<(usize, usize)> {
    holes
        .iter()
        .enumerate()
        .filter_map(|(kind, hole)| Some((hole.start.find(body)?, kind)))
        .min()
        .map(|(at, kind)| (kind, at + holes[kind].start.needle().len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes(markers: &[(&str, &str)]) -> Vec<Hole> {
        markers.iter().map(|(a, b)| Hole::new(a.as_bytes(), b.as_bytes()).unwrap()).collect()
    }

    const PAGE: &[u8] = b"<p>hi</p><i value='abc'><i value='d'><img src=1.svg>end";

    #[test]
    fn ignores_only_what_is_inside() {
        let holes = holes(&[("value='", "'"), ("src=", ".svg")]);
        let template = Template::new(PAGE, &holes);
        assert_eq!(3, template.hole_count());
        assert_eq!(Ok(()), template.matches(PAGE, &holes));
        let other = b"<p>hi</p><i value=''><i value='longer one'><img src=x/77.svg>end";
        assert_eq!(Ok(()), template.matches(other, &holes));
        assert_eq!(template.hash(), Template::new(other, &holes).hash());
    }

    #[test]
    fn says_where_a_body_differs() {
        let holes = holes(&[("value='", "'")]);
        let template = Template::new(b"a value='1' b", &holes);
        assert_eq!(Err(0), template.matches(b"x value='1' b", &holes));
        assert_eq!(Err(12), template.matches(b"a value='1' c", &holes));
        assert_eq!(Err(13), template.matches(b"a value='1' b+", &holes));
        assert_eq!(Err(12), template.matches(b"a value='1' ", &holes));
        assert_eq!(Err(9), template.matches(b"a value='1 b", &holes));
        assert_eq!(Err(0), template.matches(b"", &holes));
    }

    #[test]
    fn a_body_without_holes_is_compared_whole() {
        let template = Template::new(b"hello", &[]);
        assert_eq!(Ok(()), template.matches(b"hello", &[]));
        assert_eq!(Err(5), template.matches(b"hello!", &[]));
        assert_ne!(template.hash(), Template::new(b"hello!", &[]).hash());
        let unclosed = holes(&[("ll", "z")]);
        assert_eq!(0, Template::new(b"hello", &unclosed).hole_count());
    }

    #[test]
    fn empty_markers_are_refused() {
        assert!(Hole::new(b"", b"x").is_none());
        assert!(Hole::new(b"x", b"").is_none());
    }
}
