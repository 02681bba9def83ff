//! What a request object knows of its exchange; replaced when the object serves the next one.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use peers::{Exchange, RequestData, Routed};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use pyo3::{PyTraverseError, PyVisit};

use crate::answer;
use crate::reactor_class::Reactor;
use crate::request_seen::Seen;
use crate::server::Hooks;

/// One exchange's part of a request object.
pub struct Inner {
    /// Taken out only when the request ends, to go back to the pool.
    pub(crate) data: Option<Box<RequestData>>,
    pub(crate) reactor: Py<Reactor>,
    pub(crate) exchange: Exchange,
    pub(crate) hooks: Arc<Hooks>,
    flags: AtomicU8,
    rare: OnceLock<Box<Rare>>,
}

/// What most requests never need.
pub struct Rare {
    /// The body, after it came in pieces.
    pub collected: PyOnceLock<Py<PyBytes>>,
    /// The form, once it is read; its files are closed when the request ends.
    pub form: OnceLock<Py<PyAny>>,
    pub state: OnceLock<Py<PyAny>>,
    /// What a proxy said of the client.
    pub seen: Seen,
}

impl Rare {
    fn boxed() -> Box<Self> {
        Box::new(Self {
            collected: PyOnceLock::new(),
            form: OnceLock::new(),
            state: OnceLock::new(),
            seen: Seen::default(),
        })
    }
}

/// Somebody has answered, or begun to.
const ANSWERED: u8 = 1;
/// Its answer comes in pieces, and has not ended.
const STREAMING: u8 = 2;
/// A WebSocket was made of it.
const SOCKET: u8 = 4;
/// Somebody may be waiting for something of it.
const WAITED: u8 = 8;
/// The whole body has been handed out as the one piece that it is.
const HANDED_OUT: u8 = 16;

impl Inner {
    pub fn new(
        reactor: Py<Reactor>,
        exchange: Exchange,
        data: Box<RequestData>,
        hooks: Arc<Hooks>,
    ) -> Self {
        let (flags, rare) = (AtomicU8::new(0), OnceLock::new());
        Self { data: Some(data), reactor, exchange, hooks, flags, rare }
    }

    /// What most requests never need, made when it is.
    pub fn rare(&self) -> &Rare {
        self.rare.get_or_init(Rare::boxed)
    }

    /// Was anything of that needed?
    #[inline]
    pub fn has_rare(&self) -> bool {
        self.rare.get().is_some()
    }

    /// What a proxy said of the client, if one did.
    pub fn seen(&self) -> Option<&Seen> {
        self.rare.get().map(|rare| &rare.seen)
    }

    /// For the garbage collector: what may lead back to the request. Both can be taken apart, so
    /// the request itself need not be.
    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Some(rare) = self.rare.get() else { return Ok(()) };
        visit.call(rare.state.get())?;
        visit.call(rare.form.get())
    }

    #[inline]
    fn has(&self, flag: u8) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }

    /// Set it; tells whether it was set before.
    #[inline]
    fn mark(&self, flag: u8) -> bool {
        self.flags.fetch_or(flag, Ordering::Relaxed) & flag != 0
    }

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
        !self.mark(ANSWERED)
    }

    /// Has somebody answered, or begun to?
    pub fn is_answered(&self) -> bool {
        self.has(ANSWERED)
    }

    /// How the client reached us, as far as we know.
    pub fn inner_scheme(&self) -> &str {
        if self.data().secure { "https" } else { &self.hooks.scheme }
    }

    pub fn hooks(&self) -> &Arc<Hooks> {
        &self.hooks
    }

    /// A hosted application answers it.
    #[inline]
    pub fn is_hosted(&self) -> bool {
        self.hooks.asgi.is_some() && !matches!(self.data().routed, Routed::Found(..))
    }

    /// A WebSocket is made of it: its handler's end is the end of that.
    pub fn becomes_socket(&self) {
        self.mark(SOCKET);
    }

    /// Was a WebSocket made of it?
    #[inline]
    pub fn is_socket(&self) -> bool {
        self.has(SOCKET)
    }

    /// Its answer is begun, and will be written piece by piece.
    pub fn will_stream(&self) {
        self.mark(STREAMING);
    }

    /// The last piece of its answer has been given.
    pub fn has_streamed(&self) {
        self.flags.fetch_and(!STREAMING, Ordering::Relaxed);
    }

    /// Its answer has begun and has not ended.
    pub fn is_streaming(&self) -> bool {
        self.has(STREAMING)
    }

    /// Somebody will wait for something of it.
    pub fn will_wait(&self) {
        self.mark(WAITED);
    }

    /// Its body is still with the connection.
    pub fn comes_in_pieces(&self, py: Python<'_>) -> bool {
        self.data().in_pieces && self.collected(py).is_none()
    }

    fn collected<'a>(&'a self, py: Python<'a>) -> Option<&'a Py<PyBytes>> {
        self.rare.get()?.collected.get(py)
    }

    /// The whole body, for the first who asks for its pieces.
    pub fn whole_once<'a>(&'a self, py: Python<'a>) -> Option<&'a [u8]> {
        let body = self.whole_body(py);
        (!body.is_empty() && !self.mark(HANDED_OUT)).then_some(body)
    }

    /// The body as far as it is here: all of it, unless it comes in pieces.
    pub fn whole_body<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        self.collected(py).map_or(&self.data().body, |body| body.as_bytes(py))
    }

    pub(crate) fn query_bytes(&self) -> &[u8] {
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
        if let Some(form) = self.rare.take().and_then(|mut rare| rare.form.take()) {
            close(&form);
        }
        if self.has(WAITED)
            && let Some(mut hub) = self.reactor.get().hub.try_open()
        {
            hub.forget_waits(self.exchange);
        }
        if let Some(data) = self.data.take()
            && let Some(mut hub) = self.reactor.get().hub.try_open()
        {
            hub.reactor.shared.pool.give(data);
        }
    }
}

/// Let go of what a form has brought.
fn close(form: &Py<PyAny>) {
    Python::attach(|py| {
        let form = form.bind(py);
        if let Err(error) = form.call_method0(intern!(py, "close")) {
            error.write_unraisable(py, Some(form));
        }
    });
}
