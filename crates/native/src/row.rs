//! Row: a tuple of the database whose fields are built when they are touched.
//!
//! Every row of a reply points into one shared [`ReplyBuffer`]; making a row is finding out
//! where it ends. A row holds only atoms of its own, so the garbage collector need not know it.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use iproto::msgpack::Reader;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PySlice, PyString, PyTuple};

use crate::ffi_object::generic_attribute;
use crate::format::Format;
use crate::{pack, unpack};

/// The bytes of one reply, shared by its rows.
#[pyclass(frozen, module = "tarmac._native")]
pub struct ReplyBuffer {
    bytes: Vec<u8>,
}

impl ReplyBuffer {
    /// Takes the bytes over.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A tuple of the database: `row[1]`, `row["name"]`, `row.name`, `dict(row)`.
///
/// It equals a tuple of the same fields. Named fields that the tuple is too short for are None.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Row {
    buffer: Py<ReplyBuffer>,
    format: Option<Py<Format>>,
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
pub fn rows(
    py: Python<'_>,
    buffer: &Py<ReplyBuffer>,
    data: Range<usize>,
    format: Option<&Py<Format>>,
) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    let mut reader = reader(buffer.get().bytes(), &data);
    for _ in 0..reader.array().map_err(unpack::fault)? {
        list.append(Row::read(py, buffer, &mut reader, format)?)?;
    }
    reader.finish().map_err(unpack::fault)?;
    Ok(list.unbind())
}

/// Builds the first row of a reply, if it has one.
pub fn first(
    py: Python<'_>,
    buffer: &Py<ReplyBuffer>,
    data: Range<usize>,
    format: Option<&Py<Format>>,
) -> PyResult<Option<Row>> {
    let mut reader = reader(buffer.get().bytes(), &data);
    match reader.array().map_err(unpack::fault)? {
        0 => Ok(None),
        _ => Row::read(py, buffer, &mut reader, format).map(Some),
    }
}

fn reader<'a>(bytes: &'a [u8], data: &Range<usize>) -> Reader<'a> {
    Reader::starting_at(&bytes[..data.end.min(bytes.len())], data.start)
}

impl Row {
    /// Reads where the next tuple starts and ends.
    #[inline]
    fn read(
        py: Python<'_>,
        buffer: &Py<ReplyBuffer>,
        reader: &mut Reader<'_>,
        format: Option<&Py<Format>>,
    ) -> PyResult<Self> {
        let count = reader.array().map_err(unpack::fault)?;
        let start = offset(reader)?;
        reader.skip_many(count as usize).map_err(unpack::fault)?;
        Ok(Self {
            buffer: buffer.clone_ref(py),
            format: format.map(|format| format.clone_ref(py)),
            start,
            end: offset(reader)?,
            count,
            touched: AtomicU64::new(u64::from(start)),
        })
    }

    /// The tuple's fields as they came, without the head of the array; and how many they are.
    pub fn packed(&self) -> (&[u8], usize) {
        (&self.buffer.get().bytes[self.start as usize..self.end as usize], self.count as usize)
    }

    /// The reader at the first field.
    fn fields(&self) -> Reader<'_> {
        Reader::starting_at(&self.buffer.get().bytes[..self.end as usize], self.start as usize)
    }

    /// The reader at the field of that number, which must exist.
    #[inline]
    fn seek(&self, number: usize) -> PyResult<Reader<'_>> {
        let touched = self.touched.load(Ordering::Relaxed);
        let (mut known, mut at) = ((touched >> 32) as usize, (touched & 0xffff_ffff) as usize);
        if known > number {
            (known, at) = (0, self.start as usize);
        }
        let mut reader = Reader::starting_at(&self.buffer.get().bytes[..self.end as usize], at);
        reader.skip_many(number - known).map_err(unpack::fault)?;
        let found = (number as u64) << 32 | u64::from(offset(&reader)?);
        self.touched.store(found, Ordering::Relaxed);
        Ok(reader)
    }

    /// The value of a field; None for a named one that the tuple is too short for.
    #[inline]
    fn named(&self, py: Python<'_>, place: usize) -> PyResult<Py<PyAny>> {
        if place >= self.count as usize {
            return Ok(py.None());
        }
        unpack::value(py, &mut self.seek(place)?)
    }

    fn numbered(&self, key: &Bound<'_, PyInt>) -> PyResult<Option<Py<PyAny>>> {
        // A number too big to extract is no field's either.
        let Ok(number) = key.extract::<i64>() else { return Ok(None) };
        let place = if number < 0 { number.saturating_add(self.count.into()) } else { number };
        match u32::try_from(place) {
            Ok(place) if place < self.count => {
                unpack::value(key.py(), &mut self.seek(place as usize)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn place(&self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        match &self.format {
            Some(format) => format.get().place(name),
            None => Ok(None),
        }
    }

    /// All fields.
    fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut reader = self.fields();
        let mut values = Vec::with_capacity(self.count as usize);
        for _ in 0..self.count {
            values.push(unpack::value(py, &mut reader)?);
        }
        PyTuple::new(py, values)
    }

    /// The names of the fields, or none.
    fn names<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        match &self.format {
            Some(format) => format.get().names(py).clone(),
            None => PyTuple::empty(py),
        }
    }

    #[cold]
    fn no_attribute(&self, name: &Bound<'_, PyString>) -> PyErr {
        PyAttributeError::new_err(match &self.format {
            Some(format) => format!(
                "a row of this format has no '{name}'; its fields are {}",
                format.get().list(name.py())
            ),
            None => format!("a row without a format has no '{name}': its fields have no names"),
        })
    }
}

/// Positions fit 32 bits: a packet is at most 2 GiB.
#[inline]
fn offset(reader: &Reader<'_>) -> PyResult<u32> {
    u32::try_from(reader.position()).map_err(|_| PyIndexError::new_err("a reply beyond 4 GiB"))
}

#[pymethods]
impl Row {
    /// A row of `values`; `names`, if any, are those of its first fields.
    #[new]
    #[pyo3(signature = (values, names = None))]
    fn new(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        names: Option<Bound<'_, PyTuple>>,
    ) -> PyResult<Self> {
        let values = values.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let mut bytes = Vec::new();
        iproto::msgpack::array(&mut bytes, values.len());
        for value in &values {
            pack::pack(py, value, &mut bytes, None)?;
        }
        let format = names.map(|names| Py::new(py, Format::new(&names)?)).transpose()?;
        let buffer = Py::new(py, ReplyBuffer::new(bytes))?;
        let mut reader = Reader::new(buffer.get().bytes());
        Self::read(py, &buffer, &mut reader, format.as_ref())
    }

    fn __len__(&self) -> usize {
        self.count as usize
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
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
            return Ok(self.tuple(py)?.as_any().get_item(key)?.unbind());
        }
        Err(PyTypeError::new_err("a row is indexed by number, name or slice"))
    }

    fn __getattribute__<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let row = slf.get();
        if let Some(format) = &row.format
            && let Some(place) = format.get().attribute(name)?
        {
            return Ok(row.named(slf.py(), place)?.into_bound(slf.py()));
        }
        generic_attribute(slf.as_any(), name).map_err(|error| {
            if error.is_instance_of::<PyAttributeError>(slf.py()) {
                return row.no_attribute(name);
            }
            error
        })
    }

    /// The value of the field with a name or number, or `default` if there is no such field.
    #[pyo3(signature = (key, default = None, /))]
    fn get(
        &self,
        key: &Bound<'_, PyAny>,
        default: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let py = key.py();
        let found = if let Ok(name) = key.cast::<PyString>() {
            self.place(name)?.map(|place| self.named(py, place)).transpose()?
        } else {
            self.numbered(key.cast::<PyInt>()?)?
        };
        Ok(found.unwrap_or_else(|| default.map_or_else(|| py.None(), Bound::unbind)))
    }

    /// The names of the fields, a tuple.
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.names(py)
    }

    /// The values of the named fields, a tuple.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let places = 0..self.format.as_ref().map_or(0, |format| format.get().len());
        let values = places.map(|place| self.named(py, place)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, values)
    }

    /// The pairs of name and value, a tuple.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.names(py).iter().zip(self.values(py)?.iter()).collect::<Vec<_>>())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.tuple(py)?.try_iter()?.into_any())
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        operator: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let other = match other.cast::<Self>() {
            Ok(row) => row.get().tuple(py)?.into_any(),
            Err(_) if other.is_instance_of::<PyTuple>() => other.clone(),
            Err(_) => return Ok(py.NotImplemented().into_bound(py)),
        };
        self.tuple(py)?.as_any().rich_compare(other, operator)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.tuple(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = self.format.as_ref().map(|format| format.get().names(py));
        let arguments = (self.tuple(py)?, names);
        (py.get_type::<Self>(), arguments).into_pyobject(py)
    }
}
