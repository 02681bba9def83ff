//! `Request`: one HTTP request, decoded field by field when it is touched.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use peers::{Exchange, RequestData, Routed};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use reactor::Address;

use crate::headers::Headers;
use crate::reactor_class::Reactor;
use crate::ready::Ready;
use crate::server::Hooks;
use crate::unsafe_renewable::Renewable;
use crate::{answer, call, names, request_body, text};

/// One HTTP request.
// Without weak references on purpose: see `Renewable`.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Request {
    /// None only while the object waits for its next request.
    inner: Renewable<Option<Inner>>,
}

/// One exchange's part of a request object.
pub struct Inner {
    /// Taken out only when the request ends, to go back to the pool.
    data: Option<Box<RequestData>>,
    reactor: Py<Reactor>,
    exchange: Exchange,
    hooks: Arc<Hooks>,
    answered: AtomicBool,
    state: PyOnceLock<Py<PyAny>>,
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
        let inner = Inner {
            data: Some(data),
            reactor: reactor.clone().unbind(),
            exchange,
            hooks,
            answered: AtomicBool::new(false),
            state: PyOnceLock::new(),
        };
        let inner = match spare {
            Some(mut spare) => {
                match Renewable::renew(&mut spare, Some(inner), |this| &this.inner) {
                    Ok(_) => return Ok(spare),
                    Err(inner) => inner,
                }
            }
            None => Some(inner),
        };
        Bound::new(reactor.py(), Self { inner: Renewable::new(inner) })
    }

    /// The empty object for the next request, if nobody else holds this one.
    #[inline]
    pub fn into_spare(mut request: Bound<'_, Self>) -> Option<Bound<'_, Self>> {
        match Renewable::renew(&mut request, None, |this| &this.inner) {
            Ok(_) => Some(request),
            Err(_) => None,
        }
    }
}

impl Inner {
    /// What came over the wire.
    #[inline]
    pub fn data(&self) -> &RequestData {
        self.data.as_deref().expect("present until the request is dropped")
    }

    #[inline]
    pub fn reactor(&self) -> &Py<Reactor> {
        &self.reactor
    }

    pub fn exchange(&self) -> Exchange {
        self.exchange
    }

    /// Claim the right to answer; false if somebody has it already.
    #[inline]
    pub fn claim(&self) -> bool {
        !self.answered.swap(true, Ordering::Relaxed)
    }

    /// Has somebody answered, or begun to?
    pub fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    fn query_bytes(&self) -> &[u8] {
        let data = self.data();
        data.head.query.map_or(&[], |query| query.of(&data.bytes))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.claim() {
            // Whoever was to answer has gone: the client must not wait for ever.
            answer::abandoned(self);
        }
        if let Some(data) = self.data.take()
            && let Some(mut hub) = self.reactor.get().hub.try_open()
        {
            hub.reactor.shared.pool.give(data);
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
    fn scheme(&self) -> &str {
        &self.hooks.scheme
    }

    #[getter]
    fn host<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let data = self.data();
        text::latin1(py, data.head.host.map_or(&[], |host| host.of(&data.bytes)))
    }

    #[getter]
    fn client(&self) -> Option<(String, u16)> {
        match &self.data().from {
            Address::Tcp(address) => Some((address.ip().to_string(), address.port())),
            Address::Unix(_) | Address::Unnamed => None,
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
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self
            .state
            .get_or_try_init(py, || names::simple_namespace(py)?.call0().map(Bound::unbind))?;
        Ok(made.bind(py).clone())
    }

    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.data().body)
    }

    #[getter]
    fn disconnected(&self) -> PyResult<bool> {
        if self.answered.load(Ordering::Relaxed) {
            return Ok(false);
        }
        Ok(!self.reactor.get().hub.open()?.owes(self.exchange))
    }

    fn body(&self, py: Python<'_>) -> Ready {
        Ready::new(PyBytes::new(py, &self.data().body).into_any().unbind())
    }

    fn text(&self, py: Python<'_>) -> PyResult<Ready> {
        request_body::text(py, self.data()).map(|text| Ready::new(text.unbind()))
    }

    fn json(&self, py: Python<'_>) -> PyResult<Ready> {
        request_body::json(py, self.data()).map(|value| Ready::new(value.unbind()))
    }

    fn form(&self, py: Python<'_>) -> PyResult<Ready> {
        request_body::form(py, self.data()).map(|form| Ready::new(form.unbind()))
    }

    fn respond(slf: &Bound<'_, Self>, result: &Bound<'_, PyAny>) -> PyResult<()> {
        answer::respond(slf, result)?;
        Reactor::request_flush(slf.get().reactor.bind(slf.py()))
    }

    fn __repr__(&self) -> String {
        let data = self.data();
        let method = String::from_utf8_lossy(data.head.method_name.of(&data.bytes));
        let target = String::from_utf8_lossy(data.head.target.of(&data.bytes));
        format!("<Request {method} {target}>")
    }
}
