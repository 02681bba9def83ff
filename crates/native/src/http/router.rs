//! `Router`: (method, path) to an endpoint.

use std::sync::Mutex;

use http1::Method;
use peers::Routed;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};

use crate::call::param;
use crate::light::Habit;
use crate::websocket_opening::WebSocketOptions;

/// One endpoint and how to call it.
pub struct Route {
    pub endpoint: Py<PyAny>,
    pub asynchronous: bool,
    /// It takes the body in pieces.
    pub streams: bool,
    /// Calling it makes a coroutine and runs nothing: it is an `async def` itself.
    pub is_function: bool,
    pub habit: Habit,
    /// It takes a WebSocket, of this kind.
    pub websocket: Option<Py<WebSocketOptions>>,
    /// Names of the parameters, in the order of the pattern.
    pub names: Py<PyTuple>,
}

impl Route {
    fn copy(&self, py: Python<'_>) -> Self {
        Self {
            endpoint: self.endpoint.clone_ref(py),
            asynchronous: self.asynchronous,
            streams: self.streams,
            is_function: self.is_function,
            habit: Habit::default(),
            websocket: self.websocket.as_ref().map(|options| options.clone_ref(py)),
            names: self.names.clone_ref(py),
        }
    }
}

/// One `add`, kept to build the table of every server anew.
struct Added {
    method: String,
    pattern: String,
}

#[derive(Default)]
struct Table {
    routes: Vec<Route>,
    added: Vec<Added>,
    router: peers::Router,
}

/// Maps (method, path) to an endpoint: static paths first, then typed parameters.
#[pyclass(frozen, module = "tarmac._native")]
#[derive(Default)]
pub struct Router {
    table: Mutex<Table>,
}

#[pymethods]
impl Router {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (method, pattern, endpoint, *, asynchronous, streams=false,
        websocket=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword options")]
    fn add(
        &self,
        py: Python<'_>,
        method: String,
        pattern: String,
        endpoint: Py<PyAny>,
        asynchronous: bool,
        streams: bool,
        websocket: Option<Py<WebSocketOptions>>,
    ) -> PyResult<()> {
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(PyValueError::new_err(format!("{method:?} is not a method")));
        }
        let mut table = self.lock()?;
        let number = u32::try_from(table.routes.len())
            .map_err(|_| PyValueError::new_err("too many routes"))?;
        let names = table
            .router
            .add(&method, &pattern, number)
            .map_err(|error| PyValueError::new_err(error.0))?;
        let names =
            PyTuple::new(py, names.iter().map(|name| pyo3::types::PyString::intern(py, name)))?;
        let is_function = is_coroutine_function(endpoint.bind(py))?;
        table.routes.push(Route {
            endpoint,
            asynchronous,
            streams,
            is_function,
            habit: Habit::default(),
            websocket,
            names: names.unbind(),
        });
        table.added.push(Added { method, pattern });
        Ok(())
    }

    #[pyo3(name = "match")]
    fn find<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        path: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let table = self.lock()?;
        let known = Method::from_bytes(method.as_bytes());
        match table.router.find(known, method.as_bytes(), path.as_bytes()) {
            Routed::NotFound => Ok(None),
            Routed::NotAllowed(allow) | Routed::Options(allow) => {
                let methods: Vec<&str> = allow.split(", ").collect();
                Ok(Some(methods.into_pyobject(py)?.into_any()))
            }
            Routed::Found(number, values) => {
                let route = &table.routes[number as usize];
                let params = PyDict::new(py);
                for (name, value) in route.names.bind(py).iter().zip(&values) {
                    params.set_item(name, param(py, value)?)?;
                }
                Ok(Some((route.endpoint.bind(py), params).into_pyobject(py)?.into_any()))
            }
        }
    }
}

impl Router {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Table>> {
        self.table.lock().map_err(|_| PyRuntimeError::new_err("the router is broken by a panic"))
    }

    /// The routes as they are now, for one server.
    pub fn freeze(&self, py: Python<'_>) -> PyResult<(Vec<Route>, peers::Router)> {
        let table = self.lock()?;
        let mut router = peers::Router::default();
        for (number, added) in (0..).zip(&table.added) {
            router
                .add(&added.method, &added.pattern, number)
                .map_err(|error| PyValueError::new_err(error.0))?;
        }
        Ok((table.routes.iter().map(|route| route.copy(py)).collect(), router))
    }
}

/// Is it a plain `async def`, with nothing around it?
fn is_coroutine_function(endpoint: &Bound<'_, PyAny>) -> PyResult<bool> {
    const CO_COROUTINE: u32 = 0x80;
    if !endpoint.is_exact_instance_of::<PyFunction>() {
        return Ok(false);
    }
    let py = endpoint.py();
    let code = endpoint.getattr(intern!(py, "__code__"))?;
    Ok(code.getattr(intern!(py, "co_flags"))?.extract::<u32>()? & CO_COROUTINE != 0)
}
