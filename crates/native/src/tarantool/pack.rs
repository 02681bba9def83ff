//! Python objects -> msgpack.

use iproto::ext;
use iproto::msgpack;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDateTime, PyDict, PyFloat, PyInt, PyList, PyMemoryView,
    PyString, PyTuple,
};

use crate::format::Format;
use crate::unpack::{decimal_type, uuid_type};
use crate::values::{BoxError, Datetime, ExtType, Interval};
use crate::{ffi_row, moment};

/// How deep values may be nested, both ways.
pub const DEEPEST: usize = 128;

/// The longest text or bytes: a packet is at most 2 GiB.
const LONGEST: usize = 1 << 31;

/// Appends `object` to `out`; leaves `out` as it was if it cannot be packed.
///
/// With a `format` a dict is a tuple: each name goes to its place, names that are missing are
/// nil, nils at the end are left out, and a key that is no field's name is an error.
pub fn pack(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    out: &mut Vec<u8>,
    format: Option<&Format>,
) -> PyResult<()> {
    let start = out.len();
    let packed = match (format, object.cast::<PyDict>()) {
        (Some(format), Ok(dict)) => dict_as_tuple(py, dict, out, format),
        _ => value(object, out, 0),
    };
    if packed.is_err() {
        out.truncate(start);
    }
    packed
}

/// Appends a value. The types met most come first, and by identity of the type.
fn value(object: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if let Ok(string) = object.cast_exact::<PyString>() {
        return text(string, out);
    }
    if let Ok(number) = object.cast_exact::<PyInt>() {
        return integer(number, out);
    }
    if object.is_none() {
        msgpack::nil(out);
        return Ok(());
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        msgpack::f64(out, number.value());
        return Ok(());
    }
    if let Ok(truth) = object.cast_exact::<PyBool>() {
        msgpack::bool(out, truth.is_true());
        return Ok(());
    }
    if let Ok(items) = object.cast::<PyTuple>() {
        return tuple(items, out, deeper(depth)?);
    }
    if let Ok(items) = object.cast::<PyList>() {
        return list(items, out, deeper(depth)?);
    }
    if let Ok(pairs) = object.cast::<PyDict>() {
        return dict(pairs, out, deeper(depth)?);
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return binary(bytes.as_bytes(), out);
    }
    rarer_value(object, out)
}

/// Appends a value of a type that is rarer, or a subclass of a common one.
fn rarer_value(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    let py = object.py();
    if let Some(row) = ffi_row::borrow(object)? {
        let (fields, count) = row.packed();
        msgpack::array(out, count);
        out.extend_from_slice(fields);
        return Ok(());
    }
    if let Ok(string) = object.cast::<PyString>() {
        return text(string, out);
    }
    if let Ok(number) = object.cast::<PyInt>() {
        return integer(number, out);
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        msgpack::f64(out, number.value());
        return Ok(());
    }
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        return binary(&PyBuffer::<u8>::get(object)?.to_vec(py)?, out);
    }
    if let Ok(datetime) = object.cast::<PyDateTime>() {
        return extension(out, ext::DATETIME, |payload| {
            moment::pack(datetime)?.encode(payload);
            Ok(())
        });
    }
    if object.is_instance(decimal_type(py)?)? {
        return extension(out, ext::DECIMAL, |payload| decimal(object, payload));
    }
    if object.is_instance(uuid_type(py)?)? {
        let number: u128 = object.getattr(intern!(py, "int"))?.extract()?;
        msgpack::ext(out, ext::UUID, &number.to_be_bytes());
        return Ok(());
    }
    own_value(object, out)
}

/// Appends a value of one of our own types.
fn own_value(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(interval) = object.cast::<Interval>() {
        return extension(out, ext::INTERVAL, |payload| {
            ext::Interval::from(interval.get()).encode(payload);
            Ok(())
        });
    }
    if let Ok(datetime) = object.cast::<Datetime>() {
        return extension(out, ext::DATETIME, |payload| {
            ext::Datetime::from(datetime.get()).encode(payload);
            Ok(())
        });
    }
    if let Ok(other) = object.cast::<ExtType>() {
        msgpack::ext(out, other.get().code(), other.get().payload());
        return Ok(());
    }
    if let Ok(error) = object.cast::<BoxError>() {
        msgpack::ext(out, ext::ERROR, error.get().payload(error.py()));
        return Ok(());
    }
    let kind = object.get_type();
    Err(PyTypeError::new_err(format!("a value of type {} has no msgpack form", kind.name()?)))
}

fn deeper(depth: usize) -> PyResult<usize> {
    if depth < DEEPEST {
        return Ok(depth + 1);
    }
    let message = format!("a value is nested deeper than {DEEPEST} levels, or in itself");
    Err(PyValueError::new_err(message))
}

fn text(string: &Bound<'_, PyString>, out: &mut Vec<u8>) -> PyResult<()> {
    let Ok(utf8) = string.to_str() else {
        // Bytes that came as surrogates go back as they were.
        let arguments = ("utf-8", "surrogateescape");
        let bytes = string.call_method1(intern!(string.py(), "encode"), arguments)?;
        msgpack::str_bytes(out, fitting(bytes.cast::<PyBytes>()?.as_bytes())?);
        return Ok(());
    };
    msgpack::str_bytes(out, fitting(utf8.as_bytes())?);
    Ok(())
}

fn binary(bytes: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
    msgpack::bin(out, fitting(bytes)?);
    Ok(())
}

fn fitting(bytes: &[u8]) -> PyResult<&[u8]> {
    if bytes.len() < LONGEST {
        return Ok(bytes);
    }
    Err(PyValueError::new_err("text and bytes must be shorter than 2 GiB"))
}

fn integer(number: &Bound<'_, PyInt>, out: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(signed) = number.extract::<i64>() {
        msgpack::int(out, signed);
    } else if let Ok(unsigned) = number.extract::<u64>() {
        msgpack::uint(out, unsigned);
    } else {
        let message = "an integer must lie between -2**63 and 2**64 - 1";
        return Err(PyOverflowError::new_err(message));
    }
    Ok(())
}

fn tuple(items: &Bound<'_, PyTuple>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    msgpack::array(out, items.len());
    items.iter_borrowed().try_for_each(|item| value(&item, out, depth))
}

fn list(items: &Bound<'_, PyList>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    let promised = items.len();
    msgpack::array(out, promised);
    let mut packed = 0;
    for item in items.iter() {
        value(&item, out, depth)?;
        packed += 1;
    }
    unchanged(promised == packed, "list")
}

fn dict(pairs: &Bound<'_, PyDict>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    let promised = pairs.len();
    msgpack::map(out, promised);
    // A copy of the references: packing a value may run Python, which may change the dict.
    for pair in pairs.items().iter() {
        let (key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        value(&key, out, depth)?;
        value(&item, out, depth)?;
    }
    unchanged(promised == pairs.len(), "dict")
}

fn unchanged(same: bool, what: &str) -> PyResult<()> {
    if same {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!("a {what} changed while it was packed")))
}

fn dict_as_tuple(
    py: Python<'_>,
    dict: &Bound<'_, PyDict>,
    out: &mut Vec<u8>,
    format: &Format,
) -> PyResult<()> {
    let mut found = 0;
    let mut values = Vec::with_capacity(format.len());
    for name in format.names(py).iter_borrowed() {
        let item = dict.get_item(name)?;
        found += usize::from(item.is_some());
        values.push(item.filter(|item| !item.is_none()));
    }
    if found < dict.len() {
        return Err(first_unknown(py, dict, format));
    }
    let said = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    msgpack::array(out, said);
    for item in &values[..said] {
        match item {
            Some(item) => value(item, out, 1)?,
            None => msgpack::nil(out),
        }
    }
    Ok(())
}

#[cold]
fn first_unknown(py: Python<'_>, dict: &Bound<'_, PyDict>, format: &Format) -> PyErr {
    for key in dict.keys().iter() {
        match format.names(py).contains(&key) {
            Ok(true) => {}
            Ok(false) => return format.unknown(py, &key),
            Err(error) => return error,
        }
    }
    PyRuntimeError::new_err("a dict changed while it was packed")
}

fn decimal(object: &Bound<'_, PyAny>, payload: &mut Vec<u8>) -> PyResult<()> {
    let text = object.str()?;
    let parsed = text.to_str()?.parse::<ext::Decimal>();
    let decimal = parsed.map_err(|error| PyValueError::new_err(format!("{text}: {error}")))?;
    decimal.encode(payload);
    Ok(())
}

fn extension(
    out: &mut Vec<u8>,
    kind: i8,
    write: impl FnOnce(&mut Vec<u8>) -> PyResult<()>,
) -> PyResult<()> {
    let mut payload = Vec::with_capacity(32);
    write(&mut payload)?;
    msgpack::ext(out, kind, &payload);
    Ok(())
}
