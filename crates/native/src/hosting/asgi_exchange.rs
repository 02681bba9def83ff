//! `AsgiExchange`: the `receive` and `send` of one HTTP request that a hosted application answers.
//!
//! ```text
//!   Waiting ── http.response.start ──► Started ── body, the last ──► Complete
//!                                         ├── pathsend ───────────────────────────► Complete
//!                                         └── body, more ──► Streaming ── the last ──► Complete
//! ```

use std::cell::RefCell;
use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::asgi_answer;
use crate::asgi_awaitables::{Receiving, Sending, Sent};
use crate::asgi_file;
use crate::asgi_start::Start;
use crate::ffi_query::Handle;
use crate::query_state::Progress;
use crate::request::Request;
use crate::unsafe_gil_bound::GilBound;

/// How far the answer is.
pub enum Stage {
    Waiting,
    Started(Start),
    Streaming,
    Complete,
}

/// What changes while it is answered.
pub struct State {
    pub stage: Stage,
    /// The end of the request's body has been handed out.
    pub read: bool,
    /// Kept when more of the body is there: the promise of whoever asked first.
    pub piece: Option<Handle>,
    /// Those of others who asked meanwhile, and have to ask again.
    pub others: Vec<Handle>,
    /// Kept when the client has gone, or when it has its answer. Each is one task's own: to cancel
    /// a task is to cancel what it waits for.
    pub over: Vec<Handle>,
}

/// One request of a hosted application.
#[pyclass(frozen, module = "tarmac._native")]
pub struct AsgiExchange {
    pub request: Py<Request>,
    pub state: GilBound<RefCell<State>>,
}

impl AsgiExchange {
    pub fn open<'py>(request: &Bound<'py, Request>) -> PyResult<Bound<'py, Self>> {
        let state = State {
            stage: Stage::Waiting,
            read: false,
            piece: None,
            others: Vec::new(),
            over: Vec::new(),
        };
        let state = GilBound::new(RefCell::new(state));
        Bound::new(request.py(), Self { request: request.clone().unbind(), state })
    }

    /// Take an event that belongs to the present stage. Tells for what to wait, if for anything.
    fn take(&self, event: &Bound<'_, PyDict>) -> PyResult<Option<Handle>> {
        let py = event.py();
        let stage = std::mem::replace(&mut self.state.borrow_mut().stage, Stage::Waiting);
        let (stage, outcome) = match stage {
            Stage::Waiting => match self.start(event) {
                Ok(start) => (Stage::Started(start), Ok(None)),
                Err(error) => (Stage::Waiting, Err(error)),
            },
            Stage::Started(start) => match self.first_body(event, &start) {
                Ok(sent) => sent,
                // What could not be sent may be replaced by something better.
                Err(error) => (Stage::Started(start), Err(error)),
            },
            Stage::Streaming => self.next_body(event),
            Stage::Complete => (Stage::Complete, Err(after_the_end(event)?)),
        };
        let complete = matches!(stage, Stage::Complete);
        self.state.borrow_mut().stage = stage;
        if complete {
            self.tell_receivers(py)?;
        }
        outcome
    }

    fn start(&self, event: &Bound<'_, PyDict>) -> PyResult<Start> {
        expect(event, "http.response.start")?;
        Start::read(event, self.request.get().hooks().own)
    }

    /// The first piece of the body decides how the answer is sent.
    fn first_body(
        &self,
        event: &Bound<'_, PyDict>,
        start: &Start,
    ) -> PyResult<(Stage, PyResult<Option<Handle>>)> {
        let (py, request) = (event.py(), self.request.get());
        let body = match Body::read(event) {
            Err(_) if kind_of(event)? == "http.response.pathsend" => {
                asgi_file::send(py, request, start, &path_of(event)?)?;
                return Ok((Stage::Complete, Ok(None)));
            }
            body => body?,
        };
        if body.more {
            asgi_answer::begin(request, start, start.length)?;
            return Ok((Stage::Streaming, asgi_answer::push(py, request, body.bytes())));
        }
        asgi_answer::whole(py, request, start, body.bytes())?;
        Ok((Stage::Complete, Ok(None)))
    }

    fn next_body(&self, event: &Bound<'_, PyDict>) -> (Stage, PyResult<Option<Handle>>) {
        let (py, request) = (event.py(), self.request.get());
        let body = match Body::read(event) {
            Ok(body) => body,
            Err(error) => return (Stage::Streaming, Err(error)),
        };
        let pushed = asgi_answer::push(py, request, body.bytes());
        if body.more || pushed.is_err() {
            return (Stage::Streaming, pushed);
        }
        match asgi_answer::end(py, request) {
            Ok(()) => (Stage::Complete, Ok(None)),
            Err(error) => (Stage::Complete, Err(error)),
        }
    }

    /// The answer is complete: whoever still receives gets `http.disconnect`.
    fn tell_receivers(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.state.borrow_mut();
        let piece = state.piece.take();
        let (others, over) = (std::mem::take(&mut state.others), std::mem::take(&mut state.over));
        drop(state);
        for promise in piece.into_iter().chain(others).chain(over) {
            promise.finish(py, Progress::nothing(py), false)?;
        }
        Ok(())
    }
}

#[pymethods]
impl AsgiExchange {
    fn receive(slf: Py<Self>) -> Receiving {
        Receiving::new(slf)
    }

    fn send<'py>(&self, py: Python<'py>, event: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let taken = match event.cast::<PyDict>() {
            Ok(event) => self.take(event),
            // Some other mapping.
            Err(_) => self.take(&py.get_type::<PyDict>().call1((event,))?.cast_into()?),
        };
        match taken {
            Ok(None) => Sent::get(py),
            Ok(Some(promise)) => Sending::later(py, promise),
            Err(error) => Sending::failed(py, error),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.request)
    }
}

/// The content of an `http.response.body`.
struct Body<'py> {
    content: Option<Bound<'py, PyBytes>>,
    more: bool,
}

impl<'py> Body<'py> {
    fn read(event: &Bound<'py, PyDict>) -> PyResult<Self> {
        let py = event.py();
        expect(event, "http.response.body")?;
        let content = event.get_item(intern!(py, "body"))?.map(bytes_of).transpose()?;
        let more = match event.get_item(intern!(py, "more_body"))? {
            Some(more) => more.is_truthy()?,
            None => false,
        };
        Ok(Self { content, more })
    }

    fn bytes(&self) -> &[u8] {
        self.content.as_ref().map_or(&[], |content| content.as_bytes())
    }
}

fn bytes_of(content: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyBytes>> {
    let content = match content.cast_into::<PyBytes>() {
        Ok(bytes) => return Ok(bytes),
        Err(error) => error.into_inner(),
    };
    let py = content.py();
    if content.is_instance_of::<PyByteArray>() || content.is_instance_of::<PyMemoryView>() {
        return Ok(py.get_type::<PyBytes>().call1((content,))?.cast_into()?);
    }
    let kind = content.get_type().name()?;
    Err(PyTypeError::new_err(format!("the body of an http.response.body is bytes, not {kind}")))
}

/// The file of an `http.response.pathsend`.
fn path_of(event: &Bound<'_, PyDict>) -> PyResult<PathBuf> {
    let path = event.get_item(intern!(event.py(), "path"))?;
    path.ok_or_else(|| PyRuntimeError::new_err("http.response.pathsend needs a path"))?.extract()
}

fn expect(event: &Bound<'_, PyDict>, expected: &str) -> PyResult<()> {
    let kind = kind_of(event)?;
    if kind.to_str()? == expected {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!("the next event has to be {expected}, not {kind}")))
}

fn after_the_end(event: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    let kind = kind_of(event)?;
    Ok(PyRuntimeError::new_err(format!("{kind} after the answer was complete")))
}

fn kind_of<'py>(event: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyString>> {
    let kind = event.get_item(intern!(event.py(), "type"))?;
    let kind = kind.and_then(|kind| kind.cast_into::<PyString>().ok());
    kind.ok_or_else(|| PyRuntimeError::new_err("an event needs a type, which is a string"))
}
