//! A request's body as text, JSON or form.

use peers::RequestData;
use pyo3::exceptions::{PyLookupError, PyUnicodeDecodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::{names, text};

/// Decoded as the `charset` of its content type says, UTF-8 if that says nothing.
pub fn text<'py>(py: Python<'py>, data: &RequestData, body: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let charset = data.field("content-type").and_then(charset).unwrap_or("utf-8");
    if charset.eq_ignore_ascii_case("utf-8")
        && let Ok(text) = std::str::from_utf8(body)
    {
        return Ok(PyString::new(py, text).into_any());
    }
    PyBytes::new(py, body).call_method1("decode", (charset,)).map_err(|error| {
        if error.is_instance_of::<PyUnicodeDecodeError>(py) {
            bad_request(py, &format!("the body is not {charset}"))
        } else if error.is_instance_of::<PyLookupError>(py) {
            bad_request(py, &format!("the charset {charset:?} is unknown"))
        } else {
            error
        }
    })
}

/// Parsed as JSON, whatever the content type says.
pub fn json<'py>(py: Python<'py>, body: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let body = PyBytes::new(py, body);
    names::json_loads(py)?.call1((body,)).map_err(|error| {
        if error.is_instance_of::<PyValueError>(py) {
            bad_request(py, &format!("the body is not JSON: {}", error.value(py)))
        } else {
            error
        }
    })
}

/// Parsed as `application/x-www-form-urlencoded`.
pub fn form<'py>(py: Python<'py>, data: &RequestData, body: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let kind = data.field("content-type").unwrap_or(b"application/x-www-form-urlencoded");
    let kind = kind.split(|&byte| byte == b';').next().unwrap_or(kind).trim_ascii();
    if !kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
        let kind = String::from_utf8_lossy(kind);
        return Err(bad_request(py, &format!("the body is {kind}, not an urlencoded form")));
    }
    last_values(py, body).map(Bound::into_any)
}

/// The last value of each name.
pub fn last_values<'py>(py: Python<'py>, encoded: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(py);
    for (name, value) in http1::pairs(encoded) {
        values.set_item(text::lenient(py, &name)?, text::lenient(py, &value)?)?;
    }
    Ok(values)
}

/// The `charset` parameter of a content type.
fn charset(content_type: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content_type).ok()?;
    text.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

fn bad_request(py: Python<'_>, message: &str) -> PyErr {
    match names::bad_request(py).and_then(|class| class.call1((message,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}
