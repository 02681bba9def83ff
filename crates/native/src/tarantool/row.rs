//! Row: a tuple of the database whose fields are built when they are touched.
//!
//! Every row of a reply points into one shared [`ReplyBuffer`]; making a row is finding out
//! where it ends. A row holds only atoms of its own, so the garbage collector need not know it.

use std::ffi::CStr;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use iproto::msgpack::{self, Reader};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PySlice, PyString, PyTuple};

use crate::format::Format;
use crate::unsafe_held::Held;
use crate::{ffi_row, pack, unpack};

/// The bytes of one reply, shared by its rows. The GIL guards the count.
pub type ReplyBuffer = Rc<Vec<u8>>;

/// What `help(Row)` says.
pub const DOC: &CStr = c"Row(values, names=None, /)
--

A tuple of the database: `row[1]`, `row['name']`, `row.name`, `dict(row)`.

A field is built each time it is touched. A row equals a tuple of the same fields. Named fields
that the tuple is too short for are None.";

/// Where a tuple stands in a reply, and what its fields are called.
pub struct Row {
    buffer: ReplyBuffer,
    format: Option<Held<Format>>,
    /// Where the first field starts in the buffer.
    start: u32,
    /// Where the last field ends in the buffer.
    end: u32,
    /// How many fields there are.
    count: u32,
    /// The field touched last and where it starts, as `number << 32 | offset`: walking a wide
    /// row field by field need not begin again each time.
    touched: AtomicU64,
}

/// Builds the rows of a reply: `data` is where its array of tuples stands in the buffer.
pub fn rows<'py>(
    py: Python<'py>,
    buffer: &ReplyBuffer,
    data: Range<usize>,
    format: Option<&Held<Format>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut reader = reader(buffer, &data);
    let count = reader.array().map_err(unpack::fault)? as usize;
    // Every tuple takes a byte at least, so no more is reserved than was received.
    if count > reader.rest().len() {
        return Err(PyValueError::new_err("truncated: expected as many tuples as claimed"));
    }
    let list = ffi_row::list(py, count, || Row::read(py, buffer, &mut reader, format))?;
    reader.finish().map_err(unpack::fault)?;
    Ok(list)
}

/// Builds the first row of a reply, if it has one.
pub fn first<'py>(
    py: Python<'py>,
    buffer: &ReplyBuffer,
    data: Range<usize>,
    format: Option<&Held<Format>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut reader = reader(buffer, &data);
    match reader.array().map_err(unpack::fault)? {
        0 => Ok(None),
        _ => ffi_row::new(py, Row::read(py, buffer, &mut reader, format)?).map(Some),
    }
}

/// A row of `values`; `names`, a tuple, are those of its first fields.
pub fn of_values(values: &Bound<'_, PyAny>, names: Option<Bound<'_, PyAny>>) -> PyResult<Row> {
    let py = values.py();
    let values = values.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let mut bytes = Vec::new();
    msgpack::array(&mut bytes, values.len());
    for value in &values {
        pack::pack(py, value, &mut bytes, None)?;
    }
    let format = match names {
        Some(names) => Some(Held::new(Py::new(py, Format::new(names.cast()?)?)?)),
        None => None,
    };
    let buffer = Rc::new(bytes);
    Row::read(py, &buffer, &mut Reader::new(&buffer), format.as_ref())
}

fn reader<'a>(bytes: &'a [u8], data: &Range<usize>) -> Reader<'a> {
    Reader::starting_at(&bytes[..data.end.min(bytes.len())], data.start)
}

impl Row {
    /// Reads where the next tuple starts and ends.
    #[inline]
    fn read(
        py: Python<'_>,
        buffer: &ReplyBuffer,
        reader: &mut Reader<'_>,
        format: Option<&Held<Format>>,
    ) -> PyResult<Self> {
        let count = reader.array().map_err(unpack::fault)?;
        let start = offset(reader)?;
        reader.skip_many(count as usize).map_err(unpack::fault)?;
        Ok(Self {
            buffer: Rc::clone(buffer),
            format: format.map(|format| format.share(py)),
            start,
            end: offset(reader)?,
            count,
            touched: AtomicU64::new(u64::from(start)),
        })
    }

    /// The tuple's fields as they came, without the head of the array; and how many they are.
    pub fn packed(&self) -> (&[u8], usize) {
        (&self.buffer[self.start as usize..self.end as usize], self.count as usize)
    }

    /// The reader at the first field.
    fn fields(&self) -> Reader<'_> {
        Reader::starting_at(&self.buffer[..self.end as usize], self.start as usize)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// The value of the field of that number, which must exist.
    #[inline]
    fn value<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyAny>> {
        debug_assert!(number < self.count);
        let touched = self.touched.load(Ordering::Relaxed);
        let (mut known, mut at) = ((touched >> 32) as u32, (touched & 0xffff_ffff) as usize);
        if known > number {
            (known, at) = (0, self.start as usize);
        }
        let mut reader = Reader::starting_at(&self.buffer[..self.end as usize], at);
        if known < number {
            reader.skip_many((number - known) as usize).map_err(unpack::fault)?;
        }
        let found = u64::from(number) << 32 | reader.position() as u64;
        self.touched.store(found, Ordering::Relaxed);
        unpack::bound(py, &mut reader)
    }

    /// The value of a named field; None if the tuple is too short for it.
    #[inline]
    fn named<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        match u32::try_from(place) {
            Ok(place) if place < self.count => self.value(py, place),
            _ => Ok(py.None().into_bound(py)),
        }
    }

    /// The value of the field with a number, from the end if it is negative.
    fn numbered<'py>(&self, key: &Bound<'py, PyInt>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // A number too big to extract is no field's either.
        let Ok(number) = key.extract::<i64>() else { return Ok(None) };
        let place = if number < 0 { number.saturating_add(self.count.into()) } else { number };
        match u32::try_from(place) {
            Ok(place) if place < self.count => self.value(key.py(), place).map(Some),
            _ => Ok(None),
        }
    }

    fn place(&self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        match &self.format {
            Some(format) => format.get().place(name),
            None => Ok(None),
        }
    }

    /// `row.name`, if that is a field.
    #[inline]
    pub fn attribute<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(format) = &self.format
            && let Some(place) = format.get().attribute(name)?
        {
            return self.named(py, place).map(Some);
        }
        Ok(None)
    }

    /// What went wrong with `row.name`: if there is no such attribute, which fields there are.
    #[cold]
    pub fn explain(&self, error: PyErr, name: &Bound<'_, PyString>) -> PyErr {
        let py = name.py();
        if !error.is_instance_of::<PyAttributeError>(py) {
            return error;
        }
        PyAttributeError::new_err(match &self.format {
            Some(format) => {
                let fields = format.get().list(py);
                format!("a row of this format has no '{name}'; its fields are {fields}")
            }
            None => format!("a row without a format has no '{name}': its fields have no names"),
        })
    }

    /// `row[key]`
    pub fn item<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(name) = key.cast::<PyString>() {
            let place = self.place(name)?;
            return self.named(py, place.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))?);
        }
        if let Ok(number) = key.cast::<PyInt>() {
            let found = self.numbered(number)?;
            return found.ok_or_else(|| PyIndexError::new_err("row index out of range"));
        }
        if key.is_instance_of::<PySlice>() {
            return self.tuple(py)?.as_any().get_item(key);
        }
        Err(PyTypeError::new_err("a row is indexed by number, name or slice"))
    }

    /// `row.get(key, default)`
    pub fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        let found = if let Ok(name) = key.cast::<PyString>() {
            self.place(name)?.map(|place| self.named(py, place)).transpose()?
        } else {
            self.numbered(key.cast::<PyInt>()?)?
        };
        Ok(found.or(default).unwrap_or_else(|| py.None().into_bound(py)))
    }

    /// All fields.
    pub fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut reader = self.fields();
        let mut values = Vec::with_capacity(self.count as usize);
        for _ in 0..self.count {
            values.push(unpack::bound(py, &mut reader)?);
        }
        PyTuple::new(py, values)
    }

    /// The names of the fields; none without a format.
    pub fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        match &self.format {
            Some(format) => format.get().names(py).clone(),
            None => PyTuple::empty(py),
        }
    }

    /// The values of the named fields.
    pub fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let places = 0..self.format.as_ref().map_or(0, |format| format.get().len());
        let values = places.map(|place| self.named(py, place)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, values)
    }

    /// The pairs of name and value.
    pub fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.keys(py).iter().zip(self.values(py)?.iter()).collect::<Vec<_>>())
    }

    /// Compares as a tuple, with a tuple or a row.
    pub fn compare<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        operator: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let other = match ffi_row::borrow(other)? {
            Some(row) => row.tuple(py)?.into_any(),
            None if other.is_instance_of::<PyTuple>() => other.clone(),
            None => return Ok(py.NotImplemented().into_bound(py)),
        };
        self.tuple(py)?.as_any().rich_compare(other, operator)
    }

    /// `Row(id=1, name='Ann')`
    pub fn repr(&self, py: Python<'_>) -> PyResult<String> {
        let mut fields = Vec::new();
        for (place, value) in self.tuple(py)?.iter().enumerate() {
            let value = value.repr()?;
            let name = self.format.as_ref().and_then(|format| format.get().name(place));
            fields.push(match name {
                Some(name) => format!("{}={value}", name.bind(py)),
                None => value.to_string(),
            });
        }
        Ok(format!("Row({})", fields.join(", ")))
    }

    /// What a row can be made from again: its values and the names.
    pub fn parts<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Option<Bound<'py, PyTuple>>)> {
        let names = self.format.as_ref().map(|format| format.get().names(py).clone());
        Ok((self.tuple(py)?, names))
    }
}

/// Positions fit 32 bits: a packet is at most 2 GiB.
#[inline]
fn offset(reader: &Reader<'_>) -> PyResult<u32> {
    u32::try_from(reader.position()).map_err(|_| PyIndexError::new_err("a reply beyond 4 GiB"))
}
