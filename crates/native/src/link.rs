//! `Link`: one Tarantool connection, and how a query gets onto it.

use std::net::{IpAddr, SocketAddr};

use peers::Failure;
use peers::tarantool::{Admission, Config, State};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use reactor::{Address, CloseReason, Key};

use crate::hub::Waiter;
use crate::limits::milliseconds;
use crate::link_names::{Names, Resolved};
use crate::operation::{Kind, Operation, Target};
use crate::query::Query;
use crate::query_state::Progress;
use crate::reactor_class::Reactor;
use crate::unsafe_thread_bound::ThreadBound;

/// One Tarantool connection that reconnects by itself.
#[pyclass(frozen, module = "tarmac._native", weakref)]
pub struct Link {
    reactor: Py<Reactor>,
    key: Key,
    event_loop: Py<PyAny>,
    errors: Py<PyAny>,
    timeout: Option<u64>,
    cell: ThreadBound<Cell>,
}

/// What is used again from query to query.
#[derive(Default)]
struct Cell {
    names: Names,
    first: Vec<u8>,
    second: Vec<u8>,
}

/// The `timeout` of one query.
enum Patience {
    /// As the link says.
    Default,
    /// None at all.
    Endless,
    Milliseconds(u64),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Patience {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is(&*object.py().Ellipsis().bind(object.py())) {
            return Ok(Self::Default);
        }
        if object.is_none() {
            return Ok(Self::Endless);
        }
        Ok(Self::Milliseconds(milliseconds("timeout", object.extract()?)?))
    }
}

impl Link {
    pub fn event_loop<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.event_loop.bind(py).clone()
    }

    /// The exception for a failure.
    pub fn error(&self, py: Python<'_>, failure: &Failure) -> PyErr {
        let (kind, code, message, maybe_sent) = match failure {
            Failure::Database { code, message } => ("database", *code, message.as_str(), false),
            Failure::Auth { code, message } => ("auth", *code, message.as_str(), false),
            Failure::Network { message, maybe_sent } => ("network", 0, message.as_str(), *maybe_sent),
            Failure::Timeout { maybe_sent: true } => {
                ("timeout", 0, "no reply in time; the server may still execute the query", true)
            }
            Failure::Timeout { maybe_sent: false } => {
                ("timeout", 0, "no connection or no room in time; the query was not sent", false)
            }
            Failure::Protocol { message } => ("protocol", 0, message.as_str(), true),
            Failure::Closed => ("usage", 0, "the connection is closed", false),
        };
        let name = u16::try_from(code).map_or("ER_UNKNOWN", iproto::codes::name);
        match self.errors.bind(py).call1((kind, code, name, message, maybe_sent)) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    }

    /// Nobody waits for this reply any more.
    pub fn abandon(&self, _py: Python<'_>, sync: u64) -> PyResult<Option<Waiter>> {
        let mut hub = self.reactor.get().hub.open()?;
        Ok(hub.with_link(self.key, |link, _, _| link.abandon(sync)).flatten())
    }

    /// Start a query. Mistakes in its arguments come out where it is awaited.
    #[inline]
    fn submit(
        slf: &Bound<'_, Self>,
        operation: Operation,
        patience: &Patience,
    ) -> PyResult<Py<Query>> {
        let this = slf.get();
        let reactor = this.reactor.bind(slf.py());
        let patience = match patience {
            Patience::Default => this.timeout,
            Patience::Endless => None,
            Patience::Milliseconds(milliseconds) => Some(*milliseconds),
        };
        let now = {
            let mut hub = reactor.get().hub.open()?;
            if hub.in_turn { hub.reactor.now() } else { hub.reactor.update_time() }
        };
        let deadline = patience.map_or(u64::MAX, |patience| now + patience);
        let query = Bound::new(slf.py(), Query::new(slf, operation, deadline))?;
        Self::admit(slf, &query)?;
        Reactor::request_flush(reactor)?;
        Ok(query.unbind())
    }

    /// Ask the link whether the query may go, and send it if so.
    fn admit(slf: &Bound<'_, Self>, query: &Bound<'_, Query>) -> PyResult<()> {
        let this = slf.get();
        let kind = query.get().state.open()?.operation.as_ref().map(|operation| operation.kind);
        let waiter = query.clone().unbind();
        let mut hub = this.reactor.get().hub.open()?;
        let opener = kind == Some(Kind::Connect);
        let admission = hub.with_link(this.key, |link, io, _| {
            link.admit(waiter, query.get().deadline, opener, io)
        });
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
        let error = this.error(slf.py(), &failure);
        Query::finish(query, Progress::Failed(error), false)
    }

    /// Make the packet and queue it.
    fn encode(slf: &Bound<'_, Self>, query: &Bound<'_, Query>, operation: &Operation) -> PyResult<()> {
        let this = slf.get();
        let py = slf.py();
        let Some(resolved) = this.resolve(py, query, operation)? else { return Ok(()) };
        let (mut first, mut second) = {
            let mut cell = this.cell.open()?;
            (std::mem::take(&mut cell.first), std::mem::take(&mut cell.second))
        };
        let packed = operation.pack(py, &mut first, &mut second, resolved.format.as_ref().map(Py::get));
        let outcome = packed.and_then(|()| this.send(query, operation, resolved, &first, &second));
        let mut cell = this.cell.open()?;
        (cell.first, cell.second) = (first, second);
        drop(cell);
        match outcome? {
            Sent::Done => Ok(()),
            // The link went down while the query was packed: it waits with the others.
            Sent::Down => Self::admit(slf, query),
        }
    }

    fn send(
        &self,
        query: &Bound<'_, Query>,
        operation: &Operation,
        resolved: Resolved,
        first: &[u8],
        second: &[u8],
    ) -> PyResult<Sent> {
        let text = operation.text(query.py())?;
        let mut hub = self.reactor.get().hub.open()?;
        let mut state = query.get().state.open()?;
        let Resolved { space, index, format, checked } = resolved;
        let waiter = query.clone().unbind();
        let sent = hub.with_link(self.key, |link, io, shared| {
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
        &self,
        py: Python<'_>,
        query: &Bound<'_, Query>,
        operation: &Operation,
    ) -> PyResult<Option<Resolved>> {
        if !operation.has_space() {
            return Ok(Some(Resolved::default()));
        }
        let mut hub = self.reactor.get().hub.open()?;
        let mut cell = self.cell.open()?;
        let found = hub.with_link(self.key, |link, _, _| {
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
            return Err(self.error(py, &Failure::Database { code, message }));
        }
        drop(state);
        // Somebody may have made it since we looked: look again, once.
        let waiter = query.clone().unbind();
        hub.with_link(self.key, |link, io, _| link.reread(waiter, io));
        Ok(None)
    }
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
    let outcome = Link::encode(link, query, &operation);
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

impl Link {
    /// The admitted query is not sent.
    fn give_up(&self) -> PyResult<()> {
        let mut hub = self.reactor.get().hub.open()?;
        hub.with_link(self.key, |link, io, _| link.give_up(io));
        Ok(())
    }

    fn with_space(
        slf: &Bound<'_, Self>,
        kind: Kind,
        space: &Bound<'_, PyAny>,
        index: Option<&Bound<'_, PyAny>>,
        first: Py<PyAny>,
    ) -> PyResult<Operation> {
        let _ = slf;
        let mut operation = Operation::new(kind);
        operation.space = Target::from_python(space, "a space")?;
        if let Some(index) = index {
            operation.index = Target::from_python(index, "an index")?;
        }
        operation.first = Some(first);
        Ok(operation)
    }

    fn with_text(kind: Kind, text: Bound<'_, PyString>, arguments: Py<PyAny>) -> Operation {
        let mut operation = Operation::new(kind);
        operation.text = Some(text.unbind());
        operation.first = Some(arguments);
        operation
    }
}

#[pymethods]
impl Link {
    #[new]
    #[pyo3(signature = (reactor, addresses, *, user=None, password=None, r#loop=None, errors,
        in_flight=512, timeout=None, connect_timeout=5.0, reconnect_min=0.05, reconnect_max=2.0,
        fail_fast=false, max_packet=256 * 1024 * 1024))]
    #[expect(clippy::too_many_arguments, reason = "keyword options of one constructor")]
    fn new(
        reactor: &Bound<'_, Reactor>,
        addresses: Vec<Bound<'_, PyAny>>,
        user: Option<String>,
        password: Option<String>,
        r#loop: Option<Py<PyAny>>,
        errors: Py<PyAny>,
        in_flight: usize,
        timeout: Option<f64>,
        connect_timeout: f64,
        reconnect_min: f64,
        reconnect_max: f64,
        fail_fast: bool,
        max_packet: usize,
    ) -> PyResult<Self> {
        if addresses.is_empty() || in_flight == 0 || in_flight > 65536 {
            return Err(PyValueError::new_err("needs an address, and in_flight from 1 to 65536"));
        }
        let config = Config {
            addresses: addresses.iter().map(address).collect::<PyResult<_>>()?,
            user,
            password: password.unwrap_or_default(),
            in_flight,
            connect_timeout: milliseconds("connect_timeout", connect_timeout)?,
            reconnect_min: milliseconds("reconnect_min", reconnect_min)?,
            reconnect_max: milliseconds("reconnect_max", reconnect_max)?,
            fail_fast,
            max_packet,
        };
        let timeout = timeout.map(|seconds| milliseconds("timeout", seconds)).transpose()?;
        let seed = std::ptr::from_ref(&config).addr() as u64 ^ u64::from(std::process::id());
        let link = peers::tarantool::Link::new(config, seed);
        let mut hub = reactor.get().hub.open()?;
        let key = hub.reactor.insert(peers::Connection::Tarantool(Box::new(link)));
        drop(hub);
        Ok(Self {
            reactor: reactor.clone().unbind(),
            key,
            event_loop: r#loop.unwrap_or_else(|| reactor.py().None()),
            errors,
            timeout,
            cell: ThreadBound::new(Cell::default()),
        })
    }

    fn connect(slf: &Bound<'_, Self>) -> PyResult<Py<Query>> {
        Self::submit(slf, Operation::new(Kind::Connect), &Patience::Endless)
    }

    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        let this = slf.get();
        let mut hub = this.reactor.get().hub.open()?;
        hub.with_link(this.key, |link, io, _| link.shut(io));
        hub.reactor.abort(this.key, CloseReason::Stopped);
        drop(hub);
        Reactor::request_flush(this.reactor.bind(slf.py()))
    }

    #[pyo3(signature = (timeout=Patience::Default))]
    fn ping(slf: &Bound<'_, Self>, timeout: Patience) -> PyResult<Py<Query>> {
        Self::submit(slf, Operation::new(Kind::Ping), &timeout)
    }

    #[pyo3(signature = (space, key, index, iterator, offset, limit, timeout=Patience::Default))]
    #[expect(clippy::too_many_arguments, reason = "what a select is made of")]
    fn select(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: Py<PyAny>,
        index: &Bound<'_, PyAny>,
        iterator: &Bound<'_, PyAny>,
        offset: u32,
        limit: u32,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let mut operation = Self::with_space(slf, Kind::Select, space, Some(index), key)?;
        operation.iterator = iterator_from(iterator)?;
        operation.offset = offset;
        operation.limit = limit;
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (space, key, index, timeout=Patience::Default))]
    fn get(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: Py<PyAny>,
        index: &Bound<'_, PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let mut operation = Self::with_space(slf, Kind::Get, space, Some(index), key)?;
        operation.limit = 2;
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (space, row, timeout=Patience::Default))]
    fn insert(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        row: Py<PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let operation = Self::with_space(slf, Kind::Insert, space, None, row)?;
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (space, row, timeout=Patience::Default))]
    fn replace(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        row: Py<PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let operation = Self::with_space(slf, Kind::Replace, space, None, row)?;
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (space, key, operations, index, timeout=Patience::Default))]
    fn update(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: Py<PyAny>,
        operations: Py<PyAny>,
        index: &Bound<'_, PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let mut operation = Self::with_space(slf, Kind::Update, space, Some(index), key)?;
        operation.second = Some(operations);
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (space, row, operations, timeout=Patience::Default))]
    fn upsert(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        row: Py<PyAny>,
        operations: Py<PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let mut operation = Self::with_space(slf, Kind::Upsert, space, None, row)?;
        operation.second = Some(operations);
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (space, key, index, timeout=Patience::Default))]
    fn delete(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: Py<PyAny>,
        index: &Bound<'_, PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        let operation = Self::with_space(slf, Kind::Delete, space, Some(index), key)?;
        Self::submit(slf, operation, &timeout)
    }

    #[pyo3(signature = (name, arguments, timeout=Patience::Default))]
    fn call(
        slf: &Bound<'_, Self>,
        name: Bound<'_, PyString>,
        arguments: Py<PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        Self::submit(slf, Self::with_text(Kind::Call, name, arguments), &timeout)
    }

    #[pyo3(signature = (expression, arguments, timeout=Patience::Default))]
    fn eval(
        slf: &Bound<'_, Self>,
        expression: Bound<'_, PyString>,
        arguments: Py<PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        Self::submit(slf, Self::with_text(Kind::Eval, expression, arguments), &timeout)
    }

    #[pyo3(signature = (statement, parameters, timeout=Patience::Default))]
    fn execute(
        slf: &Bound<'_, Self>,
        statement: Bound<'_, PyString>,
        parameters: Py<PyAny>,
        timeout: Patience,
    ) -> PyResult<Py<Query>> {
        Self::submit(slf, Self::with_text(Kind::Execute, statement, parameters), &timeout)
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = {
            let mut hub = self.reactor.get().hub.open()?;
            hub.with_link(self.key, |link, _, _| link.schema().cloned()).flatten()
        };
        crate::link_names::describe(py, known.as_ref())
    }

    #[getter]
    fn state(&self) -> PyResult<&'static str> {
        let mut hub = self.reactor.get().hub.open()?;
        let state = hub.with_link(self.key, |link, _, _| link.state());
        Ok(match state {
            Some(State::Idle) => "idle",
            Some(State::Ready) => "ready",
            Some(State::Waiting) => "waiting",
            Some(State::Closed) | None => "closed",
            Some(_) => "connecting",
        })
    }

    #[getter]
    fn in_flight(&self) -> PyResult<usize> {
        let mut hub = self.reactor.get().hub.open()?;
        Ok(hub.with_link(self.key, |link, _, _| link.in_flight()).unwrap_or(0))
    }

    #[getter]
    fn waiting(&self) -> PyResult<usize> {
        let mut hub = self.reactor.get().hub.open()?;
        Ok(hub.with_link(self.key, |link, _, _| link.waiting()).unwrap_or(0))
    }

    #[getter]
    fn server_version(&self) -> PyResult<Option<String>> {
        let mut hub = self.reactor.get().hub.open()?;
        let version = |link: &mut peers::tarantool::Link<Waiter>| {
            link.server_version().map(str::to_owned)
        };
        Ok(hub.with_link(self.key, |link, _, _| version(link)).flatten())
    }
}

fn address(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    if let Ok(path) = object.extract::<std::path::PathBuf>() {
        return Ok(Address::Unix(path));
    }
    let (host, port): (String, u16) = object
        .extract()
        .map_err(|_| PyTypeError::new_err("an address is (ip, port) or the path of a socket"))?;
    let ip: IpAddr = host
        .parse()
        .map_err(|_| PyValueError::new_err(format!("{host:?} is not an IP address")))?;
    Ok(Address::Tcp(SocketAddr::new(ip, port)))
}

fn iterator_from(object: &Bound<'_, PyAny>) -> PyResult<iproto::Iterator> {
    let unknown = || {
        let text = "iterator must be EQ, REQ, ALL, LT, LE, GE, GT, BITS_ALL_SET, BITS_ANY_SET, \
                    BITS_ALL_NOT_SET, OVERLAPS or NEIGHBOR";
        PyValueError::new_err(text)
    };
    if let Ok(name) = object.cast::<PyString>() {
        return name.to_str()?.parse().map_err(|_| unknown());
    }
    iproto::Iterator::from_number(object.extract()?).ok_or_else(unknown)
}
