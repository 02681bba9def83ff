//! The Python binding: classes of `tarmac._native`, one per file, and no protocol logic.
//!
//! In reading order along the straight line: `reactor` gives a turn and dispatches its steps,
//! `server` listens, `request` is handed to handlers, `answer` renders what they return; `link`
//! sends queries, `query` is what a coroutine awaits, `row` what it gets.

mod hosting;
mod http;
mod python;
mod sockets;
mod tarantool;
mod tasks;
mod turn;

// Modules are named from here, `crate::query`, whatever folder they stand in.
use hosting::{
    asgi, asgi_answer, asgi_awaitables, asgi_exchange, asgi_file, asgi_receive, asgi_scope,
    asgi_start,
};
use http::{
    access_log, answer, body_stream, call, ffi_collected, headers, limits, multipart, request,
    request_body, request_inner, request_seen, response, response_cookie, response_headers, router,
    server, tls_class, waits, writer,
};
use python::{
    ffi_arguments, ffi_call, ffi_fd, ffi_object, ffi_stop, names, ready, text, unsafe_gil_bound,
    unsafe_held, unsafe_renewable, unsafe_thread_bound,
};
use sockets::{websocket, websocket_news, websocket_opening};
use tarantool::{
    face, ffi_face, ffi_face_methods, ffi_query, ffi_query_method, ffi_query_type, ffi_query_visit,
    ffi_row, format, link, link_arguments, link_names, moment, operation, pack, query, query_state,
    result, row, send, unpack, values,
};
use tasks::{
    current_task, ended, ffi_light_task, ffi_task, first_step, gate, handler_coroutine, idle_loop,
    light, light_current,
};
use turn::{dispatch, hub, memory_class, reactor_class};

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
