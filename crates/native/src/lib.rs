//! The Python binding: classes of `tarmac._native`, one per file, and no protocol logic.
//!
//! In reading order along the straight line: `reactor` gives a turn and dispatches its steps,
//! `server` listens, `request` is handed to handlers, `answer` renders what they return; `link`
//! sends queries, `query` is what a coroutine awaits, `row` what it gets.

mod access_log;
mod answer;
mod asgi;
mod asgi_answer;
mod asgi_awaitables;
mod asgi_exchange;
mod asgi_file;
mod asgi_receive;
mod asgi_scope;
mod asgi_start;
mod body_stream;
mod call;
mod current_task;
mod dispatch;
mod ended;
mod face;
mod ffi_arguments;
mod ffi_call;
mod ffi_face;
mod ffi_face_methods;
mod ffi_fd;
mod ffi_light_task;
mod ffi_object;
mod ffi_query;
mod ffi_query_method;
mod ffi_query_type;
mod ffi_query_visit;
mod ffi_row;
mod ffi_stop;
mod ffi_task;
mod first_step;
mod format;
mod gate;
mod handler_coroutine;
mod headers;
mod hub;
mod idle_loop;
mod light;
mod light_current;
mod limits;
mod link;
mod link_arguments;
mod link_names;
mod memory_class;
mod moment;
mod multipart;
mod names;
mod operation;
mod pack;
mod query;
mod query_state;
mod reactor_class;
mod ready;
mod request;
mod request_body;
mod request_inner;
mod request_seen;
mod response;
mod response_cookie;
mod response_headers;
mod result;
mod router;
mod row;
mod send;
mod server;
mod text;
mod tls_class;
mod unpack;
mod unsafe_gil_bound;
mod unsafe_held;
mod unsafe_renewable;
mod unsafe_thread_bound;
mod values;
mod waits;
mod websocket;
mod websocket_methods;
mod websocket_news;
mod websocket_opening;
mod writer;

use pyo3::prelude::*;

/// The native core of Tarmac.
// Cells that only the GIL guards: a free-threaded interpreter switches it on for us.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::{
        access_log::AccessLog,
        asgi::Asgi,
        body_stream::BodyStream,
        face::{ConnectionBase, SpaceBase},
        format::Format,
        headers::Headers,
        limits::Limits,
        link::Link,
        memory_class::MemoryConnection,
        multipart::FormReader,
        reactor_class::Reactor,
        request::Request,
        response::Response,
        response_headers::ResponseHeaders,
        router::Router,
        server::Server,
        tls_class::TlsAcceptor,
        values::{BoxError, Datetime, ExtType, Interval},
        websocket::WebSocket,
        websocket_opening::WebSocketOptions,
        writer::Writer,
    };

    use pyo3::prelude::*;
    use pyo3::types::PyList;

    use crate::{ffi_face_methods, ffi_query, ffi_row, pack, request_body, unpack};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("METRICS", peers::observe::names())?;
        module.add("debug_build", cfg!(debug_assertions))?;
        ffi_face_methods::install(module.py())?;
        module.add("Query", ffi_query::query_class(module.py())?)?;
        module.add("Row", ffi_row::row_type(module.py())?)
    }

    /// Panic on purpose: proves that a panic becomes an exception.
    #[pyfunction]
    fn _panic() {
        panic!("on purpose");
    }

    /// Names and values of an urlencoded form.
    #[pyfunction]
    fn _form_pairs<'py>(
        py: Python<'py>,
        body: &[u8],
        max_fields: usize,
        max_field_bytes: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        request_body::form_pairs(py, body, max_fields, max_field_bytes)
    }

    /// Encode one value as msgpack.
    #[pyfunction]
    fn _pack(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let mut out = Vec::new();
        pack::pack(py, value, &mut out, None)?;
        Ok(out)
    }

    /// Decode one msgpack value; trailing bytes are a `ValueError`.
    #[pyfunction]
    fn _unpack(py: Python<'_>, data: &[u8]) -> PyResult<Py<PyAny>> {
        unpack::whole(py, data)
    }
}
