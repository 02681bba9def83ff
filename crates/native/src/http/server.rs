//! `Server`: a listening socket, its routes and what Python gave to answer with.

use std::os::fd::{OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use peers::http::SocketSettings;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySet};
use reactor::{CloseReason, Key};

use crate::access_log::AccessLog;
use crate::asgi::Asgi;
use crate::asgi_start::Own;
use crate::ffi_light_task;
use crate::ffi_task;
use crate::hub::os_error;
use crate::light::Habit;
use crate::limits::Limits;
use crate::memory_class::MemoryConnection;
use crate::reactor_class::Reactor;
use crate::router::{Route, Router};
use crate::tls_class::TlsAcceptor;
use crate::unsafe_thread_bound::ThreadBound;

/// What Python gave for one server.
pub struct Hooks {
    pub routes: Vec<Route>,
    pub app: Py<PyAny>,
    /// Makes a task of a coroutine, with these keywords.
    pub start: Py<PyAny>,
    pub options: Py<PyDict>,
    /// The tasks of handlers that have not ended.
    pub running: Py<PySet>,
    pub on_error: Py<PyAny>,
    pub fallback: Option<Py<PyAny>>,
    /// A hosted application, which answers where no route matches.
    pub asgi: Option<Py<Asgi>>,
    /// The fields of an answer that are not the application's to write.
    pub own: Own,
    pub scheme: String,
    pub sockets: SocketSettings,
    /// Where handlers run.
    pub event_loop: Py<PyAny>,
    done_future: PyOnceLock<Option<Py<PyAny>>>,
    pub context: SpareContext,
    /// Asynchronous handlers take their first step without a task.
    pub light: bool,
    /// That of whatever answers without a route.
    pub habit: Habit,
}

impl Hooks {
    /// A future of the loop that is done already; `None` without a loop.
    pub fn done_future<'a, 'py>(&'a self, py: Python<'py>) -> Option<&'a Bound<'py, PyAny>> {
        let future = self.done_future.get_or_init(py, || {
            let event_loop = self.event_loop.bind(py);
            if event_loop.is_none() { None } else { ffi_task::done_future(py, event_loop).ok() }
        });
        future.as_ref().map(|future| future.bind(py))
    }
}

/// An empty context, kept for the next synchronous handler.
#[derive(Default)]
pub struct SpareContext(Mutex<Option<Py<PyAny>>>);

impl SpareContext {
    #[inline]
    pub fn take<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.0.try_lock().ok()?.take().map(|context| context.into_bound(py))
    }

    #[inline]
    pub fn give(&self, context: Bound<'_, PyAny>) {
        if let Ok(mut spare) = self.0.try_lock() {
            *spare = Some(context.unbind());
        }
    }
}

/// A listening socket on a reactor.
#[pyclass(frozen, module = "tarmac._native")]
pub struct Server {
    reactor: Py<Reactor>,
    number: u32,
    /// The listener, until accepting stops.
    listener: ThreadBound<Option<Key>>,
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (reactor, fd, router, *, app=None, start, options, running, on_error, fallback=None,
        limits=None, server_name=Some("tarmac"), date=true, scheme="http", r#loop=None,
        asgi=None, light=false, tls=None, proxy_protocol=false),
        text_signature = "(reactor, fd, router, *, app=None, start, options, running, on_error, \
fallback=None, limits=None, server_name='tarmac', date=True, scheme='http', loop=None, asgi=None, light=False, \
tls=None, proxy_protocol=False)")]
    #[expect(clippy::too_many_arguments, reason = "keyword options of one constructor")]
    fn new(
        reactor: &Bound<'_, Reactor>,
        fd: Option<RawFd>,
        router: &Bound<'_, Router>,
        app: Option<Py<PyAny>>,
        start: Py<PyAny>,
        options: Py<PyDict>,
        running: Py<PySet>,
        on_error: Py<PyAny>,
        fallback: Option<Py<PyAny>>,
        limits: Option<&Limits>,
        server_name: Option<&str>,
        date: bool,
        scheme: &str,
        r#loop: Option<Py<PyAny>>,
        asgi: Option<Py<Asgi>>,
        light: bool,
        tls: Option<&TlsAcceptor>,
        proxy_protocol: bool,
    ) -> PyResult<Self> {
        let py = reactor.py();
        if light {
            ffi_light_task::class(py)?;
        }
        let listener = fd.map(listener).transpose()?;
        let (routes, table) = router.get().freeze(py)?;
        let settings = limits.cloned().unwrap_or_default();
        let has_fallback = fallback.is_some() || asgi.is_some();
        let prelude = http1::Prelude::new(server_name, date);
        let mut server = settings.server(table, prelude, has_fallback);
        server.streams_fallback = asgi.is_some();
        server.tls = tls.map(|tls| Arc::clone(&tls.acceptor));
        server.proxy_protocol = proxy_protocol;
        server.streamed_routes = routes.iter().map(|route| route.streams).collect();
        let hooks = Hooks {
            routes,
            app: app.unwrap_or_else(|| py.None()),
            start,
            options,
            running,
            on_error,
            fallback,
            asgi,
            own: Own { date, server: server_name.is_some() },
            scheme: scheme.to_owned(),
            sockets: settings.sockets(),
            event_loop: r#loop.unwrap_or_else(|| py.None()),
            done_future: PyOnceLock::new(),
            context: SpareContext::default(),
            light,
            habit: Habit::default(),
        };
        let mut hub = reactor.get().hub.open()?;
        let number = hub.reactor.shared.add_server(server);
        let place = number as usize;
        if hub.hooks.len() <= place {
            hub.hooks.resize_with(place + 1, || None);
        }
        hub.hooks[place] = Some(Arc::new(hooks));
        let key =
            listener.map(|fd| hub.reactor.listen(fd, number)).transpose().map_err(os_error)?;
        drop(hub);
        let listener = ThreadBound::new(key);
        Ok(Self { reactor: reactor.clone().unbind(), number, listener })
    }

    #[pyo3(signature = (log=None))]
    fn observe(&self, py: Python<'_>, log: Option<Py<AccessLog>>) -> PyResult<()> {
        let mut hub = self.reactor.get().hub.open()?;
        let place = self.number as usize;
        if let Some(server) = hub.reactor.shared.server(self.number) {
            let log = log.as_ref().map(|log| log.borrow(py));
            server.observer = Some(AccessLog::observer(log.as_deref()));
        }
        if log.is_some() {
            if hub.logs.len() <= place {
                hub.logs.resize_with(place + 1, || None);
            }
            hub.logs[place] = log;
        }
        Ok(())
    }

    fn metrics(&self) -> PyResult<Option<Vec<u64>>> {
        let mut hub = self.reactor.get().hub.open()?;
        let observer = hub.reactor.shared.server(self.number).and_then(|one| one.observer.as_ref());
        Ok(observer.map(|observer| observer.metrics.numbers().to_vec()))
    }

    #[pyo3(signature = (on_news, client=None))]
    fn connect(
        &self,
        py: Python<'_>,
        on_news: Py<PyAny>,
        client: Option<(PyBackedStr, u16)>,
    ) -> PyResult<MemoryConnection> {
        MemoryConnection::open(self.reactor.bind(py), self.number, on_news, client)
    }

    fn stop_accepting(&self, py: Python<'_>) -> PyResult<()> {
        let mut hub = self.reactor.get().hub.open()?;
        if let Some(key) = self.listener.open()?.take() {
            hub.reactor.abort(key, CloseReason::Stopped);
        }
        if let Some(server) = hub.reactor.shared.server(self.number)
            && !std::mem::replace(&mut server.draining, true)
        {
            hub.stopping.push(self.number);
        }
        drop(hub);
        Reactor::request_flush(self.reactor.bind(py))
    }

    fn close_idle(&self, py: Python<'_>) -> PyResult<()> {
        let number = self.number;
        let mut hub = self.reactor.get().hub.open()?;
        hub.close_where(CloseReason::Stopped, |connection| {
            connection.server() == number && connection.is_idle()
        });
        hub.close_sockets(number, 1001, "the server stops");
        drop(hub);
        Reactor::request_flush(self.reactor.bind(py))
    }

    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.stop_accepting(py)?;
        let mut hub = self.reactor.get().hub.open()?;
        for key in hub.reactor.keys() {
            let number = self.number;
            let ours = hub.reactor.with(key, |peer, _, _| {
                peer.http().is_some_and(|connection| connection.server() == number)
            });
            if ours == Some(true) {
                hub.reactor.abort(key, CloseReason::Stopped);
            }
        }
        drop(hub);
        self.reactor.get().tell_memories(py)?;
        self.reactor.get().let_go()
    }

    #[getter]
    fn connections(&self) -> PyResult<usize> {
        let mut hub = self.reactor.get().hub.open()?;
        Ok(hub.reactor.shared.server(self.number).map_or(0, |server| server.connections))
    }

    #[getter]
    fn requests_in_flight(&self) -> PyResult<usize> {
        let mut hub = self.reactor.get().hub.open()?;
        Ok(hub.reactor.shared.server(self.number).map_or(0, |server| server.running))
    }
}

/// A non-blocking descriptor of our own for the same socket; the caller keeps his.
fn listener(fd: RawFd) -> PyResult<OwnedFd> {
    let fd = crate::ffi_fd::duplicate(fd).map_err(os_error)?;
    let flags = rustix::fs::fcntl_getfl(&fd).map_err(os_error)?;
    rustix::fs::fcntl_setfl(&fd, flags | rustix::fs::OFlags::NONBLOCK).map_err(os_error)?;
    Ok(fd)
}
