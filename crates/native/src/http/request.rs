//! `Request`: one HTTP request, decoded field by field when it is touched.

use std::ops::Deref;
use std::sync::Arc;

use peers::{Exchange, RequestData, Routed};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use pyo3::{PyTraverseError, PyVisit};
use reactor::Address;

use crate::body_stream::BodyStream;
use crate::handler_coroutine::HandlerCoroutine;
use crate::headers::Headers;
use crate::reactor_class::Reactor;
use crate::ready::Ready;
use crate::request_inner::Inner;
use crate::request_seen::Seen;
use crate::response::Response;
use crate::server::Hooks;
use crate::unsafe_renewable::Renewable;
use crate::writer::Writer;
use crate::{answer, call, ffi_collected, names, request_body, text};

/// One HTTP request.
// Without weak references on purpose: see `Renewable`. The garbage collector is told of a request
// only when it has something that may lead back to it: most have not, and one that waits for its
// next exchange must not be found.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Request {
    /// None only while the object waits for its next request.
    inner: Renewable<Option<Inner>>,
}

impl Deref for Request {
    type Target = Inner;

    #[inline]
    fn deref(&self) -> &Inner {
        self.inner.as_ref().expect("a request that Python can see is in use")
    }
}

impl Request {
    /// A request object; `spare` is used again if nobody else holds it.
    #[inline]
    pub fn make<'py>(
        reactor: &Bound<'py, Reactor>,
        exchange: Exchange,
        data: Box<RequestData>,
        hooks: Arc<Hooks>,
        spare: Option<Bound<'py, Self>>,
    ) -> PyResult<Bound<'py, Self>> {
        let inner = Inner::new(reactor.clone().unbind(), exchange, data, hooks);
        let inner = match spare {
            Some(mut spare) => {
                match Renewable::renew(&mut spare, Some(inner), |this| &this.inner) {
                    Ok(_) => return Ok(spare),
                    Err(inner) => inner,
                }
            }
            None => Some(inner),
        };
        let request = Bound::new(reactor.py(), Self { inner: Renewable::new(inner) })?;
        ffi_collected::hide(&request);
        Ok(request)
    }

    /// The empty object for the next request, if nobody else holds this one.
    #[inline]
    pub fn into_spare(mut request: Bound<'_, Self>) -> Option<Bound<'_, Self>> {
        match Renewable::renew(&mut request, None, |this| &this.inner) {
            Ok(inner) => {
                // First: to drop what it had may run anything.
                if inner.as_ref().is_some_and(Inner::has_rare) {
                    ffi_collected::hide(&request);
                }
                drop(inner);
                Some(request)
            }
            Err(_) => None,
        }
    }
}

#[pymethods]
impl Request {
    #[getter]
    fn method<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let data = self.data();
        text::latin1(py, data.head.method_name.of(&data.bytes))
    }

    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let data = self.data();
        text::lenient(py, &http1::percent_decode(data.head.path.of(&data.bytes), false))
    }

    #[getter]
    fn raw_path<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let data = self.data();
        PyBytes::new(py, data.head.path.of(&data.bytes))
    }

    #[getter]
    fn query_string<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.query_bytes())
    }

    #[getter]
    fn query<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        request_body::last_values(py, self.query_bytes())
    }

    #[getter]
    fn query_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let pairs = PyList::empty(py);
        for (name, value) in http1::pairs(self.query_bytes()) {
            pairs.append((text::lenient(py, &name)?, text::lenient(py, &value)?))?;
        }
        Ok(pairs)
    }

    #[getter]
    fn headers(slf: &Bound<'_, Self>) -> Headers {
        Headers::new(slf.clone().unbind())
    }

    #[pyo3(signature = (name, default=None))]
    fn header<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        let found = self.data().field(&name.to_ascii_lowercase());
        found.map(|value| text::latin1(py, value).into_any()).or(default)
    }

    #[getter]
    fn cookies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cookies = PyDict::new(py);
        let data = self.data();
        for field in &data.head.fields {
            if !field.name.of(&data.bytes).eq_ignore_ascii_case(b"cookie") {
                continue;
            }
            for (name, value) in http1::cookies(field.value.of(&data.bytes)) {
                let name = text::lenient(py, name)?;
                // The first of several is the one with the longest path (RFC 6265 section 5.4).
                if !cookies.contains(&name)? {
                    cookies.set_item(name, text::lenient(py, value)?)?;
                }
            }
        }
        Ok(cookies)
    }

    #[getter]
    fn version(&self) -> &'static str {
        match self.data().head.version {
            http1::Version::Http10 => "1.0",
            http1::Version::Http11 => "1.1",
        }
    }

    #[getter]
    fn scheme(&self) -> String {
        self.seen().and_then(Seen::scheme).unwrap_or_else(|| self.inner_scheme().to_owned())
    }

    #[getter]
    fn client_certificate<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let agreed = self.data().session.as_ref()?.agreed()?;
        agreed.client_certificate.as_ref().map(|bytes| PyBytes::new(py, bytes))
    }

    #[getter]
    fn host<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        if let Some(host) = self.seen().and_then(Seen::host) {
            return PyString::new(py, &host);
        }
        let data = self.data();
        text::latin1(py, data.head.host.map_or(&[], |host| host.of(&data.bytes)))
    }

    #[getter]
    fn client(&self) -> Option<(String, u16)> {
        self.seen().and_then(Seen::client).or_else(|| match &self.data().from {
            Address::Tcp(address) => Some((address.ip().to_string(), address.port())),
            Address::Unix(_) | Address::Unnamed => None,
        })
    }

    #[pyo3(name = "override", signature = (*, client=None, scheme=None, host=None))]
    fn set_seen(
        &self,
        client: Option<(String, u16)>,
        scheme: Option<String>,
        host: Option<String>,
    ) -> PyResult<()> {
        self.rare().seen.set(client, scheme, host)
    }

    #[getter]
    fn allow(&self) -> Option<&str> {
        match &self.data().routed {
            Routed::NotAllowed(allow) | Routed::Options(allow) => Some(allow),
            Routed::Found(..) | Routed::NotFound => None,
        }
    }

    #[getter]
    fn keep_alive(&self) -> bool {
        self.data().head.keep_alive
    }

    #[getter]
    fn path_params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = PyDict::new(py);
        if let Routed::Found(number, values) = &self.data().routed
            && let Some(route) = self.hooks.routes.get(*number as usize)
        {
            for (name, value) in route.names.bind(py).iter().zip(values) {
                params.set_item(name, call::param(py, value)?)?;
            }
        }
        Ok(params)
    }

    #[getter]
    fn app(&self, py: Python<'_>) -> Py<PyAny> {
        self.hooks.app.clone_ref(py)
    }

    #[getter]
    fn state<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, place) = (slf.py(), &slf.get().rare().state);
        if place.get().is_none() {
            // Not within `get_or_init`: another thread may run meanwhile.
            let made = names::simple_namespace(py)?.call0()?.unbind();
            place.get_or_init(|| made);
            ffi_collected::show(slf);
        }
        place.get().map_or_else(|| unreachable!("made above"), |made| Ok(made.bind(py).clone()))
    }

    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        if self.comes_in_pieces(py) {
            let text = "the body comes in pieces: await request.body(), or read request.stream()";
            return Err(PyRuntimeError::new_err(text));
        }
        Ok(PyBytes::new(py, self.whole_body(py)))
    }

    #[getter]
    fn disconnected(&self) -> PyResult<bool> {
        if self.is_answered() && !self.is_streaming() {
            return Ok(false);
        }
        Ok(self.reactor.get().hub.open()?.has_left(self.exchange))
    }

    fn body<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        when_whole(slf, "body", |this| Ok(PyBytes::new(py, this.whole_body(py)).into_any()))
    }

    fn text<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        when_whole(slf, "text", |this| request_body::text(py, this.data(), this.whole_body(py)))
    }

    #[pyo3(signature = (model=None, /))]
    fn json<'py>(
        slf: &Bound<'py, Self>,
        model: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(model) = model {
            return names::read_model(py)?.call1((slf, model));
        }
        when_whole(slf, "json", |this| request_body::json(py, this.whole_body(py)))
    }

    #[pyo3(signature = (**options), text_signature = "($self, *, max_fields=1000, max_files=1000, \
max_field_bytes=1048576, max_file_bytes=None, spool_bytes=1048576)")]
    fn form<'py>(
        slf: &Bound<'py, Self>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let form = match this.rare().form.get() {
            Some(form) => Some(form.bind(py).clone()),
            None if options.is_none() && !this.comes_in_pieces(py) => {
                request_body::form(py, this.data(), this.whole_body(py))?
            }
            None => None,
        };
        match form {
            Some(form) => Ok(Bound::new(py, Ready::new(form.unbind()))?.into_any()),
            None => names::read_form(py)?.call((slf,), options),
        }
    }

    fn _keep_form(slf: &Bound<'_, Self>, form: Py<PyAny>) -> PyResult<()> {
        let kept = slf.get().rare().form.set(form);
        kept.map_err(|_| PyRuntimeError::new_err("this form is read twice at the same time"))?;
        ffi_collected::show(slf);
        Ok(())
    }

    #[getter]
    fn _in_pieces(&self, py: Python<'_>) -> bool {
        self.comes_in_pieces(py)
    }

    fn stream(slf: &Bound<'_, Self>) -> BodyStream {
        BodyStream::new(slf.clone().unbind())
    }

    fn _keep_body(&self, py: Python<'_>, body: Py<PyBytes>) {
        // Collected twice at once: both have the same bytes.
        let _ = self.rare().collected.set(py, body);
    }

    #[pyo3(signature = (status=200, *, content_type=None, headers=None, length=None))]
    fn start(
        slf: &Bound<'_, Self>,
        status: u16,
        content_type: Option<String>,
        headers: Option<&Bound<'_, PyAny>>,
        length: Option<u64>,
    ) -> PyResult<Writer> {
        let head = Response::head(status, content_type, headers)?;
        let content_type = head.content_type.as_deref().map(str::as_bytes);
        Writer::begin(slf, head.status, content_type, &head.fields, length)
    }

    fn wait_disconnected<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.will_wait();
        let promise =
            self.reactor.get().hub.open()?.promise_gone(py, self.exchange, &self.hooks)?;
        Ok(promise.bind(py).to_owned())
    }

    fn respond(slf: &Bound<'_, Self>, result: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(pump) = answer::respond(slf, result)? {
            HandlerCoroutine::start(&slf.get().hooks, slf, &pump)?;
        }
        Reactor::request_flush(slf.get().reactor.bind(slf.py()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.inner.as_ref().map_or(Ok(()), |inner| inner.visit(&visit))
    }

    fn __repr__(&self) -> String {
        let data = self.data();
        let method = String::from_utf8_lossy(data.head.method_name.of(&data.bytes));
        let target = String::from_utf8_lossy(data.head.target.of(&data.bytes));
        format!("<Request {method} {target}>")
    }
}

/// What `make` makes of the body: now, or when all of it has come.
fn when_whole<'py>(
    request: &Bound<'py, Request>,
    method: &str,
    make: impl FnOnce(&Inner) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = request.py();
    if request.get().comes_in_pieces(py) {
        return names::collect(py)?.call1((request, method));
    }
    Ok(Bound::new(py, Ready::new(make(request.get())?.unbind()))?.into_any())
}
