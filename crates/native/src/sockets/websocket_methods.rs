//! The methods of `WebSocket` as Python sees them.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use pyo3::{PyTraverseError, PyVisit};
use websocket::{Close, Kind, is_sendable};

use crate::reactor_class::Reactor;
use crate::ready::{Ready, when_awaited};
use crate::request::Request;
use crate::websocket::{Phase, State, Want, WebSocket, closed_error};
use crate::websocket_opening::{self, WebSocketOptions};
use crate::{answer, names};

#[pymethods]
impl WebSocket {
    #[new]
    #[pyo3(signature = (request, options=None))]
    fn new(
        request: &Bound<'_, Request>,
        options: Option<&Bound<'_, WebSocketOptions>>,
    ) -> PyResult<Py<Self>> {
        let usual = WebSocketOptions::default();
        Self::open(request, options.map_or(&usual, |options| options.get())).map(Bound::unbind)
    }

    #[getter]
    fn request(&self, py: Python<'_>) -> Py<Request> {
        self.request.clone_ref(py)
    }

    #[getter]
    fn subprotocols(&self) -> Vec<String> {
        self.opening.protocols.clone()
    }

    #[getter]
    fn subprotocol(&self) -> PyResult<Option<String>> {
        Ok(self.state.open()?.subprotocol.clone())
    }

    #[getter]
    fn accepted(&self) -> PyResult<bool> {
        Ok(!matches!(self.state.open()?.phase, Phase::Asked | Phase::Refused))
    }

    #[getter]
    fn close_code(&self) -> PyResult<Option<u16>> {
        Ok(self.end(&*self.state.open()?)?.map(|end| end.code))
    }

    #[getter]
    fn close_reason(&self) -> PyResult<Option<String>> {
        Ok(self.end(&*self.state.open()?)?.map(|end| end.reason))
    }

    #[pyo3(signature = (subprotocol=None, headers=None))]
    fn accept<'py>(
        slf: &Bound<'py, Self>,
        subprotocol: Option<&str>,
        headers: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        websocket_opening::accept(slf, subprotocol, headers)?;
        Ready::nothing(slf.py())
    }

    fn receive<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::receive_as(slf, Want::Any)
    }

    fn receive_text<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::receive_as(slf, Want::Text)
    }

    fn receive_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::receive_as(slf, Want::Bytes)
    }

    fn receive_json<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::receive_as(slf, Want::Json)
    }

    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        when_awaited(slf.py(), Self::receive_as(slf, Want::Next))
    }

    fn send<'py>(
        slf: &Bound<'py, Self>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(text) = message.cast::<PyString>() {
            return Self::send_as(slf, Kind::Text, text.to_str()?.as_bytes());
        }
        if let Ok(bytes) = message.cast::<PyBytes>() {
            return Self::send_as(slf, Kind::Binary, bytes.as_bytes());
        }
        if message.is_instance_of::<PyByteArray>() || message.is_instance_of::<PyMemoryView>() {
            let bytes = message.py().get_type::<PyBytes>().call1((message,))?;
            return Self::send_as(slf, Kind::Binary, bytes.cast::<PyBytes>()?.as_bytes());
        }
        let kind = message.get_type().name()?;
        Err(PyTypeError::new_err(format!("a message is str or bytes, not {kind}; see send_json")))
    }

    fn send_json<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text = names::json_dumps(slf.py())?.call1((value,))?;
        Self::send_as(slf, Kind::Text, text.cast::<PyString>()?.to_str()?.as_bytes())
    }

    #[pyo3(signature = (data=None))]
    fn ping<'py>(slf: &Bound<'py, Self>, data: Option<&[u8]>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let data = data.unwrap_or_default();
        if data.len() > 125 {
            return Err(PyValueError::new_err("a ping holds at most 125 bytes"));
        }
        Self::ensure_answered(slf)?;
        let request = this.request.get();
        let mut hub = request.reactor().get().hub.open()?;
        let sent = hub.with_socket(request.exchange(), |socket, io| socket.ping(data, io));
        drop(hub);
        if sent != Some(true) {
            let state = this.state.open()?;
            return Err(closed_error(py, this.end(&state)?.as_ref()));
        }
        Reactor::request_flush(this.reactor().bind(py))?;
        this.promise(py, |state| &mut state.pongs)
    }

    #[pyo3(signature = (code=1000, reason=""))]
    fn close<'py>(slf: &Bound<'py, Self>, code: u16, reason: &str) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if !is_sendable(code) || reason.len() > Close::REASON_BYTES {
            let text = "close with a code of 1000 to 1003, 1007 to 1014 or 3000 to 4999, and a \
                        reason of at most 123 bytes";
            return Err(PyValueError::new_err(text));
        }
        let mut state = this.state.open()?;
        let request = this.request.get();
        match state.phase {
            Phase::Asked => {
                state.phase = Phase::Refused;
                drop(state);
                answer::plain(request, 403, b"Forbidden");
            }
            Phase::Open => {
                drop(state);
                let mut hub = request.reactor().get().hub.open()?;
                hub.with_socket(request.exchange(), |socket, io| socket.close(code, reason, io));
                drop(hub);
                Reactor::request_flush(this.reactor().bind(py))?;
                return this.promise(py, |state| &mut state.goodbyes);
            }
            Phase::Refused | Phase::Ended(_) => return Ready::nothing(py),
        }
        Reactor::request_flush(this.reactor().bind(py))?;
        Ready::nothing(py)
    }

    fn __repr__(&self) -> &'static str {
        match self.state.try_open().as_deref() {
            Some(State { phase: Phase::Asked, .. }) => "<WebSocket asked for>",
            Some(State { phase: Phase::Refused, .. }) => "<WebSocket refused>",
            Some(State { phase: Phase::Ended(_), .. }) => "<WebSocket ended>",
            _ => "<WebSocket open>",
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.request)
    }
}
