//! Strings from the wire.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// UTF-8 where it is, and surrogate escapes where it is not, as in `os.fsdecode`.
pub fn lenient<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyString>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, text));
    }
    let raw = pyo3::types::PyBytes::new(py, bytes);
    let text = raw.call_method1("decode", ("utf-8", "surrogateescape"))?;
    Ok(text.cast_into::<PyString>()?)
}

/// Latin-1, as header values are read.
pub fn latin1<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    if bytes.is_ascii()
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return PyString::new(py, text);
    }
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    PyString::new(py, &text)
}
