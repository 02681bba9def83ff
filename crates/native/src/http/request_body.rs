//! A request's body as text, JSON or form.

use http1::FormLimits;
use peers::RequestData;
use pyo3::exceptions::{PyLookupError, PyRecursionError, PyUnicodeDecodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

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
        // Lists in lists a thousand deep are the client's doing, too.
        if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyRecursionError>(py)
        {
            bad_request(py, &format!("the body is not JSON: {}", error.value(py)))
        } else {
            error
        }
    })
}

/// Parsed as `application/x-www-form-urlencoded`; `None` if it is of another kind.
pub fn form<'py>(
    py: Python<'py>,
    data: &RequestData,
    body: &[u8],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let kind = data.field("content-type").unwrap_or(b"application/x-www-form-urlencoded");
    let kind = kind.split(|&byte| byte == b';').next().unwrap_or(kind).trim_ascii();
    if !kind.eq_ignore_ascii_case(b"application/x-www-form-urlencoded") {
        return Ok(None);
    }
    let limits = FormLimits::default();
    let pairs = form_pairs(py, body, limits.fields, limits.field_bytes)?;
    names::form(py)?.call1((pairs,)).map(Some)
}

/// Names and values of an urlencoded form, within limits.
pub fn form_pairs<'py>(
    py: Python<'py>,
    body: &[u8],
    max_fields: usize,
    max_field_bytes: u64,
) -> PyResult<Bound<'py, PyList>> {
    let pairs = PyList::empty(py);
    for (name, value) in http1::pairs(body) {
        if pairs.len() == max_fields {
            return Err(names::too_large(py, "The form has too many fields."));
        }
        if value.len() as u64 > max_field_bytes {
            return Err(names::too_large(py, "A field of the form is too large."));
        }
        pairs.append((text::lenient(py, &name)?, text::lenient(py, &value)?))?;
    }
    Ok(pairs)
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
