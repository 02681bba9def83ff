//! Select, and the iterators it takes.

use std::fmt;
use std::str::FromStr;

use super::packet::{Header, number, packet, raw};
use crate::keys;
use crate::msgpack;

/// How an index is walked from a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the server's own and stand in its manual")]
pub enum Iterator {
    #[default]
    Eq = 0,
    Req = 1,
    All = 2,
    Lt = 3,
    Le = 4,
    Ge = 5,
    Gt = 6,
    BitsAllSet = 7,
    BitsAnySet = 8,
    BitsAllNotSet = 9,
    Overlaps = 10,
    Neighbor = 11,
}

const NAMES: [(&str, Iterator); 12] = [
    ("EQ", Iterator::Eq),
    ("REQ", Iterator::Req),
    ("ALL", Iterator::All),
    ("LT", Iterator::Lt),
    ("LE", Iterator::Le),
    ("GE", Iterator::Ge),
    ("GT", Iterator::Gt),
    ("BITS_ALL_SET", Iterator::BitsAllSet),
    ("BITS_ANY_SET", Iterator::BitsAnySet),
    ("BITS_ALL_NOT_SET", Iterator::BitsAllNotSet),
    ("OVERLAPS", Iterator::Overlaps),
    ("NEIGHBOR", Iterator::Neighbor),
];

impl Iterator {
    /// The iterator with the server's number.
    pub fn from_number(number: u64) -> Option<Self> {
        NAMES.get(usize::try_from(number).ok()?).map(|&(_, iterator)| iterator)
    }

    /// The server's name, in upper case.
    pub const fn as_str(self) -> &'static str {
        NAMES[self as usize].0
    }
}

/// A name that is no iterator's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownIterator;

impl FromStr for Iterator {
    type Err = UnknownIterator;

    /// Takes the server's names in any case.
    fn from_str(name: &str) -> Result<Self, UnknownIterator> {
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|&(_, iterator)| iterator).ok_or(UnknownIterator)
    }
}

impl fmt::Display for UnknownIterator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an iterator is one of")?;
        for (place, (name, _)) in NAMES.iter().enumerate() {
            write!(formatter, "{} {name}", if place == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownIterator {}

/// What to select.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Select<'a> {
    /// The space's number.
    pub space: u32,
    /// The index's number within the space; zero is the primary one.
    pub index: u32,
    /// The most tuples to return.
    pub limit: u32,
    /// How many tuples to pass over first.
    pub offset: u32,
    /// How to walk from the key.
    pub iterator: Iterator,
    /// The key, a msgpack array; it may be shorter than the index, or empty.
    pub key: &'a [u8],
}

/// Where a page of a select begins, and whether the reply shall say where it ended (2.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Page<'a> {
    /// Begin behind this.
    pub after: Option<After<'a>>,
    /// Ask for [`Body::position`](crate::Body::position).
    pub fetch_position: bool,
}

/// The tuple behind which a page begins, as msgpack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After<'a> {
    /// The position that an earlier reply brought.
    Position(&'a [u8]),
    /// The tuple itself.
    Tuple(&'a [u8]),
}

/// Selects tuples.
pub fn select(out: &mut Vec<u8>, header: Header, select: &Select<'_>) {
    packet(out, keys::SELECT, header, 6, |out| write(out, select));
}

/// Selects a page of tuples (2.11 and later; servers before it ignore `page`).
pub fn select_page(out: &mut Vec<u8>, header: Header, select: &Select<'_>, page: &Page<'_>) {
    let pairs = 6 + usize::from(page.after.is_some()) + usize::from(page.fetch_position);
    packet(out, keys::SELECT, header, pairs, |out| {
        write(out, select);
        match page.after {
            None => {}
            Some(After::Position(position)) => raw(out, keys::AFTER_POSITION, position),
            Some(After::Tuple(tuple)) => raw(out, keys::AFTER_TUPLE, tuple),
        }
        if page.fetch_position {
            out.push(keys::FETCH_POSITION);
            msgpack::bool(out, true);
        }
    });
}

fn write(out: &mut Vec<u8>, select: &Select<'_>) {
    number(out, keys::SPACE_ID, select.space.into());
    number(out, keys::INDEX_ID, select.index.into());
    number(out, keys::LIMIT, select.limit.into());
    number(out, keys::OFFSET, select.offset.into());
    number(out, keys::ITERATOR, select.iterator as u64);
    raw(out, keys::KEY, select.key);
}
