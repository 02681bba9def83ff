//! Names that are looked up often, interned once, and objects imported once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// `json.loads`.
pub fn json_loads(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    LOADS
        .get_or_try_init(py, || Ok(py.import("json")?.getattr("loads")?.unbind()))
        .map(|loads| loads.bind(py))
}

/// Turns a value into JSON text: `tarmac.http.responses.encode_json`.
pub fn json_dumps(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static DUMPS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    imported(py, &DUMPS, "tarmac.http.responses", "encode_json")
}

/// Turns a dataclass or a model that a handler returned into JSON text.
pub fn encode_model(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static ENCODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    imported(py, &ENCODE, "tarmac.http.responses", "encode_model")
}

/// `tarmac.http.models.read_json`.
pub fn read_model(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static READ: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    imported(py, &READ, "tarmac.http.models", "read_json")
}

fn imported<'py>(
    py: Python<'py>,
    known: &'static PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    known
        .get_or_try_init(py, || Ok(py.import(module)?.getattr(name)?.unbind()))
        .map(|object| object.bind(py))
}

/// `types.SimpleNamespace`.
pub fn simple_namespace(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "types", "SimpleNamespace")
}

/// `asyncio.CancelledError`.
pub fn cancelled_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "asyncio", "CancelledError")
}

/// `asyncio.InvalidStateError`.
pub fn invalid_state_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "asyncio", "InvalidStateError")
}

/// `tarmac.errors.BadRequest`.
pub fn bad_request(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "tarmac.errors", "BadRequest")
}

/// `tarmac.errors.ContentTooLarge`.
pub fn content_too_large(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "tarmac.errors", "ContentTooLarge")
}

/// An error that is answered with 413.
pub fn too_large(py: Python<'_>, text: &str) -> PyErr {
    match content_too_large(py).and_then(|class| class.call1((text,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// `tarmac.http.tasks.later`.
pub fn in_background(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static LATER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    LATER.import(py, "tarmac.http.tasks", "later")
}

/// `tarmac.errors.HTTPError` with a status.
pub fn http_error(py: Python<'_>, status: u16, text: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "tarmac.errors", "HTTPError");
    match class.and_then(|class| class.call1((status, text))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The same with headers for its answer.
pub fn http_error_with(
    py: Python<'_>,
    status: u16,
    text: &str,
    headers: &Bound<'_, pyo3::types::PyDict>,
) -> PyErr {
    let made = || {
        let options = pyo3::types::PyDict::new(py);
        options.set_item("headers", headers)?;
        let class = py.import("tarmac.errors")?.getattr("HTTPError")?;
        class.call((status, text), Some(&options))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// `tarmac.errors.WebSocketClosed`.
pub fn websocket_closed_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "tarmac.errors", "WebSocketClosed")
}

/// `tarmac.errors.WebSocketClosed` with a code and a reason.
pub fn websocket_closed(py: Python<'_>, code: u16, reason: &str) -> PyErr {
    let made = websocket_closed_class(py).and_then(|class| class.call1((code, reason)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// `tarmac.errors.Disconnected`.
pub fn disconnected_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "tarmac.errors", "Disconnected")
}

/// A new one.
pub fn disconnected(py: Python<'_>) -> PyErr {
    match disconnected_class(py).and_then(|class| class.call1(("the client has gone",))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// `tarmac.http.streams.pump`.
pub fn pump(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static PUMP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    PUMP.import(py, "tarmac.http.streams", "pump")
}

/// `tarmac.http.forms.Form`.
pub fn form(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "tarmac.http.forms", "Form")
}

/// `tarmac.http.reading.read_form`.
pub fn read_form(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static READ: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    READ.import(py, "tarmac.http.reading", "read_form")
}

/// `tarmac.http.streams.collect`.
pub fn collect(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static COLLECT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    COLLECT.import(py, "tarmac.http.streams", "collect")
}

/// `tarmac.tarantool.operations.flatten`.
pub fn flatten(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FLATTEN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FLATTEN.import(py, "tarmac.tarantool.operations", "flatten")
}
