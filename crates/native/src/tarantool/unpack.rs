//! msgpack -> Python objects.

use iproto::ProtocolError;
use iproto::ext::{self, Decimal, ErrorStack};
use iproto::msgpack::{Reader, Token};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString, PyType};

use crate::ffi_object::ascii_string;
use crate::moment;
use crate::pack::DEEPEST;
use crate::values::{BoxError, ExtType, Interval};

/// Reads one value.
///
/// Text that is not UTF-8 keeps its bytes as surrogates (`surrogateescape`); an extension type
/// that is not known becomes an `ExtType`.
#[inline]
pub fn value(py: Python<'_>, reader: &mut Reader<'_>) -> PyResult<Py<PyAny>> {
    bound(py, reader).map(Bound::unbind)
}

/// As [`value`], bound.
#[inline]
pub fn bound<'py>(py: Python<'py>, reader: &mut Reader<'_>) -> PyResult<Bound<'py, PyAny>> {
    nested(py, reader, 0)
}

/// Reads `input` as one value and nothing after it.
pub fn whole(py: Python<'_>, input: &[u8]) -> PyResult<Py<PyAny>> {
    let mut reader = Reader::new(input);
    let value = value(py, &mut reader)?;
    reader.finish().map_err(fault)?;
    Ok(value)
}

/// A fault in what the server sent, as an exception.
#[cold]
pub fn fault(error: ProtocolError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn nested<'py>(
    py: Python<'py>,
    reader: &mut Reader<'_>,
    depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match reader.token().map_err(fault)? {
        Token::Str(bytes) => text(py, bytes)?,
        Token::UInt(number) => number.into_pyobject(py)?.into_any(),
        Token::Int(number) => number.into_pyobject(py)?.into_any(),
        Token::Nil => py.None().into_bound(py),
        Token::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Token::F64(value) => PyFloat::new(py, value).into_any(),
        Token::F32(value) => PyFloat::new(py, f64::from(value)).into_any(),
        Token::Bin(bytes) => PyBytes::new(py, bytes).into_any(),
        Token::Array(count) => list(py, reader, count, deeper(depth)?)?.into_any(),
        Token::Map(count) => dict(py, reader, count, deeper(depth)?)?.into_any(),
        Token::Ext(kind, payload) => extension(py, kind, payload)?,
    })
}

fn deeper(depth: usize) -> PyResult<usize> {
    if depth < DEEPEST {
        return Ok(depth + 1);
    }
    Err(PyValueError::new_err(format!("a value is nested deeper than {DEEPEST} levels")))
}

/// Nothing is reserved from `count`, which is only claimed: the list grows with what is there.
fn list<'py>(
    py: Python<'py>,
    reader: &mut Reader<'_>,
    count: u32,
    depth: usize,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for _ in 0..count {
        list.append(nested(py, reader, depth)?)?;
    }
    Ok(list)
}

fn dict<'py>(
    py: Python<'py>,
    reader: &mut Reader<'_>,
    count: u32,
    depth: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for _ in 0..count {
        let key = nested(py, reader, depth)?;
        let value = nested(py, reader, depth)?;
        match key.cast::<PyList>() {
            Ok(list) => dict.set_item(list.to_tuple(), value)?,
            Err(_) => dict.set_item(key, value)?,
        }
    }
    Ok(dict)
}

#[inline]
fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    if let Some(string) = ascii_string(py, bytes)? {
        return Ok(string);
    }
    match str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes)
            .call_method1(intern!(py, "decode"), ("utf-8", "surrogateescape")),
    }
}

fn extension<'py>(py: Python<'py>, kind: i8, payload: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Ok(match kind {
        ext::DECIMAL => decimal(py, payload)?,
        ext::UUID => uuid(py, u128::from_be_bytes(ext::uuid(payload).map_err(fault)?))?,
        ext::DATETIME => moment::unpack(py, ext::Datetime::decode(payload).map_err(fault)?)?,
        ext::INTERVAL => {
            let interval = ext::Interval::decode(payload).map_err(fault)?;
            Bound::new(py, Interval::from(interval))?.into_any()
        }
        ext::ERROR => error(py, payload)?.into_any(),
        _ => Bound::new(py, ExtType::build(kind, payload))?.into_any(),
    })
}

fn decimal<'py>(py: Python<'py>, payload: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let decimal = Decimal::decode(payload).map_err(fault)?;
    decimal_type(py)?.call1((decimal.to_string(),))
}

/// A `uuid.UUID` from its number.
pub fn uuid(py: Python<'_>, number: u128) -> PyResult<Bound<'_, PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "int"), number)?;
    uuid_type(py)?.call((), Some(&arguments))
}

/// The error with its causes: an extension's payload, or the stack in a reply's body.
pub fn error<'py>(py: Python<'py>, payload: &[u8]) -> PyResult<Bound<'py, BoxError>> {
    let stack = ErrorStack::decode(payload).map_err(fault)?;
    BoxError::build(py, payload, stack)
}

/// `decimal.Decimal`
pub fn decimal_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    TYPE.import(py, "decimal", "Decimal")
}

/// `uuid.UUID`
pub fn uuid_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    TYPE.import(py, "uuid", "UUID")
}
