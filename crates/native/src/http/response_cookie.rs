//! `Set-Cookie`: a cookie with its attributes, or why browsers would not keep it.

use http1::format_date;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDateTime, PyString};

/// The moment with which a cookie is taken back.
pub const LONG_AGO: &str = "Thu, 01 Jan 1970 00:00:00 GMT";

/// Attributes of a cookie, in the order in which they are written.
pub struct Cookie<'a> {
    pub max_age: Option<i64>,
    pub expires: Option<&'a str>,
    pub path: Option<&'a str>,
    pub domain: Option<&'a str>,
    pub secure: bool,
    pub http_only: bool,
    pub same_site: Option<&'a str>,
    pub partitioned: bool,
}

impl Cookie<'_> {
    pub fn render(&self, name: &str, value: &str) -> PyResult<String> {
        check_name(name)?;
        check_value(value)?;
        self.check_promises(name)?;
        let mut line = format!("{name}={value}");
        let mut add = |attribute: &str, text: &str| {
            line.extend(["; ", attribute, "=", text]);
        };
        let texts = [("Path", self.path), ("Domain", self.domain), ("Expires", self.expires)];
        for (attribute, text) in texts {
            if let Some(text) = text {
                if text.contains(';') {
                    return refuse(format!("{attribute} of a cookie may not hold a semicolon"));
                }
                add(attribute, text);
            }
        }
        if let Some(seconds) = self.max_age {
            add("Max-Age", &seconds.to_string());
        }
        let same_site = self.same_site.map(same_site).transpose()?;
        if same_site == Some("None") && !self.secure {
            return refuse("same_site=\"none\" needs secure=True".to_owned());
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

    /// What the name's prefix or an attribute promises, a browser insists on.
    fn check_promises(&self, name: &str) -> PyResult<()> {
        if !self.secure && (must_be_secure(name) || self.partitioned) {
            let why = if self.partitioned { "a partitioned cookie" } else { name };
            return refuse(format!("{why} needs secure=True: browsers drop it otherwise"));
        }
        if has_prefix(name, "__Host-") && (self.domain.is_some() || self.path != Some("/")) {
            return refuse(format!(
                "{name} needs path=\"/\" and no domain: browsers drop it otherwise"
            ));
        }
        Ok(())
    }
}

/// Does the name promise that the cookie is secure?
pub fn must_be_secure(name: &str) -> bool {
    has_prefix(name, "__Secure-") || has_prefix(name, "__Host-")
}

/// Browsers look at prefixes without regard to case.
fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Seconds from a number or a `timedelta`.
pub fn seconds(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    if let Ok(seconds) = value.extract() {
        return Ok(seconds);
    }
    let total = value
        .call_method0(intern!(value.py(), "total_seconds"))
        .map_err(|_| PyTypeError::new_err("max_age is a whole number of seconds or a timedelta"))?;
    let whole = total.call_method0(intern!(value.py(), "__int__"))?;
    whole.extract()
}

/// The text of a moment: a `datetime` with a time zone, seconds since 1970, or the text itself.
pub fn moment(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    let seconds = match value.cast::<PyDateTime>() {
        Ok(moment) => {
            if moment.getattr(intern!(value.py(), "tzinfo"))?.is_none() {
                return refuse("expires needs a time zone: use datetime.now(UTC)".to_owned());
            }
            moment.call_method0(intern!(value.py(), "timestamp"))?.extract::<f64>()?
        }
        Err(_) => value.extract::<f64>().map_err(|_| {
            PyTypeError::new_err("expires is a datetime, seconds since 1970, or a text")
        })?,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let whole = seconds.max(0.0) as u64;
    Ok(String::from_utf8_lossy(&format_date(whole)).into_owned())
}

fn check_name(name: &str) -> PyResult<()> {
    let token = |byte: u8| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return refuse(format!("{name:?} is not a cookie name"));
    }
    Ok(())
}

fn check_value(value: &str) -> PyResult<()> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
    if value.bytes().all(plain) {
        return Ok(());
    }
    let text = "a cookie value may not hold spaces, quotes, commas, semicolons, backslashes, \
                control or non-ASCII characters: encode it";
    refuse(text.to_owned())
}

fn same_site(value: &str) -> PyResult<&'static str> {
    match value.to_ascii_lowercase().as_str() {
        "lax" => Ok("Lax"),
        "strict" => Ok("Strict"),
        "none" => Ok("None"),
        _ => refuse("same_site must be \"lax\", \"strict\" or \"none\"".to_owned()),
    }
}

fn refuse<T>(message: String) -> PyResult<T> {
    Err(PyValueError::new_err(message))
}
