//! Names of spaces and indexes to numbers, with the formats of rows: made once per schema.

use iproto::schema::{Part, Schema, Space};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rustc_hash::FxHashMap;

use crate::format::Format;
use crate::operation::{Operation, Target};
use crate::unsafe_held::Held;

const NO_SUCH_INDEX: u32 = 35;
const NO_SUCH_SPACE: u32 = 36;

/// Where an operation goes.
#[derive(Default)]
pub struct Resolved {
    pub space: u32,
    pub index: u32,
    pub format: Option<Held<Format>>,
    /// The names of the key's parts, when the key is a dict.
    pub key: Option<Format>,
    /// A name was used: the server shall refuse the query if its schema is another.
    pub checked: bool,
}

/// A name that the schema does not know.
pub enum Missing {
    Space(String),
    Index(String, String),
}

impl Missing {
    /// The error code and message that the server itself would give.
    pub fn describe(&self) -> (u32, String) {
        match self {
            Self::Space(name) => (NO_SUCH_SPACE, format!("Space '{name}' does not exist")),
            Self::Index(index, space) => {
                (NO_SUCH_INDEX, format!("No index '{index}' is defined in space '{space}'"))
            }
        }
    }
}

/// What was resolved under one version of the schema.
#[derive(Default)]
pub struct Names {
    version: u64,
    spaces: FxHashMap<String, u32>,
    formats: FxHashMap<u32, Held<Format>>,
    recent: Vec<Recent>,
}

/// How many spaces and indexes are remembered as they were given.
const MOST_RECENT: usize = 8;

/// What an operation without named keys was resolved to.
struct Recent {
    space: Target,
    index: Target,
    found: Found,
}

impl Found {
    #[inline]
    pub fn share(&self, py: Python<'_>) -> Self {
        let format = self.format.as_ref().map(|format| format.share(py));
        Self { format, ..*self }
    }
}

/// Where an operation goes, as long as the schema has that version.
pub struct Found {
    pub version: u64,
    pub space: u32,
    pub index: u32,
    pub format: Option<Held<Format>>,
    pub checked: bool,
}

impl Names {
    /// Numbers for an operation's names.
    pub fn resolve(
        &mut self,
        py: Python<'_>,
        schema: &Schema,
        operation: &Operation,
    ) -> Result<PyResult<Resolved>, Missing> {
        if schema.version != self.version {
            *self = Self { version: schema.version, ..Self::default() };
        }
        let mut checked = false;
        let space = match &operation.space {
            Target::Number(number) => *number,
            Target::Name(name) => {
                checked = true;
                let name = name.bind(py).to_string_lossy();
                if let Some(number) = self.spaces.get(&*name) {
                    *number
                } else {
                    let found = schema.space(&name);
                    let found = found.ok_or_else(|| Missing::Space(name.to_string()))?;
                    self.spaces.insert(name.into_owned(), found.id);
                    found.id
                }
            }
        };
        let index = match &operation.index {
            Target::Number(number) => *number,
            Target::Name(name) => {
                checked = true;
                index_number(schema, space, &name.bind(py).to_string_lossy())?
            }
        };
        let resolved = self.format(py, schema, space).and_then(|format| {
            let key = if operation.has_named_key(py) {
                checked = true;
                Some(key_names(py, schema, space, index)?)
            } else {
                None
            };
            Ok(Resolved { space, index, format, key, checked })
        });
        if let Ok(resolved) = &resolved {
            self.remember(py, operation, resolved);
        }
        Ok(resolved)
    }

    /// What such an operation was resolved to lately: names are told by identity.
    #[inline]
    pub fn recent(&self, operation: &Operation) -> Option<&Found> {
        let known = self.recent.iter().find(|known| {
            known.space.is_same(&operation.space) && known.index.is_same(&operation.index)
        });
        known.map(|known| &known.found)
    }

    fn remember(&mut self, py: Python<'_>, operation: &Operation, resolved: &Resolved) {
        if resolved.key.is_some() || self.recent(operation).is_some() {
            return;
        }
        if self.recent.len() == MOST_RECENT {
            self.recent.remove(0);
        }
        let &Resolved { space, index, checked, .. } = resolved;
        let format = resolved.format.as_ref().map(|format| format.share(py));
        let found = Found { version: self.version, space, index, format, checked };
        let (space, index) = (operation.space.share(py), operation.index.share(py));
        self.recent.push(Recent { space, index, found });
    }

    fn format(
        &mut self,
        py: Python<'_>,
        schema: &Schema,
        space: u32,
    ) -> PyResult<Option<Held<Format>>> {
        if let Some(format) = self.formats.get(&space) {
            return Ok(Some(format.share(py)));
        }
        let Some(space) = schema.space_by_id(space) else { return Ok(None) };
        let format = Format::build(py, space.fields.iter().map(String::as_str))?;
        let format = Held::new(Py::new(py, format)?);
        self.formats.insert(space.id, format.share(py));
        Ok(Some(format))
    }
}

fn index_number(schema: &Schema, space: u32, name: &str) -> Result<u32, Missing> {
    let known = schema.space_by_id(space);
    let found = known.and_then(|space| space.index(name)).map(|index| index.id);
    found.ok_or_else(|| {
        let space = known.map_or_else(|| space.to_string(), |space| space.name.clone());
        Missing::Index(name.to_owned(), space)
    })
}

/// The names of an index's parts, in their order.
fn key_names(py: Python<'_>, schema: &Schema, space: u32, index: u32) -> PyResult<Format> {
    let space = schema.space_by_id(space);
    let index = space.and_then(|space| space.index_by_id(index));
    let parts = index.map_or(&[][..], |index| &index.parts[..]);
    let name = |part: &Part| space?.fields.get(part.field as usize).map(String::as_str);
    Format::build(py, parts.iter().map_while(name))
}

/// The schema as plain dictionaries.
pub fn describe<'py>(py: Python<'py>, schema: Option<&Schema>) -> PyResult<Bound<'py, PyDict>> {
    let spaces = PyDict::new(py);
    for space in schema.into_iter().flat_map(Schema::spaces) {
        spaces.set_item(&space.name, describe_space(py, space)?)?;
    }
    Ok(spaces)
}

fn describe_space<'py>(py: Python<'py>, space: &Space) -> PyResult<Bound<'py, PyDict>> {
    let indexes = PyDict::new(py);
    for index in &space.indexes {
        let about = PyDict::new(py);
        about.set_item("id", index.id)?;
        about.set_item("unique", index.unique)?;
        about.set_item("type", &index.kind)?;
        let fields = PyList::new(py, index.parts.iter().map(|part| part.field))?;
        about.set_item("fields", fields)?;
        indexes.set_item(&index.name, about)?;
    }
    let about = PyDict::new(py);
    about.set_item("id", space.id)?;
    about.set_item("fields", &space.fields)?;
    about.set_item("indexes", indexes)?;
    Ok(about)
}
