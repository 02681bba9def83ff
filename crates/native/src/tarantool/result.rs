//! From a reply to what the waiter gets.

use std::ops::Range;

use iproto::msgpack::Reader;
use peers::Reply;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::format::Format;
use crate::operation::Kind;
use crate::row::{self, ReplyBuffer};
use crate::unpack;
use crate::unsafe_held::Held;

const ROW_COUNT: u64 = 0;
const GENERATED_IDS: u64 = 1;
const COLUMN_NAME: u64 = 0;

/// The result of a query.
#[inline]
pub fn of<'py>(
    py: Python<'py>,
    kind: Kind,
    reply: Reply,
    format: Option<&Held<Format>>,
) -> PyResult<Bound<'py, PyAny>> {
    let none = || py.None().into_bound(py);
    match kind {
        Kind::Connect | Kind::Promise | Kind::Ping | Kind::Upsert => Ok(none()),
        Kind::Call | Kind::Eval => values(py, &reply),
        Kind::Execute => sql(py, reply),
        Kind::Select => {
            let Some(data) = reply.data else { return Ok(PyList::empty(py).into_any()) };
            let buffer = ReplyBuffer::new(reply.bytes);
            Ok(row::rows(py, &buffer, data, format)?.into_any())
        }
        Kind::Get | Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete => {
            let Some(data) = reply.data else { return Ok(none()) };
            let buffer = ReplyBuffer::new(reply.bytes);
            Ok(row::first(py, &buffer, data, format)?.unwrap_or_else(none))
        }
    }
}

/// What a function returned: the value if it is one, a tuple if there are several.
fn values<'py>(py: Python<'py>, reply: &Reply) -> PyResult<Bound<'py, PyAny>> {
    let none = py.None().into_bound(py);
    let Some(data) = reply.data.clone() else { return Ok(none) };
    let mut reader = Reader::new(&reply.bytes[data]);
    let count = reader.array().map_err(unpack::fault)?;
    match count {
        0 => Ok(none),
        1 => unpack::bound(py, &mut reader),
        _ => {
            let mut values = Vec::new();
            for _ in 0..count {
                values.push(unpack::bound(py, &mut reader)?);
            }
            Ok(PyTuple::new(py, values)?.into_any())
        }
    }
}

fn sql(py: Python<'_>, reply: Reply) -> PyResult<Bound<'_, PyAny>> {
    if let (Some(metadata), Some(data)) = (&reply.metadata, &reply.data) {
        let names = column_names(&reply.bytes[metadata.clone()])?;
        let format = Format::build(py, names.iter().map(String::as_str))?;
        let format = Held::new(Py::new(py, format)?);
        let data = data.clone();
        let buffer = ReplyBuffer::new(reply.bytes);
        return Ok(row::rows(py, &buffer, data, Some(&format))?.into_any());
    }
    let info = PyDict::new(py);
    info.set_item("row_count", 0)?;
    info.set_item("autoincrement_ids", PyList::empty(py))?;
    if let Some(range) = reply.sql_info {
        read_sql_info(py, &reply.bytes, range, &info)?;
    }
    Ok(info.into_any())
}

fn read_sql_info(
    py: Python<'_>,
    bytes: &[u8],
    range: Range<usize>,
    info: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let mut reader = Reader::new(&bytes[range]);
    for _ in 0..reader.map().map_err(unpack::fault)? {
        match reader.uint().map_err(unpack::fault)? {
            ROW_COUNT => info.set_item("row_count", unpack::value(py, &mut reader)?)?,
            GENERATED_IDS => info.set_item("autoincrement_ids", unpack::value(py, &mut reader)?)?,
            _ => reader.skip().map_err(unpack::fault)?,
        }
    }
    Ok(())
}

fn column_names(metadata: &[u8]) -> PyResult<Vec<String>> {
    let mut reader = Reader::new(metadata);
    let mut names = Vec::new();
    for _ in 0..reader.array().map_err(unpack::fault)? {
        for _ in 0..reader.map().map_err(unpack::fault)? {
            if reader.uint().map_err(unpack::fault)? == COLUMN_NAME {
                names.push(reader.str().map_err(unpack::fault)?.to_owned());
            } else {
                reader.skip().map_err(unpack::fault)?;
            }
        }
    }
    Ok(names)
}
