//! `Limits`: limits and timeouts of one server.

use peers::http::SocketSettings;
use peers::{Server, Timeouts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Limits and timeouts of one server; every timeout is in seconds.
#[pyclass(frozen, module = "tarmac._native")]
#[derive(Clone, Default)]
pub struct Limits {
    message: http1::Limits,
    timeouts: Timeouts,
    in_flight: Option<usize>,
    queued_bytes: Option<usize>,
    connections: Option<usize>,
    body_window: Option<usize>,
    sockets: SocketSettings,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, request_line=8190, header_count=100, header_bytes=32768,
        body_bytes=16 * 1024 * 1024, in_flight=64, queued_bytes=1024 * 1024, connections=10000,
        header_timeout=10.0, body_timeout=30.0, idle_timeout=75.0, write_timeout=30.0,
        body_rate=240, body_window=64 * 1024, handshake_timeout=10.0,
        ws_message_bytes=1024 * 1024,
        ws_queued_bytes=64 * 1024, ws_idle_timeout=20.0, ws_ping_timeout=20.0,
        ws_close_timeout=5.0))]
    #[expect(clippy::too_many_arguments, reason = "keyword options of one constructor")]
    fn new(
        request_line: usize,
        header_count: usize,
        header_bytes: usize,
        body_bytes: u64,
        in_flight: usize,
        queued_bytes: usize,
        connections: usize,
        header_timeout: f64,
        body_timeout: f64,
        idle_timeout: f64,
        write_timeout: f64,
        body_rate: u64,
        body_window: usize,
        handshake_timeout: f64,
        ws_message_bytes: usize,
        ws_queued_bytes: usize,
        ws_idle_timeout: f64,
        ws_ping_timeout: f64,
        ws_close_timeout: f64,
    ) -> PyResult<Self> {
        if in_flight == 0 || connections == 0 {
            return Err(PyValueError::new_err("in_flight and connections must be at least 1"));
        }
        if body_window == 0 {
            return Err(PyValueError::new_err("body_window must be at least 1 byte"));
        }
        Ok(Self {
            message: http1::Limits { request_line, header_count, header_bytes, body_bytes },
            timeouts: Timeouts {
                handshake: milliseconds("handshake_timeout", handshake_timeout)?,
                header: milliseconds("header_timeout", header_timeout)?,
                body: milliseconds("body_timeout", body_timeout)?,
                body_rate,
                idle: milliseconds("idle_timeout", idle_timeout)?,
                write: milliseconds("write_timeout", write_timeout)?,
            },
            in_flight: Some(in_flight),
            queued_bytes: Some(queued_bytes),
            connections: Some(connections),
            body_window: Some(body_window),
            sockets: SocketSettings {
                message_bytes: ws_message_bytes,
                inbox_bytes: ws_queued_bytes,
                ping_interval: milliseconds("ws_idle_timeout", ws_idle_timeout)?,
                ping_timeout: milliseconds("ws_ping_timeout", ws_ping_timeout)?,
                close_timeout: milliseconds("ws_close_timeout", ws_close_timeout)?,
            },
        })
    }
}

impl Limits {
    /// The settings of its WebSockets.
    pub fn sockets(&self) -> SocketSettings {
        self.sockets.clone()
    }

    /// The settings of a server with these limits.
    pub fn server(
        &self,
        router: peers::Router,
        prelude: http1::Prelude,
        has_fallback: bool,
    ) -> Server {
        Server {
            router,
            limits: self.message.clone(),
            timeouts: self.timeouts.clone(),
            in_flight: self.in_flight.unwrap_or(64),
            queued_bytes: self.queued_bytes.unwrap_or(1024 * 1024),
            most_connections: self.connections.unwrap_or(10_000),
            prelude,
            body_window: self.body_window.unwrap_or(64 * 1024),
            streamed_routes: Vec::new(),
            streams_fallback: false,
            has_fallback,
            tls: None,
            proxy_protocol: false,
            connections: 0,
            running: 0,
            draining: false,
            observer: None,
        }
    }
}

/// Seconds from Python as whole milliseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
pub fn milliseconds(name: &str, seconds: f64) -> PyResult<u64> {
    if !(0.0..=1e9).contains(&seconds) {
        return Err(PyValueError::new_err(format!("{name} must be a number of seconds >= 0")));
    }
    Ok((seconds * 1000.0).ceil() as u64)
}
