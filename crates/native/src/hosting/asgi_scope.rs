//! The `scope` dictionary of a hosted ASGI application: what every request has in common is copied,
//! the rest is filled in.

use std::cell::RefCell;
use std::net::SocketAddr;

use http1::{Method, Version};
use peers::RequestData;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use reactor::Address;
use rustc_hash::FxHashMap;

use crate::text;
use crate::unsafe_gil_bound::GilBound;

/// The version of the HTTP and WebSocket messages that are spoken.
const SPEC_VERSION: &str = "2.4";
/// Names of fields that are kept as objects, and how long they may be: a client must not fill the
/// memory with names that it makes up.
const MOST_NAMES: usize = 256;
const LONGEST_NAME: usize = 32;
/// Clients whose addresses are kept as objects.
const MOST_CLIENTS: usize = 1024;

type Known<K, T> = GilBound<RefCell<FxHashMap<K, Py<T>>>>;

/// Makes scopes for one application.
pub struct Scopes {
    http: Py<PyDict>,
    websocket: Py<PyDict>,
    state: Option<Py<PyDict>>,
    root_path: String,
    names: Known<Box<[u8]>, PyBytes>,
    clients: Known<SocketAddr, PyTuple>,
}

impl Scopes {
    pub fn new(
        py: Python<'_>,
        server: Option<&Bound<'_, PyAny>>,
        root_path: &str,
        state: Option<Py<PyDict>>,
    ) -> PyResult<Self> {
        let asgi = PyDict::new(py);
        asgi.set_item("version", "3.0")?;
        asgi.set_item("spec_version", SPEC_VERSION)?;
        let common = PyDict::new(py);
        common.set_item(intern!(py, "type"), intern!(py, "http"))?;
        common.set_item(intern!(py, "asgi"), asgi)?;
        common.set_item(intern!(py, "http_version"), intern!(py, "1.1"))?;
        common.set_item(intern!(py, "server"), server)?;
        common.set_item(intern!(py, "client"), py.None())?;
        common.set_item(intern!(py, "scheme"), intern!(py, "http"))?;
        common.set_item(intern!(py, "root_path"), root_path)?;
        common.set_item(intern!(py, "path"), py.None())?;
        common.set_item(intern!(py, "raw_path"), py.None())?;
        common.set_item(intern!(py, "query_string"), PyBytes::new(py, b""))?;
        common.set_item(intern!(py, "headers"), py.None())?;
        if state.is_some() {
            common.set_item(intern!(py, "state"), py.None())?;
        }
        let http = common.copy()?;
        http.set_item(intern!(py, "method"), intern!(py, "GET"))?;
        http.set_item(intern!(py, "extensions"), extensions(py, "http.response.pathsend")?)?;
        let websocket = common;
        websocket.set_item(intern!(py, "type"), intern!(py, "websocket"))?;
        websocket.set_item(intern!(py, "scheme"), intern!(py, "ws"))?;
        websocket.set_item(intern!(py, "subprotocols"), py.None())?;
        let denial = extensions(py, "websocket.http.response")?;
        websocket.set_item(intern!(py, "extensions"), denial)?;
        Ok(Self {
            http: http.unbind(),
            websocket: websocket.unbind(),
            state,
            root_path: root_path.to_owned(),
            names: GilBound::new(RefCell::default()),
            clients: GilBound::new(RefCell::default()),
        })
    }

    /// The scope of one HTTP request.
    pub fn http<'py>(
        &self,
        py: Python<'py>,
        data: &RequestData,
        scheme: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scope = self.http.bind(py).copy()?;
        let head = &data.head;
        if head.method != Method::Get {
            let name = head.method_name.of(&data.bytes);
            scope.set_item(intern!(py, "method"), method(py, head.method, name))?;
        }
        if head.version == Version::Http10 {
            scope.set_item(intern!(py, "http_version"), intern!(py, "1.0"))?;
        }
        if scheme != "http" {
            scope.set_item(intern!(py, "scheme"), scheme)?;
        }
        self.fill(&scope, data)?;
        Ok(scope)
    }

    /// The scope of one WebSocket.
    pub fn websocket<'py>(
        &self,
        py: Python<'py>,
        data: &RequestData,
        scheme: &str,
        subprotocols: &[String],
    ) -> PyResult<Bound<'py, PyDict>> {
        let scope = self.websocket.bind(py).copy()?;
        if scheme == "https" {
            scope.set_item(intern!(py, "scheme"), intern!(py, "wss"))?;
        }
        scope.set_item(intern!(py, "subprotocols"), PyList::new(py, subprotocols)?)?;
        self.fill(&scope, data)?;
        Ok(scope)
    }

    /// What differs from request to request, whatever the type of the scope.
    fn fill(&self, scope: &Bound<'_, PyDict>, data: &RequestData) -> PyResult<()> {
        let py = scope.py();
        let raw = data.head.path.of(&data.bytes);
        let (path, raw_path) = if self.root_path.is_empty() {
            (path(py, raw), PyBytes::new(py, raw))
        } else {
            let whole = [self.root_path.as_bytes(), raw].concat();
            let decoded = [self.root_path.as_bytes(), &http1::percent_decode(raw, false)].concat();
            (PyString::new(py, &String::from_utf8_lossy(&decoded)), PyBytes::new(py, &whole))
        };
        scope.set_item(intern!(py, "path"), path)?;
        scope.set_item(intern!(py, "raw_path"), raw_path)?;
        if let Some(query) = data.head.query {
            scope.set_item(intern!(py, "query_string"), PyBytes::new(py, query.of(&data.bytes)))?;
        }
        scope.set_item(intern!(py, "headers"), self.headers(py, data)?)?;
        if let Address::Tcp(address) = &data.from {
            scope.set_item(intern!(py, "client"), self.client(py, *address)?)?;
        }
        if let Some(state) = &self.state {
            scope.set_item(intern!(py, "state"), state.bind(py).copy()?)?;
        }
        Ok(())
    }

    fn headers<'py>(&self, py: Python<'py>, data: &RequestData) -> PyResult<Bound<'py, PyList>> {
        let pairs = data.head.fields.iter().map(|field| {
            let name = self.name(py, field.name.of(&data.bytes));
            (name, PyBytes::new(py, field.value.of(&data.bytes)))
        });
        // A list of known length is made in one piece.
        PyList::new(py, pairs.collect::<Vec<_>>())
    }

    /// The name of a field in lower case.
    fn name<'py>(&self, py: Python<'py>, name: &[u8]) -> Bound<'py, PyBytes> {
        if let Some(known) = self.names.borrow().get(name) {
            return known.bind(py).clone();
        }
        let object = PyBytes::new(py, &name.to_ascii_lowercase());
        let mut names = self.names.borrow_mut();
        if name.len() <= LONGEST_NAME && names.len() < MOST_NAMES {
            names.insert(name.into(), object.clone().unbind());
        }
        object
    }

    /// Address and port of the client: the same object for all requests of a connection.
    fn client<'py>(&self, py: Python<'py>, address: SocketAddr) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(known) = self.clients.borrow().get(&address) {
            return Ok(known.bind(py).clone());
        }
        let made = (address.ip().to_canonical().to_string(), address.port()).into_pyobject(py)?;
        let mut clients = self.clients.borrow_mut();
        if clients.len() >= MOST_CLIENTS {
            clients.clear();
        }
        clients.insert(address, made.clone().unbind());
        Ok(made)
    }
}

/// The extensions of a scope, which is one.
fn extensions<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let extensions = PyDict::new(py);
    extensions.set_item(name, PyDict::new(py))?;
    Ok(extensions)
}

/// The decoded path; what is not UTF-8 is replaced, so that every string can be encoded again.
fn path<'py>(py: Python<'py>, raw: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &String::from_utf8_lossy(&http1::percent_decode(raw, false)))
}

fn method<'py>(py: Python<'py>, method: Method, name: &[u8]) -> Bound<'py, PyString> {
    match method {
        Method::Post => intern!(py, "POST").clone(),
        Method::Put => intern!(py, "PUT").clone(),
        Method::Head => intern!(py, "HEAD").clone(),
        Method::Delete => intern!(py, "DELETE").clone(),
        Method::Options => intern!(py, "OPTIONS").clone(),
        Method::Patch => intern!(py, "PATCH").clone(),
        _ => text::latin1(py, name),
    }
}
