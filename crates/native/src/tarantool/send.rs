//! How a query gets onto its link: admitted, resolved, packed, sent.
//!
//! The straight line packs first, and then asks the link once: may it go, are the names' numbers
//! still true, here it is. Whatever does not fit goes step by step.

use peers::Failure;
use peers::tarantool::Admission;
use pyo3::prelude::*;
use reactor::Address;

use crate::ffi_query::Handle;
use crate::hub::Hub;
use crate::limits::milliseconds;
use crate::link::Link;
use crate::link_names::{Found, Resolved};
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
) -> PyResult<Handle> {
    let py = link.py();
    let this = link.get();
    let patience = match timeout {
        None => this.timeout,
        Some(f64::INFINITY) => None,
        Some(seconds) => Some(milliseconds("timeout", seconds)?),
    };
    let query = Handle::new(py, Query::new(link, operation))?;
    let packet = Packet::early(py, this, query.get());
    let reactor = this.reactor.bind(py);
    let mut hub = reactor.get().hub.open()?;
    let now = if hub.in_turn { hub.reactor.now() } else { hub.reactor.update_time() };
    let deadline = patience.map_or(u64::MAX, |patience| now + patience);
    query.get().deadline.set(deadline);
    let start = start(py, &mut hub, this, &query, packet.as_ref());
    let flush = !(hub.in_turn || hub.scheduled);
    drop(hub);
    if let Some(packet) = packet {
        packet.give_back(this);
    }
    go_on(py, &query, start)?;
    if flush {
        Reactor::request_flush(reactor)?;
    }
    Ok(query)
}

/// A query packed before the link was asked.
struct Packet {
    found: Option<Found>,
    first: Vec<u8>,
    second: Vec<u8>,
}

impl Packet {
    /// `None`: its names have to be looked up first, or it cannot be packed at all.
    #[inline]
    fn early(py: Python<'_>, link: &Link, query: &Query) -> Option<Self> {
        let operation = query.operation.borrow();
        let operation = operation.as_ref().filter(|one| one.kind != Kind::Connect)?;
        let (mut first, mut second, found) = {
            let mut cell = link.cell.borrow_mut();
            let found = if operation.has_space() {
                Some(
                    cell.names
                        .recent(operation)
                        .filter(|_| !operation.has_named_key(py))?
                        .share(py),
                )
            } else {
                None
            };
            (std::mem::take(&mut cell.first), std::mem::take(&mut cell.second), found)
        };
        let format = found.as_ref().and_then(|found| found.format.as_ref());
        let format = format.map(|format| format.get());
        let packed = operation.pack(py, &mut first, &mut second, format, None);
        let packet = Self { found, first, second };
        if packed.is_ok() {
            return Some(packet);
        }
        packet.give_back(link);
        None
    }

    /// The buffers serve the next query.
    #[inline]
    fn give_back(self, link: &Link) {
        let mut cell = link.cell.borrow_mut();
        (cell.first, cell.second) = (self.first, self.second);
    }
}

/// What the link said.
enum Start {
    /// It is sent, or will be told when it may go.
    UnderWay,
    /// It may go, step by step.
    Encode,
    /// The link went down: it waits with the others.
    Down,
    Connect(Address),
    Failed(Failure),
}

/// Ask the link whether the query may go, and send it if so.
#[inline]
fn start(
    py: Python<'_>,
    hub: &mut Hub,
    this: &Link,
    query: &Handle,
    packet: Option<&Packet>,
) -> Start {
    let waiter = query.share(py);
    let query = query.get();
    let (opener, deadline) = (query.kind == Kind::Connect, query.deadline.get());
    let started = hub.with_link(this.key, |link, io, shared| {
        let waiter = match link.admit(waiter, deadline, opener, io) {
            Admission::Now(waiter) => waiter,
            Admission::Parked => return Start::UnderWay,
            Admission::Connect(address) => return Start::Connect(address),
            Admission::Refused(_, failure) => return Start::Failed(failure),
        };
        let Some(packet) = packet else { return Start::Encode };
        let found = packet.found.as_ref();
        let version = link.schema().map(|schema| schema.version);
        if found.is_some_and(|found| Some(found.version) != version) {
            return Start::Encode;
        }
        let operation = query.operation.borrow();
        let Some((operation, text)) =
            operation.as_ref().and_then(|one| Some((one, one.text(py).ok()?)))
        else {
            return Start::Encode;
        };
        shared.queries += 1;
        let (space, index) = found.map_or((0, 0), |found| (found.space, found.index));
        let checked = found.is_some_and(|found| found.checked);
        let sent = link.send(waiter, deadline, checked, io, |out, header| {
            operation.write(out, header, space, index, &text, &packet.first, &packet.second);
        });
        let Ok(sync) = sent else { return Start::Down };
        let mut state = query.state.borrow_mut();
        state.sent = 1;
        state.progress = Progress::Sent(sync);
        state.format = found.and_then(|found| Some(found.format.as_ref()?.share(py)));
        Start::UnderWay
    });
    started.unwrap_or(Start::Failed(Failure::Closed))
}

/// What is left to do after the link was asked.
#[inline]
fn go_on(py: Python<'_>, query: &Handle, start: Start) -> PyResult<()> {
    let this = query.get().link();
    match start {
        Start::UnderWay => Ok(()),
        Start::Encode => encode_admitted(py, query),
        Start::Down => admit(py, query),
        Start::Connect(address) => {
            this.reactor.get().hub.open()?.reactor.connect(this.key, &address);
            Ok(())
        }
        Start::Failed(failure) => {
            let error = this.error(py, &failure);
            query.finish(py, Progress::failed(py, error), false)
        }
    }
}

/// Ask once more, for a query whose link went down while it was packed.
#[cold]
fn admit(py: Python<'_>, query: &Handle) -> PyResult<()> {
    let this = query.get().link();
    let mut hub = this.reactor.get().hub.open()?;
    let start = start(py, &mut hub, this, query, None);
    drop(hub);
    go_on(py, query, start)
}

/// Make the packet and queue it, step by step.
fn encode(py: Python<'_>, query: &Handle, operation: &Operation) -> PyResult<()> {
    let this = query.get().link();
    let Some(resolved) = resolve(py, query, operation)? else { return Ok(()) };
    let (mut first, mut second) = {
        let mut cell = this.cell.borrow_mut();
        (std::mem::take(&mut cell.first), std::mem::take(&mut cell.second))
    };
    let format = resolved.format.as_ref().map(|format| format.get());
    let packed = operation.pack(py, &mut first, &mut second, format, resolved.key.as_ref());
    let sent = packed.and_then(|()| send(py, query, operation, resolved, &first, &second));
    let mut cell = this.cell.borrow_mut();
    (cell.first, cell.second) = (first, second);
    drop(cell);
    if sent? { Ok(()) } else { admit(py, query) }
}

/// False: the link went down while the query was packed.
fn send(
    py: Python<'_>,
    query: &Handle,
    operation: &Operation,
    resolved: Resolved,
    first: &[u8],
    second: &[u8],
) -> PyResult<bool> {
    let text = operation.text(py)?;
    let link = query.get().link();
    let mut hub = link.reactor.get().hub.open()?;
    let mut state = query.get().state.borrow_mut();
    if state.is_done() {
        // It was cancelled while it was packed.
        hub.with_link(link.key, |link, io, _| link.give_up(io));
        return Ok(true);
    }
    let Resolved { space, index, format, checked, .. } = resolved;
    // A schema that changes faster than we can send: then without asking for its version.
    let checked = checked && state.sent < MOST_CHECKED;
    state.sent = state.sent.saturating_add(1);
    let (waiter, deadline) = (query.share(py), query.get().deadline.get());
    let sent = hub.with_link(link.key, |link, io, shared| {
        shared.queries += 1;
        link.send(waiter, deadline, checked, io, |out, header| {
            operation.write(out, header, space, index, &text, first, second);
        })
    });
    let Some(Ok(sync)) = sent else { return Ok(false) };
    state.progress = Progress::Sent(sync);
    state.format = format;
    Ok(true)
}

/// Numbers for names. `None`: the schema is read again first.
fn resolve(py: Python<'_>, query: &Handle, operation: &Operation) -> PyResult<Option<Resolved>> {
    if !operation.has_space() {
        return Ok(Some(Resolved::default()));
    }
    let link = query.get().link();
    let mut hub = link.reactor.get().hub.open()?;
    let mut cell = link.cell.borrow_mut();
    let found = hub.with_link(link.key, |link, _, _| {
        let schema = link.schema();
        schema.map(|schema| cell.names.resolve(py, schema, operation))
    });
    drop(cell);
    let missing = match found.flatten() {
        Some(Ok(resolved)) => return resolved.map(Some),
        Some(Err(missing)) => missing,
        None => return Ok(Some(Resolved::default())),
    };
    if std::mem::replace(&mut query.get().state.borrow_mut().reread, true) {
        drop(hub);
        let (code, message) = missing.describe();
        return Err(link.error(py, &Failure::Database { code, message }));
    }
    // Somebody may have made it since we looked: look again, once.
    let waiter = query.share(py);
    hub.with_link(link.key, |link, io, _| link.reread(waiter, io));
    Ok(None)
}

/// A query may go out now: encode it and send it.
pub fn encode_admitted(py: Python<'_>, query: &Handle) -> PyResult<()> {
    let this = query.get();
    let link = this.link();
    if this.is_done() {
        return link.give_up();
    }
    if this.kind == Kind::Connect {
        link.give_up()?;
        return query.finish(py, Progress::Done(py.None().into_bound(py).into()), true);
    }
    let outcome = match this.operation.borrow().as_ref() {
        Some(operation) => encode(py, query, operation),
        None => link.give_up(),
    };
    if this.is_done() {
        // Done while it was packed, when it could not be dropped.
        this.drop_operation();
    }
    if let Err(error) = outcome {
        link.give_up()?;
        return query.finish(py, Progress::failed(py, error), false);
    }
    Ok(())
}
