//! `Link`: one Tarantool connection, and how a query gets onto it.

use std::cell::{OnceCell, RefCell};

use peers::Failure;
use peers::tarantool::{Config, State};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use reactor::{CloseReason, Key};

use crate::ffi_task;
use crate::hub::Waiter;
use crate::limits::milliseconds;
use crate::link_arguments;
use crate::link_names::Names;
use crate::operation::{Kind, Operation};
use crate::reactor_class::Reactor;
use crate::send;
use crate::unsafe_gil_bound::GilBound;

/// One Tarantool connection that reconnects by itself.
#[pyclass(frozen, module = "tarmac._native", weakref)]
pub struct Link {
    pub reactor: Py<Reactor>,
    pub key: Key,
    event_loop: Py<PyAny>,
    /// Made when a task first waits.
    done_future: GilBound<OnceCell<Option<Py<PyAny>>>>,
    errors: Py<PyAny>,
    pub timeout: Option<u64>,
    pub cell: GilBound<RefCell<Cell>>,
}

/// What is used again from query to query.
#[derive(Default)]
pub struct Cell {
    pub names: Names,
    pub first: Vec<u8>,
    pub second: Vec<u8>,
}

impl Link {
    #[inline]
    pub fn event_loop<'a, 'py>(&'a self, py: Python<'py>) -> &'a Bound<'py, PyAny> {
        self.event_loop.bind(py)
    }

    /// A future of this loop that is done already; `None` without a loop.
    #[inline]
    pub fn done_future<'a, 'py>(&'a self, py: Python<'py>) -> Option<&'a Bound<'py, PyAny>> {
        let future = self.done_future.get_or_init(|| {
            let event_loop = self.event_loop.bind(py);
            if event_loop.is_none() { None } else { ffi_task::done_future(py, event_loop).ok() }
        });
        future.as_ref().map(|future| future.bind(py))
    }

    /// The exception for a failure.
    pub fn error(&self, py: Python<'_>, failure: &Failure) -> PyErr {
        let (kind, code, message, maybe_sent) = match failure {
            Failure::Database { code, message } => ("database", *code, message.as_str(), false),
            Failure::Auth { code, message } => ("auth", *code, message.as_str(), false),
            Failure::Network { message, maybe_sent } => {
                ("network", 0, message.as_str(), *maybe_sent)
            }
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
    pub fn abandon(&self, sync: u64) -> PyResult<Option<Waiter>> {
        let mut hub = self.reactor.get().hub.open()?;
        Ok(hub.with_link(self.key, |link, _, _| link.abandon(sync)).flatten())
    }
}

/// The query as the interpreter takes it.
fn submit(
    link: &Bound<'_, Link>,
    operation: Operation,
    timeout: Option<f64>,
) -> PyResult<Py<PyAny>> {
    let query = send::submit(link, operation, timeout)?;
    Ok(query.bind(link.py()).to_owned().unbind())
}

impl Link {
    /// The admitted query is not sent.
    pub fn give_up(&self) -> PyResult<()> {
        let mut hub = self.reactor.get().hub.open()?;
        hub.with_link(self.key, |link, io, _| link.give_up(io));
        Ok(())
    }
}

#[pymethods]
impl Link {
    #[new]
    #[pyo3(signature = (reactor, addresses, *, user=None, password=None, r#loop=None, errors,
        in_flight=512, timeout=None, connect_timeout=5.0, reconnect_min=0.05, reconnect_max=2.0,
        fail_fast=false, max_packet=256 * 1024 * 1024))]
    #[expect(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "keyword options of one constructor"
    )]
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
            addresses: addresses.iter().map(link_arguments::address).collect::<PyResult<_>>()?,
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
            done_future: GilBound::new(OnceCell::new()),
            errors,
            timeout,
            cell: GilBound::new(RefCell::new(Cell::default())),
        })
    }

    fn connect(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        submit(slf, Operation::new(Kind::Connect), Some(f64::INFINITY))
    }

    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        let this = slf.get();
        let mut hub = this.reactor.get().hub.open()?;
        hub.with_link(this.key, |link, io, _| link.shut(io));
        hub.reactor.abort(this.key, CloseReason::Stopped);
        drop(hub);
        Reactor::request_flush(this.reactor.bind(slf.py()))
    }

    #[pyo3(signature = (timeout=None))]
    fn ping(slf: &Bound<'_, Self>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        submit(slf, Operation::new(Kind::Ping), timeout)
    }

    #[pyo3(signature = (space, key, index, iterator, offset, limit, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "what a select is made of")]
    fn select(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        index: &Bound<'_, PyAny>,
        iterator: &Bound<'_, PyAny>,
        offset: u32,
        limit: u32,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let mut operation = link_arguments::on_space(Kind::Select, space, Some(index), key)?;
        operation.iterator = link_arguments::iterator(iterator)?;
        operation.offset = offset;
        operation.limit = limit;
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (space, key, index, timeout=None))]
    fn get(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        index: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let mut operation = link_arguments::on_space(Kind::Get, space, Some(index), key)?;
        operation.limit = 2;
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (space, row, timeout=None))]
    fn insert(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        row: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let operation = link_arguments::on_space(Kind::Insert, space, None, row)?;
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (space, row, timeout=None))]
    fn replace(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        row: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let operation = link_arguments::on_space(Kind::Replace, space, None, row)?;
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (space, key, operations, index, timeout=None))]
    fn update(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        operations: Bound<'_, PyAny>,
        index: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let mut operation = link_arguments::on_space(Kind::Update, space, Some(index), key)?;
        operation.second = Some(operations.into());
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (space, row, operations, timeout=None))]
    fn upsert(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        row: &Bound<'_, PyAny>,
        operations: Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let mut operation = link_arguments::on_space(Kind::Upsert, space, None, row)?;
        operation.second = Some(operations.into());
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (space, key, index, timeout=None))]
    fn delete(
        slf: &Bound<'_, Self>,
        space: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        index: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let operation = link_arguments::on_space(Kind::Delete, space, Some(index), key)?;
        submit(slf, operation, timeout)
    }

    #[pyo3(signature = (name, arguments, timeout=None))]
    fn call(
        slf: &Bound<'_, Self>,
        name: Bound<'_, PyString>,
        arguments: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        submit(slf, link_arguments::with_text(Kind::Call, name, arguments), timeout)
    }

    #[pyo3(signature = (expression, arguments, timeout=None))]
    fn eval(
        slf: &Bound<'_, Self>,
        expression: Bound<'_, PyString>,
        arguments: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        submit(slf, link_arguments::with_text(Kind::Eval, expression, arguments), timeout)
    }

    #[pyo3(signature = (statement, parameters, timeout=None))]
    fn execute(
        slf: &Bound<'_, Self>,
        statement: Bound<'_, PyString>,
        parameters: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        submit(slf, link_arguments::with_text(Kind::Execute, statement, parameters), timeout)
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
        let version =
            |link: &mut peers::tarantool::Link<Waiter>| link.server_version().map(str::to_owned);
        Ok(hub.with_link(self.key, |link, _, _| version(link)).flatten())
    }
}
