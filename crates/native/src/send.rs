//! How a query gets onto its link: admitted, resolved, packed, sent.

use peers::Failure;
use peers::tarantool::Admission;
use pyo3::prelude::*;

use crate::limits::milliseconds;
use crate::link::Link;
use crate::link_names::Resolved;
use crate::operation::{Kind, Operation};
use crate::query::Query;
use crate::query_state::Progress;
use crate::reactor_class::Reactor;

/// How often a query is sent with the schema version it was made for.
const MOST_CHECKED: u8 = 8;

/// Start a query. Mistakes in its arguments come out where it is awaited.
#[inline]
pub fn submit(
    link: &Bound<'_, Link>,
    operation: Operation,
    timeout: Option<f64>,
) -> PyResult<Py<Query>> {
    let this = link.get();
    let reactor = this.reactor.bind(link.py());
    let patience = match timeout {
        None => this.timeout,
        Some(f64::INFINITY) => None,
        Some(seconds) => Some(milliseconds("timeout", seconds)?),
    };
    let now = {
        let mut hub = reactor.get().hub.open()?;
        if hub.in_turn { hub.reactor.now() } else { hub.reactor.update_time() }
    };
    let deadline = patience.map_or(u64::MAX, |patience| now + patience);
    let query = Bound::new(link.py(), Query::new(link, operation, deadline))?;
    admit(link, &query)?;
    Reactor::request_flush(reactor)?;
    Ok(query.unbind())
}

/// Ask the link whether the query may go, and send it if so.
fn admit(link: &Bound<'_, Link>, query: &Bound<'_, Query>) -> PyResult<()> {
    let this = link.get();
    let kind = query.get().state.open()?.operation.as_ref().map(|operation| operation.kind);
    let waiter = query.clone().unbind();
    let mut hub = this.reactor.get().hub.open()?;
    let opener = kind == Some(Kind::Connect);
    let admission =
        hub.with_link(this.key, |link, io, _| link.admit(waiter, query.get().deadline, opener, io));
    let failure = match admission {
        Some(Admission::Now(_)) => {
            drop(hub);
            return encode_admitted(query);
        }
        Some(Admission::Parked) => return Ok(()),
        Some(Admission::Connect(address)) => {
            hub.reactor.connect(this.key, &address);
            return Ok(());
        }
        Some(Admission::Refused(_, failure)) => failure,
        None => Failure::Closed,
    };
    drop(hub);
    let error = this.error(link.py(), &failure);
    Query::finish(query, Progress::Failed(error), false)
}

/// Make the packet and queue it.
fn encode(link: &Bound<'_, Link>, query: &Bound<'_, Query>, operation: &Operation) -> PyResult<()> {
    let this = link.get();
    let py = link.py();
    let Some(resolved) = resolve(this, py, query, operation)? else { return Ok(()) };
    let (mut first, mut second) = {
        let mut cell = this.cell.open()?;
        (std::mem::take(&mut cell.first), std::mem::take(&mut cell.second))
    };
    let packed = operation.pack(py, &mut first, &mut second, &resolved);
    let outcome = packed.and_then(|()| send(this, query, operation, resolved, &first, &second));
    let mut cell = this.cell.open()?;
    (cell.first, cell.second) = (first, second);
    drop(cell);
    match outcome? {
        Sent::Done => Ok(()),
        // The link went down while the query was packed: it waits with the others.
        Sent::Down => admit(link, query),
    }
}

fn send(
    link: &Link,
    query: &Bound<'_, Query>,
    operation: &Operation,
    resolved: Resolved,
    first: &[u8],
    second: &[u8],
) -> PyResult<Sent> {
    let text = operation.text(query.py())?;
    let mut hub = link.reactor.get().hub.open()?;
    let mut state = query.get().state.open()?;
    let Resolved { space, index, format, checked, .. } = resolved;
    // A schema that changes faster than we can send: then without asking for its version.
    let checked = checked && state.sent < MOST_CHECKED;
    state.sent = state.sent.saturating_add(1);
    let waiter = query.clone().unbind();
    let sent = hub.with_link(link.key, |link, io, shared| {
        shared.queries += 1;
        link.send(waiter, query.get().deadline, checked, io, |out, header| {
            operation.write(out, header, space, index, &text, first, second);
        })
    });
    match sent {
        Some(Ok(sync)) => {
            state.progress = Progress::Sent(sync);
            state.format = format;
            Ok(Sent::Done)
        }
        Some(Err(_)) | None => Ok(Sent::Down),
    }
}

/// Numbers for names. `None`: the schema is read again first.
fn resolve(
    link: &Link,
    py: Python<'_>,
    query: &Bound<'_, Query>,
    operation: &Operation,
) -> PyResult<Option<Resolved>> {
    if !operation.has_space() {
        return Ok(Some(Resolved::default()));
    }
    let mut hub = link.reactor.get().hub.open()?;
    let mut cell = link.cell.open()?;
    let found = hub.with_link(link.key, |link, _, _| {
        let schema = link.schema();
        schema.map(|schema| cell.names.resolve(py, schema, operation))
    });
    let missing = match found.flatten() {
        Some(Ok(resolved)) => return resolved.map(Some),
        Some(Err(missing)) => missing,
        None => return Ok(Some(Resolved::default())),
    };
    let mut state = query.get().state.open()?;
    if std::mem::replace(&mut state.reread, true) {
        drop((hub, cell, state));
        let (code, message) = missing.describe();
        return Err(link.error(py, &Failure::Database { code, message }));
    }
    drop(state);
    // Somebody may have made it since we looked: look again, once.
    let waiter = query.clone().unbind();
    hub.with_link(link.key, |link, io, _| link.reread(waiter, io));
    Ok(None)
}

enum Sent {
    Done,
    Down,
}

/// A query may go out now: encode it and send it.
pub fn encode_admitted(query: &Bound<'_, Query>) -> PyResult<()> {
    let py = query.py();
    let link = query.get().link.bind(py);
    let operation = {
        let mut state = query.get().state.open()?;
        if state.is_done() { None } else { state.operation.take() }
    };
    let Some(operation) = operation else { return link.get().give_up() };
    if operation.kind == Kind::Connect {
        link.get().give_up()?;
        return Query::finish(query, Progress::Done(py.None()), true);
    }
    let outcome = encode(link, query, &operation);
    let mut state = query.get().state.open()?;
    if !state.is_done() {
        state.operation = Some(operation);
    }
    drop(state);
    if let Err(error) = outcome {
        link.get().give_up()?;
        return Query::finish(query, Progress::Failed(error), false);
    }
    Ok(())
}
