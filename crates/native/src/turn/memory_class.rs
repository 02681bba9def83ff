//! `MemoryConnection`: the client's end of a connection that has no socket.

use std::net::{IpAddr, SocketAddr};

use pyo3::exceptions::{PyConnectionError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use reactor::{Address, Key, Memory};

use crate::reactor_class::Reactor;

/// Bytes that may wait for a client that does not take them.
const ROOM: usize = 256 * 1024;

/// The client's end of a connection that has no socket.
#[pyclass(frozen, module = "tarmac._native")]
pub struct MemoryConnection {
    reactor: Py<Reactor>,
    key: Key,
    memory: Memory,
}

/// Whom to tell what came for the far ends of a reactor's connections without sockets.
#[derive(Default)]
pub struct Memories(Vec<(Memory, Py<PyAny>)>);

impl Memories {
    /// Those whose far ends have something to look at; what is closed is forgotten.
    pub fn news(&mut self, py: Python<'_>) -> Vec<Py<PyAny>> {
        let mut told = Vec::new();
        self.0.retain(|(memory, on_news)| {
            let closed = memory.is_closed();
            if memory.has_news() {
                told.push(on_news.clone_ref(py));
            }
            !closed
        });
        told
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl MemoryConnection {
    /// Connect to the server with this number.
    pub fn open(
        reactor: &Bound<'_, Reactor>,
        server: u32,
        on_news: Py<PyAny>,
        client: Option<(PyBackedStr, u16)>,
    ) -> PyResult<Self> {
        let from = client.map_or(Ok(Address::Unnamed), |(host, port)| address(&host, port))?;
        let mut hub = reactor.get().hub.open()?;
        let opened = hub.reactor.open_memory(server, &from, ROOM);
        let Some((key, memory)) = opened else {
            return Err(PyConnectionError::new_err("the server takes no more connections"));
        };
        hub.memories.0.push((memory.clone(), on_news));
        Ok(Self { reactor: reactor.clone().unbind(), key, memory })
    }

    fn look(&self) -> PyResult<()> {
        self.reactor.get().hub.open()?.reactor.look_at(self.key);
        Ok(())
    }
}

fn address(host: &str, port: u16) -> PyResult<Address> {
    let ip: IpAddr = host
        .parse()
        .map_err(|_| PyValueError::new_err(format!("{host:?} is not an IP address")))?;
    Ok(Address::Tcp(SocketAddr::new(ip, port)))
}

#[pymethods]
impl MemoryConnection {
    fn send(&self, data: &[u8]) -> PyResult<()> {
        self.memory.send(data);
        self.look()
    }

    fn end(&self) -> PyResult<()> {
        self.memory.end();
        self.look()
    }

    fn reset(&self) -> PyResult<()> {
        self.memory.reset();
        self.look()
    }

    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.memory.take();
        if !bytes.is_empty() && !self.memory.is_closed() {
            // There is room again for what had to wait.
            self.look()?;
        }
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn closed(&self) -> bool {
        self.memory.is_closed()
    }
}
