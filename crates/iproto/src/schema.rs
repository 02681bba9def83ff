//! The server's schema: spaces, their fields and indexes, found by name and by number.

use std::collections::HashMap;

use crate::error::ProtocolError;
use crate::msgpack::{Reader, Token};

/// The number of the view that lists the spaces a user may see.
pub const VSPACE: u32 = 281;
/// The number of the view that lists their indexes.
pub const VINDEX: u32 = 289;

/// All spaces as they were at one version of the schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The version, which every reply carries too.
    pub version: u64,
    spaces: HashMap<u32, Space>,
    numbers: HashMap<String, u32>,
}

/// A space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Space {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The names of its fields, as far as it has a format.
    pub fields: Vec<String>,
    /// Its indexes by their numbers, which may have gaps.
    pub indexes: Vec<Index>,
}

/// An index of a space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Index {
    /// Its number within the space; zero is the primary one.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Whether a key finds at most one tuple.
    pub unique: bool,
    /// `tree`, `hash`, `rtree` or `bitset`.
    pub kind: String,
    /// The fields it is made of, in order.
    pub parts: Vec<Part>,
}

/// A field that an index is made of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// The field's place in the tuple, from zero.
    pub field: u32,
    /// The type it is compared as.
    pub kind: String,
}

impl Schema {
    /// Reads the data of a select of all of [`VSPACE`] and of all of [`VINDEX`].
    pub fn read(version: u64, spaces: &[u8], indexes: &[u8]) -> Result<Self, ProtocolError> {
        let mut schema = Self { version, ..Self::default() };
        let mut reader = Reader::new(spaces);
        for _ in 0..reader.array()? {
            let space = tuple(&mut reader, Space::read)?;
            schema.numbers.insert(space.name.clone(), space.id);
            schema.spaces.insert(space.id, space);
        }
        reader.finish()?;
        let mut reader = Reader::new(indexes);
        for _ in 0..reader.array()? {
            let (space, index) = tuple(&mut reader, Index::read)?;
            if let Some(space) = schema.spaces.get_mut(&space) {
                space.indexes.push(index);
            }
        }
        reader.finish()?;
        Ok(schema)
    }

    /// The space with a name.
    pub fn space(&self, name: &str) -> Option<&Space> {
        self.space_by_id(*self.numbers.get(name)?)
    }

    /// The space with a number.
    pub fn space_by_id(&self, id: u32) -> Option<&Space> {
        self.spaces.get(&id)
    }

    /// All spaces, in no order.
    pub fn spaces(&self) -> impl Iterator<Item = &Space> {
        self.spaces.values()
    }
}

impl Space {
    /// The index with a name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The index with a number.
    pub fn index_by_id(&self, id: u32) -> Option<&Index> {
        self.indexes.iter().find(|index| index.id == id)
    }

    /// The place of a field, from zero.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field == name)
    }

    /// `[id, owner, name, engine, field_count, options, [{name, type}, ..], ..]`
    fn read(reader: &mut Reader<'_>, count: u32) -> Result<(Self, u32), ProtocolError> {
        let mut space = Self { id: number(reader)?, ..Self::default() };
        reader.skip()?;
        reader.str()?.clone_into(&mut space.name);
        if count < 7 {
            return Ok((space, 3));
        }
        reader.skip_many(3)?;
        for _ in 0..reader.array()? {
            space.fields.push(field_name(reader)?);
        }
        Ok((space, 7))
    }
}

impl Index {
    /// `[space, id, name, type, options, parts]`; the space's number comes back beside it.
    fn read(reader: &mut Reader<'_>, _: u32) -> Result<((u32, Self), u32), ProtocolError> {
        let space = number(reader)?;
        let mut index = Self { id: number(reader)?, ..Self::default() };
        reader.str()?.clone_into(&mut index.name);
        index.kind = reader.str()?.to_ascii_lowercase();
        index.unique = is_unique(reader)?;
        for _ in 0..reader.array()? {
            index.parts.push(Part::read(reader)?);
        }
        Ok(((space, index), 6))
    }
}

impl Part {
    /// `[field, type, ..]` as servers of old wrote it, or `{field: .., type: ..}`.
    fn read(reader: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        let mut ahead = *reader;
        if let Token::Array(_) = ahead.token()? {
            return tuple(reader, |reader, _| {
                let field = number(reader)?;
                Ok((Self { field, kind: reader.str()?.to_owned() }, 2))
            });
        }
        let mut part = Self::default();
        for _ in 0..reader.map()? {
            match reader.str()? {
                "field" => part.field = number(reader)?,
                "type" => reader.str()?.clone_into(&mut part.kind),
                _ => reader.skip()?,
            }
        }
        Ok(part)
    }
}

/// Reads a tuple by `read`, which says how many fields it took, and skips the rest.
fn tuple<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>, u32) -> Result<(T, u32), ProtocolError>,
) -> Result<T, ProtocolError> {
    let count = reader.array()?;
    let (value, taken) = read(reader, count)?;
    reader.skip_many(count.saturating_sub(taken) as usize)?;
    Ok(value)
}

fn number(reader: &mut Reader<'_>) -> Result<u32, ProtocolError> {
    use crate::error::ErrorKind::OutOfRange;
    let at = reader.position();
    let number = reader.uint()?;
    u32::try_from(number).map_err(|_| ProtocolError::new(OutOfRange, "a number of 32 bits", at))
}

/// The name in a field's `{name, type, ..}`; empty where there is none.
fn field_name(reader: &mut Reader<'_>) -> Result<String, ProtocolError> {
    let mut name = String::new();
    for _ in 0..reader.map()? {
        match reader.str()? {
            "name" => reader.str()?.clone_into(&mut name),
            _ => reader.skip()?,
        }
    }
    Ok(name)
}

/// The option `unique` in an index's options; it holds where it is not said.
fn is_unique(reader: &mut Reader<'_>) -> Result<bool, ProtocolError> {
    let mut unique = true;
    for _ in 0..reader.map()? {
        match reader.str()? {
            "unique" => unique = reader.token()? == Token::Bool(true),
            _ => reader.skip()?,
        }
    }
    Ok(unique)
}
