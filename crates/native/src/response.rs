//! `Response`: a whole answer.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMapping, PyMemoryView, PyString};

/// What follows the head.
pub enum Content {
    Text(Py<PyString>),
    Bytes(Py<PyBytes>),
}

/// A whole answer. Subclassable; bodies are str or bytes-like.
#[pyclass(subclass, module = "tarmac._native", weakref)]
pub struct Response {
    pub status: u16,
    pub content: Option<Content>,
    pub content_type: Option<String>,
    /// Rendered lines.
    pub fields: Vec<u8>,
}

/// Attributes of a cookie, in the order in which they are written.
struct Cookie<'a> {
    max_age: Option<i64>,
    expires: Option<&'a str>,
    path: Option<&'a str>,
    domain: Option<&'a str>,
    secure: bool,
    http_only: bool,
    same_site: Option<&'a str>,
    partitioned: bool,
}

#[pymethods]
impl Response {
    #[new]
    #[pyo3(signature = (body=None, *, status=200, content_type=None, headers=None))]
    fn new(
        body: Option<&Bound<'_, PyAny>>,
        status: u16,
        content_type: Option<String>,
        headers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if !(100..=599).contains(&status) {
            return Err(PyValueError::new_err(format!("{status} is not a status: use 100 to 599")));
        }
        let content = body.map(content).transpose()?;
        let content_type = match (content_type, &content) {
            (Some(given), _) => Some(with_charset(given)?),
            (None, Some(Content::Text(_))) => Some("text/plain; charset=utf-8".to_owned()),
            (None, Some(Content::Bytes(_))) => Some("application/octet-stream".to_owned()),
            (None, None) => None,
        };
        let mut response = Self { status, content, content_type, fields: Vec::new() };
        if let Some(headers) = headers {
            response.add_headers(headers)?;
        }
        Ok(response)
    }

    #[getter]
    fn status(&self) -> u16 {
        self.status
    }

    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(match &self.content {
            None => PyBytes::new(py, b""),
            Some(Content::Bytes(bytes)) => bytes.bind(py).clone(),
            Some(Content::Text(text)) => PyBytes::new(py, text.bind(py).to_str()?.as_bytes()),
        })
    }

    #[getter]
    fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    #[getter]
    fn headers(&self) -> Vec<(String, String)> {
        let latin1 = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
        self.fields
            .split(|&byte| byte == b'\n')
            .filter_map(|line| {
                let line = line.strip_suffix(b"\r")?;
                let colon = line.iter().position(|&byte| byte == b':')?;
                Some((latin1(&line[..colon]), latin1(line[colon + 1..].trim_ascii_start())))
            })
            .collect()
    }

    fn set_header(&mut self, name: &str, value: &str) -> PyResult<()> {
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
        max_age: Option<i64>,
        expires: Option<&str>,
        path: Option<&str>,
        domain: Option<&str>,
        secure: bool,
        http_only: bool,
        same_site: Option<&str>,
        partitioned: bool,
    ) -> PyResult<()> {
        let cookie =
            Cookie { max_age, expires, path, domain, secure, http_only, same_site, partitioned };
        self.set_header("Set-Cookie", &cookie.render(name, value)?)
    }

    #[pyo3(signature = (name, *, path=Some("/"), domain=None),
        text_signature = "($self, name, *, path='/', domain=None)")]
    fn delete_cookie(
        &mut self,
        name: &str,
        path: Option<&str>,
        domain: Option<&str>,
    ) -> PyResult<()> {
        let expires = Some("Thu, 01 Jan 1970 00:00:00 GMT");
        let max_age = Some(0);
        self.set_cookie(name, "", max_age, expires, path, domain, false, false, None, false)
    }

    fn __repr__(&self) -> String {
        format!("<Response {}>", self.status)
    }
}

impl Response {
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

impl Cookie<'_> {
    fn render(&self, name: &str, value: &str) -> PyResult<String> {
        let token = |byte: u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            return Err(PyValueError::new_err(format!("{name:?} is not a cookie name")));
        }
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
        if !value.bytes().all(plain) {
            let text = "a cookie value may not hold spaces, quotes, commas, semicolons, backslashes, \
                        control or non-ASCII characters: encode it";
            return Err(PyValueError::new_err(text));
        }
        let mut line = format!("{name}={value}");
        let mut add = |attribute: &str, text: &str| {
            line.extend(["; ", attribute, "=", text]);
        };
        let texts = [("Path", self.path), ("Domain", self.domain), ("Expires", self.expires)];
        for (attribute, text) in texts {
            if let Some(text) = text {
                if text.contains(';') {
                    let message = format!("{attribute} of a cookie may not hold a semicolon");
                    return Err(PyValueError::new_err(message));
                }
                add(attribute, text);
            }
        }
        if let Some(seconds) = self.max_age {
            add("Max-Age", &seconds.to_string());
        }
        let same_site = self.same_site.map(same_site).transpose()?;
        if same_site == Some("None") && !self.secure {
            return Err(PyValueError::new_err("same_site=\"none\" needs secure=True"));
        }
        if let Some(same_site) = same_site {
            add("SameSite", same_site);
        }
        let flags = [
            ("; Secure", self.secure),
            ("; HttpOnly", self.http_only),
            ("; Partitioned", self.partitioned),
        ];
        line.extend(flags.iter().filter(|(_, set)| *set).map(|(flag, _)| *flag));
        Ok(line)
    }
}

fn same_site(value: &str) -> PyResult<&'static str> {
    match value.to_ascii_lowercase().as_str() {
        "lax" => Ok("Lax"),
        "strict" => Ok("Strict"),
        "none" => Ok("None"),
        _ => Err(PyValueError::new_err("same_site must be \"lax\", \"strict\" or \"none\"")),
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
    let kind = body.get_type().name()?;
    Err(PyTypeError::new_err(format!("a body must be str or bytes, not {kind}; see tarmac.json")))
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
