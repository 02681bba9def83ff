//! One step of a turn: call a handler, or wake whoever waits for a reply.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::call;
use crate::hub::Step;
use crate::light_current;
use crate::reactor_class::Reactor;
use crate::{send, waits, websocket_news};

/// Act on one step. Errors that end the process travel on; all others are dealt with here.
#[inline]
pub fn step(reactor: &Bound<'_, Reactor>, step: Step) -> PyResult<()> {
    let py = reactor.py();
    if !matches!(step, Step::Request { .. }) {
        light_current::leave(reactor)?;
    }
    match step {
        Step::Request { exchange, data } => call::handle(reactor, exchange, data),
        Step::Readable { exchange } => waits::readable(reactor, exchange),
        Step::Writable { exchange } => waits::writable(reactor, exchange),
        Step::Socket { exchange, news } => websocket_news::news(reactor, exchange, news),
        Step::Gone { exchange } => waits::gone(reactor, exchange),
        Step::Encode { waiter } => send::encode_admitted(py, &waiter),
        Step::Reply { waiter, reply } => waiter.replied(py, reply),
        Step::Failed { waiter, failure } => waiter.failed(py, &failure),
    }
}

/// The reactor is closed: nobody waits in vain.
pub fn after_close(py: Python<'_>, step: Step) {
    if let Step::Failed { waiter, failure } = step
        && let Err(error) = waiter.failed(py, &failure)
    {
        error.write_unraisable(py, Some(&waiter.bind(py)));
    }
}

/// `Ok(error)` for an ordinary exception, `Err` for one that must not be swallowed.
pub fn ordinary(py: Python<'_>, error: PyErr) -> PyResult<PyErr> {
    if error.is_instance_of::<PyException>(py) { Ok(error) } else { Err(error) }
}
