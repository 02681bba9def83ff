//! The event `http.response.start`: the head of an answer, checked.

use http1::FieldError;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

/// What the application wants the head to say.
pub struct Start {
    pub status: u16,
    /// Rendered lines.
    pub fields: Vec<u8>,
    /// The value of its Content-Length.
    pub length: Option<u64>,
    /// It asks for the connection to end.
    pub closes: bool,
}

/// Which fields the server writes by itself: those of the application are left out.
#[derive(Clone, Copy)]
pub struct Own {
    pub date: bool,
    pub server: bool,
}

impl Start {
    pub fn read(event: &Bound<'_, PyDict>, own: Own) -> PyResult<Self> {
        let py = event.py();
        let Some(status) = event.get_item(intern!(py, "status"))? else {
            return Err(PyRuntimeError::new_err("http.response.start needs a status"));
        };
        let status = status.extract().ok().filter(|status| (200..=999).contains(status));
        let Some(status) = status else {
            return Err(PyValueError::new_err(
                "the status of an answer is a number from 200 to 999",
            ));
        };
        let mut start = Self { status, fields: Vec::new(), length: None, closes: false };
        if let Some(headers) = event.get_item(intern!(py, "headers"))? {
            start.add_all(&headers, own)?;
        }
        Ok(start)
    }

    fn add_all(&mut self, headers: &Bound<'_, PyAny>, own: Own) -> PyResult<()> {
        if let Ok(headers) = headers.cast_exact::<PyList>() {
            self.fields.reserve(64 * headers.len());
            return headers.iter().try_for_each(|pair| self.add_pair(&pair, own));
        }
        headers.try_iter()?.try_for_each(|pair| self.add_pair(&pair?, own))
    }

    fn add_pair(&mut self, pair: &Bound<'_, PyAny>, own: Own) -> PyResult<()> {
        if let Ok(pair) = pair.cast_exact::<PyTuple>()
            && let Ok([name, value]) = pair.as_slice().try_into() as Result<&[_; 2], _>
        {
            return self.add_objects(name, value, own);
        }
        let parts = pair.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        match &parts[..] {
            [name, value] => self.add_objects(name, value, own),
            _ => Err(PyValueError::new_err("a header is a pair of name and value")),
        }
    }

    fn add_objects(
        &mut self,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        own: Own,
    ) -> PyResult<()> {
        if let (Ok(name), Ok(value)) = (name.cast::<PyBytes>(), value.cast::<PyBytes>()) {
            return self.add(name.as_bytes(), value.as_bytes(), own);
        }
        let (name, value) = (name.repr()?, value.repr()?);
        Err(PyTypeError::new_err(format!("name and value of a header are bytes: {name}, {value}")))
    }

    fn add(&mut self, name: &[u8], value: &[u8], own: Own) -> PyResult<()> {
        let outcome = match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => return self.set_length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => return check_coding(value),
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.closes |= names_close(value);
                return Ok(());
            }
            6 if own.server && name.eq_ignore_ascii_case(b"server") => return Ok(()),
            4 if name.eq_ignore_ascii_case(b"date") => {
                if own.date {
                    return Ok(());
                }
                http1::push_any_field(&mut self.fields, name, value)
            }
            _ => http1::push_field(&mut self.fields, name, value),
        };
        outcome.map_err(|error| refused(name, error))
    }

    fn set_length(&mut self, value: &[u8]) -> PyResult<()> {
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let length = std::str::from_utf8(value).ok().filter(|_| digits);
        let Some(length) = length.and_then(|text| text.parse().ok()) else {
            let value = String::from_utf8_lossy(value);
            return Err(PyRuntimeError::new_err(format!("Content-Length is no number: {value:?}")));
        };
        if self.length.is_some_and(|known| known != length) {
            return Err(PyRuntimeError::new_err("two values of Content-Length, and they differ"));
        }
        self.length = Some(length);
        Ok(())
    }
}

/// The server decides whether it sends chunks; any other coding it would have to apply itself.
fn check_coding(value: &[u8]) -> PyResult<()> {
    if value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let value = String::from_utf8_lossy(value);
    Err(PyRuntimeError::new_err(format!(
        "Transfer-Encoding is the server's business, and it sends no {value:?}"
    )))
}

fn names_close(value: &[u8]) -> bool {
    value.split(|&byte| byte == b',').any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"))
}

fn refused(name: &[u8], error: FieldError) -> PyErr {
    let name = String::from_utf8_lossy(name);
    PyRuntimeError::new_err(format!("header {name:?}: {error}"))
}
