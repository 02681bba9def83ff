//! What a hosted application receives: the pieces of a body, then the end of its client.

use peers::http::BodyState;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::answer;
use crate::asgi_exchange::{AsgiExchange, Stage};
use crate::ffi_query::Handle;
use crate::query::Query;
use crate::query_state::Progress;
use crate::reactor_class::Reactor;
use crate::waits::Piece;

/// What there is to receive.
pub enum Received<'py> {
    Event(Bound<'py, PyDict>),
    /// Nothing yet: ask again when this promise is kept.
    Later(Handle),
}

impl AsgiExchange {
    /// The next event, or a promise to wait for.
    pub fn poll<'py>(&self, py: Python<'py>) -> PyResult<Received<'py>> {
        let mut state = self.state.borrow_mut();
        let (complete, read) = (matches!(state.stage, Stage::Complete), state.read);
        let kept = state.piece.take_if(|piece| piece.get().is_done());
        drop(state);
        if kept.is_some() {
            self.wake_others(py)?;
        }
        if complete {
            return disconnect(py);
        }
        if read {
            return self.poll_over(py);
        }
        let request = self.request.get();
        if !request.comes_in_pieces(py) {
            self.state.borrow_mut().read = true;
            return piece(py, request.whole_body(py), false);
        }
        let kept = kept.and_then(|kept| kept.get().outcome(py)).and_then(Result::ok);
        let first = kept.as_ref().and_then(|kept| kept.cast::<PyBytes>().ok());
        self.poll_body(py, first.map_or(&[], |first| first.as_bytes()))
    }

    /// What has come of the body, behind a piece that is in hand already.
    fn poll_body<'py>(&self, py: Python<'py>, first: &[u8]) -> PyResult<Received<'py>> {
        let request = self.request.get();
        let exchange = request.exchange();
        let mut bytes = Vec::new();
        let body = request.reactor().get().hub.open()?.with_http(exchange, |connection, _, _| {
            connection.take_body(exchange.number, &mut bytes)
        });
        if !first.is_empty() {
            bytes.splice(..0, first.iter().copied());
        }
        match body.flatten().unwrap_or(BodyState::Cut) {
            BodyState::Done => {
                self.state.borrow_mut().read = true;
                piece(py, &bytes, false)
            }
            _ if !bytes.is_empty() => piece(py, &bytes, true),
            BodyState::More => self.wait_for_body(py),
            BodyState::Refused(refusal) => self.refuse(py, refusal.status, refusal.reason),
            BodyState::TimedOut => self.refuse(py, 408, "the body came too slowly"),
            BodyState::Cut => disconnect(py),
        }
    }

    fn wait_for_body<'py>(&self, py: Python<'py>) -> PyResult<Received<'py>> {
        let request = self.request.get();
        if self.state.borrow().piece.is_some() {
            let promise = Handle::new(py, Query::promise(request.hooks()))?;
            self.state.borrow_mut().others.push(promise.share(py));
            return Ok(Received::Later(promise));
        }
        request.will_wait();
        let mut hub = request.reactor().get().hub.open()?;
        let next = hub.next_piece(py, request.exchange(), request.hooks())?;
        drop(hub);
        let Piece::Later(promise) = next else { return disconnect(py) };
        self.state.borrow_mut().piece = Some(promise.share(py));
        // The client may have to be told to go on.
        Reactor::request_flush(request.reactor().bind(py))?;
        Ok(Received::Later(promise))
    }

    /// Whoever asked first has it, or has given up: the others ask again.
    pub fn wake_others(&self, py: Python<'_>) -> PyResult<()> {
        let others = std::mem::take(&mut self.state.borrow_mut().others);
        others.into_iter().try_for_each(|other| other.finish(py, Progress::nothing(py), false))
    }

    /// The body is read: nothing comes but the end.
    fn poll_over<'py>(&self, py: Python<'py>) -> PyResult<Received<'py>> {
        let mut state = self.state.borrow_mut();
        state.over.retain(|promise| !promise.get().is_cancelled());
        let gone = state.over.iter().any(|promise| promise.get().is_done());
        drop(state);
        if gone {
            return disconnect(py);
        }
        let request = self.request.get();
        request.will_wait();
        let mut hub = request.reactor().get().hub.open()?;
        let promise = hub.promise_gone(py, request.exchange(), request.hooks())?;
        drop(hub);
        self.state.borrow_mut().over.push(promise.share(py));
        if promise.get().is_done() { disconnect(py) } else { Ok(Received::Later(promise)) }
    }

    /// A body that breaks a limit is the server's to answer, unless the application has begun to.
    fn refuse<'py>(
        &self,
        py: Python<'py>,
        status: u16,
        reason: &'static str,
    ) -> PyResult<Received<'py>> {
        let request = self.request.get();
        answer::plain(request, status, reason.as_bytes());
        Reactor::request_flush(request.reactor().bind(py))?;
        disconnect(py)
    }
}

fn piece<'py>(py: Python<'py>, body: &[u8], more: bool) -> PyResult<Received<'py>> {
    let event = PyDict::new(py);
    event.set_item(intern!(py, "type"), intern!(py, "http.request"))?;
    event.set_item(intern!(py, "body"), PyBytes::new(py, body))?;
    event.set_item(intern!(py, "more_body"), more)?;
    Ok(Received::Event(event))
}

fn disconnect(py: Python<'_>) -> PyResult<Received<'_>> {
    let event = PyDict::new(py);
    event.set_item(intern!(py, "type"), intern!(py, "http.disconnect"))?;
    Ok(Received::Event(event))
}
