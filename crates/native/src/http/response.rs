//! `Response`: a whole answer.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMapping, PyMemoryView, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::response_cookie::{self as cookie, Cookie};
use crate::response_headers::ResponseHeaders;

/// What follows the head.
pub enum Content {
    Text(Py<PyString>),
    Bytes(Py<PyBytes>),
    /// Writes it piece by piece: `async def send_to(writer)`.
    Producer(Py<PyAny>),
}

/// A whole answer. Subclassable; bodies are str or bytes-like.
#[pyclass(subclass, module = "tarmac._native", weakref)]
pub struct Response {
    pub status: u16,
    pub content: Option<Content>,
    pub content_type: Option<String>,
    /// Rendered lines.
    pub fields: Vec<u8>,
    /// What is to be called once it is sent.
    pub background: Option<Py<PyAny>>,
}

#[pymethods]
impl Response {
    #[new]
    #[pyo3(signature = (body=None, *, status=200, content_type=None, headers=None, background=None))]
    fn new(
        body: Option<&Bound<'_, PyAny>>,
        status: u16,
        content_type: Option<String>,
        headers: Option<&Bound<'_, PyAny>>,
        background: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let status = checked(status)?;
        let content = body.map(content).transpose()?;
        let content_type = match (content_type, &content) {
            (Some(given), _) => Some(with_charset(given)?),
            (None, Some(Content::Text(_))) => Some("text/plain; charset=utf-8".to_owned()),
            (None, Some(Content::Bytes(_) | Content::Producer(_))) => {
                Some("application/octet-stream".to_owned())
            }
            (None, None) => None,
        };
        let mut response = Self { status, content, content_type, fields: Vec::new(), background };
        if let Some(headers) = headers {
            response.add_headers(headers)?;
        }
        Ok(response)
    }

    #[getter]
    fn status(&self) -> u16 {
        self.status
    }

    #[setter]
    fn set_status(&mut self, status: u16) -> PyResult<()> {
        self.status = checked(status)?;
        Ok(())
    }

    #[setter]
    fn set_body(&mut self, body: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.content = body.map(content).transpose()?;
        Ok(())
    }

    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(match &self.content {
            None => PyBytes::new(py, b""),
            Some(Content::Bytes(bytes)) => bytes.bind(py).clone(),
            Some(Content::Producer(_)) => {
                let text = "the body of this response is written piece by piece: see producer";
                return Err(PyTypeError::new_err(text));
            }
            Some(Content::Text(text)) => PyBytes::new(py, text.bind(py).to_str()?.as_bytes()),
        })
    }

    #[getter]
    fn producer(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match &self.content {
            Some(Content::Producer(producer)) => Some(producer.clone_ref(py)),
            _ => None,
        }
    }

    #[getter]
    fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    #[setter]
    fn set_content_type(&mut self, content_type: Option<String>) -> PyResult<()> {
        self.content_type = content_type.map(with_charset).transpose()?;
        Ok(())
    }

    #[getter]
    fn headers(slf: &Bound<'_, Self>) -> ResponseHeaders {
        ResponseHeaders::new(slf.clone().unbind())
    }

    #[getter]
    fn background(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.background.as_ref().map(|call| call.clone_ref(py))
    }

    #[setter]
    fn set_background(&mut self, background: Option<Py<PyAny>>) {
        self.background = background;
    }

    pub fn set_header(&mut self, name: &str, value: &str) -> PyResult<()> {
        if name.eq_ignore_ascii_case("content-type") {
            check_value(value)?;
            self.content_type = Some(value.to_owned());
            return Ok(());
        }
        let value = latin1(value)?;
        http1::push_field(&mut self.fields, name.as_bytes(), &value)
            .map_err(|error| PyValueError::new_err(format!("header {name:?}: {error}")))
    }

    #[pyo3(signature = (name, value, *, max_age=None, expires=None, path=Some("/"), domain=None,
        secure=false, http_only=false, same_site=None, partitioned=false),
        text_signature = "($self, name, value, *, max_age=None, expires=None, path='/', domain=None, \
secure=False, http_only=False, same_site=None, partitioned=False)")]
    #[expect(clippy::too_many_arguments, reason = "keyword options")]
    fn set_cookie(
        &mut self,
        name: &str,
        value: &str,
        max_age: Option<&Bound<'_, PyAny>>,
        expires: Option<&Bound<'_, PyAny>>,
        path: Option<&str>,
        domain: Option<&str>,
        secure: bool,
        http_only: bool,
        same_site: Option<&str>,
        partitioned: bool,
    ) -> PyResult<()> {
        let max_age = max_age.map(cookie::seconds).transpose()?;
        let expires = expires.map(cookie::moment).transpose()?;
        let expires = expires.as_deref();
        let cookie =
            Cookie { max_age, expires, path, domain, secure, http_only, same_site, partitioned };
        self.set_header("Set-Cookie", &cookie.render(name, value)?)
    }

    #[pyo3(signature = (name, *, path=Some("/"), domain=None, secure=None, partitioned=false),
        text_signature = "($self, name, *, path='/', domain=None, secure=None, partitioned=False)")]
    fn delete_cookie(
        &mut self,
        name: &str,
        path: Option<&str>,
        domain: Option<&str>,
        secure: Option<bool>,
        partitioned: bool,
    ) -> PyResult<()> {
        // A browser takes the end of such a cookie only from one that is secure as well.
        let secure = secure.unwrap_or(partitioned || cookie::must_be_secure(name));
        let (max_age, expires) = (Some(0), Some(cookie::LONG_AGO));
        let (http_only, same_site) = (false, None);
        let cookie =
            Cookie { max_age, expires, path, domain, secure, http_only, same_site, partitioned };
        self.set_header("Set-Cookie", &cookie.render(name, "")?)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.background)?;
        match &self.content {
            Some(Content::Producer(producer)) => visit.call(producer),
            _ => Ok(()),
        }
    }

    fn __clear__(&mut self) {
        self.background = None;
        self.content = None;
    }

    fn __repr__(&self) -> String {
        format!("<Response {}>", self.status)
    }
}

impl Response {
    /// Each line of the fields: name and value, as they are sent.
    pub fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields.split(|&byte| byte == b'\n').filter_map(|line| {
            let line = line.strip_suffix(b"\r")?;
            let colon = line.iter().position(|&byte| byte == b':')?;
            Some((&line[..colon], line[colon + 1..].trim_ascii_start()))
        })
    }

    /// Take every line with that name out; tells whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        if name.eq_ignore_ascii_case("content-type") {
            return self.content_type.take().is_some();
        }
        let before = self.fields.len();
        let mut kept = Vec::with_capacity(before);
        for (known, value) in self.lines() {
            if !known.eq_ignore_ascii_case(name.as_bytes()) {
                for part in [known, b": ", value, b"\r\n"] {
                    kept.extend_from_slice(part);
                }
            }
        }
        self.fields = kept;
        self.fields.len() < before
    }

    /// A head whose content comes later.
    pub fn head(
        status: u16,
        content_type: Option<String>,
        headers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Self::new(None, status, content_type, headers, None)
    }

    fn add_headers(&mut self, headers: &Bound<'_, PyAny>) -> PyResult<()> {
        let pairs = match headers.cast::<PyMapping>() {
            Ok(mapping) => mapping.items()?.into_any(),
            Err(_) => headers.clone(),
        };
        for pair in pairs.try_iter()? {
            let (name, value): (String, String) = pair?.extract()?;
            self.set_header(&name, &value)?;
        }
        Ok(())
    }
}

/// A body from what Python gave.
pub fn content(body: &Bound<'_, PyAny>) -> PyResult<Content> {
    if let Ok(text) = body.cast::<PyString>() {
        // Checked now, where the mistake is, and not when the answer is written.
        text.to_str()?;
        return Ok(Content::Text(text.clone().unbind()));
    }
    if let Ok(bytes) = body.cast::<PyBytes>() {
        return Ok(Content::Bytes(bytes.clone().unbind()));
    }
    if body.is_instance_of::<PyByteArray>() || body.is_instance_of::<PyMemoryView>() {
        let bytes = body.py().get_type::<PyBytes>().call1((body,))?;
        return Ok(Content::Bytes(bytes.cast_into::<PyBytes>()?.unbind()));
    }
    if body.hasattr(intern!(body.py(), "send_to"))? {
        return Ok(Content::Producer(body.clone().unbind()));
    }
    let kind = body.get_type().name()?;
    let text =
        format!("a body must be str or bytes, not {kind}; see tarmac.json and tarmac.stream");
    Err(PyTypeError::new_err(text))
}

fn checked(status: u16) -> PyResult<u16> {
    if (100..=599).contains(&status) {
        return Ok(status);
    }
    Err(PyValueError::new_err(format!("{status} is not a status: use 100 to 599")))
}

/// Text types say that they are UTF-8.
fn with_charset(content_type: String) -> PyResult<String> {
    check_value(&content_type)?;
    let text = content_type.starts_with("text/") && !content_type.contains("charset");
    Ok(if text { content_type + "; charset=utf-8" } else { content_type })
}

fn check_value(value: &str) -> PyResult<()> {
    if value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f)) {
        return Ok(());
    }
    Err(PyValueError::new_err("a header value may not hold control characters"))
}

/// Header values travel as Latin-1.
fn latin1(value: &str) -> PyResult<Vec<u8>> {
    value
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)))
        .collect::<Result<_, _>>()
        .map_err(|_| PyValueError::new_err(format!("header value {value:?} is not Latin-1")))
}
