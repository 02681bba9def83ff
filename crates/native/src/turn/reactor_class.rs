//! `Reactor`: one descriptor for any event loop, and the turn behind it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reactor::CloseReason;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::access_log::write_logs;
use crate::dispatch;
use crate::hub::{Hub, os_error};
use crate::light_current;
use crate::unsafe_thread_bound::ThreadBound;
use crate::websocket_news;

/// Looks at the descriptors in one turn: what became ready meanwhile is taken along.
const PASSES: usize = 3;
/// With fewer ready descriptors than this it does not pay to look again at once.
const BUSY: usize = 4;
/// Steps of one turn before other callbacks of the loop get their chance.
const STEPS: usize = 4096;

/// One epoll descriptor that carries every socket of this thread.
#[pyclass(frozen, module = "tarmac._native", weakref)]
pub struct Reactor {
    pub hub: ThreadBound<Hub>,
    fd: RawFd,
    process: u32,
}

#[pymethods]
impl Reactor {
    #[new]
    fn new() -> PyResult<Self> {
        let hub = Hub::new()?;
        let fd = hub.reactor.as_fd().as_raw_fd();
        Ok(Self { hub: ThreadBound::new(hub), fd, process: std::process::id() })
    }

    fn fileno(&self) -> RawFd {
        self.fd
    }

    #[pyo3(signature = (timeout = Some(0.0)), text_signature = "($self, timeout=0.0)")]
    fn turn(slf: &Bound<'_, Self>, timeout: Option<f64>) -> PyResult<()> {
        let this = slf.get();
        if this.process != std::process::id() {
            return Err(PyRuntimeError::new_err(
                "a reactor does not survive a fork: make a new one",
            ));
        }
        if timeout != Some(0.0) {
            this.wait(slf.py(), timeout)?;
        }
        this.run(slf, PASSES)
    }

    #[pyo3(signature = (call_soon))]
    fn set_scheduler(&self, call_soon: Option<Py<PyAny>>) -> PyResult<()> {
        self.hub.open()?.scheduler = call_soon;
        Ok(())
    }

    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        let this = slf.get();
        this.hub.open()?.scheduled = false;
        if this.hub.open()?.in_turn {
            return Ok(());
        }
        this.run(slf, 0)
    }

    fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (this, py) = (slf.get(), slf.py());
        let mut hub = this.hub.open()?;
        for key in hub.reactor.keys() {
            hub.with_link(key, |link, io, _| link.shut(io));
            hub.reactor.abort(key, CloseReason::Stopped);
        }
        let mut waiting = Vec::new();
        while let Some((_, step)) = hub.reactor.next() {
            waiting.push(step);
        }
        hub.scheduler = None;
        let hooks = std::mem::take(&mut hub.hooks);
        let sockets = std::mem::take(&mut hub.sockets);
        drop(hub);
        write_logs(slf)?;
        let logs = std::mem::take(&mut this.hub.open()?.logs);
        this.tell_memories(py)?;
        for socket in sockets.values() {
            websocket_news::abandoned(py, socket);
        }
        drop((hooks, logs));
        for step in waiting {
            dispatch::after_close(py, step);
        }
        Ok(())
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hub = self.hub.open()?;
        let (stats, shared) = (hub.reactor.stats(), &hub.reactor.shared);
        let counters = PyDict::new(py);
        for (name, count) in [
            ("polls", stats.polls),
            ("reads", stats.reads),
            ("writes", stats.writes),
            ("accepts", stats.accepts),
            ("timers", stats.timers),
            ("requests", shared.requests),
            ("queries", shared.queries),
            ("replies", shared.replies),
        ] {
            counters.set_item(name, count)?;
        }
        Ok(counters)
    }
}

/// A turn that runs; over when it is dropped, also by a panic.
struct Turn<'a>(&'a Reactor);

impl<'a> Turn<'a> {
    fn begin(reactor: &'a Reactor) -> PyResult<Self> {
        let mut hub = reactor.hub.open()?;
        if std::mem::replace(&mut hub.in_turn, true) {
            return Err(PyRuntimeError::new_err("a turn is running already"));
        }
        Ok(Self(reactor))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(mut hub) = self.0.hub.try_open() {
            hub.in_turn = false;
        }
    }
}

impl Reactor {
    /// Wait for something to do, with the GIL released.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let mut hub = self.hub.open()?;
        if hub.reactor.has_work() {
            return Ok(());
        }
        // The timer must know about deadlines set since the last turn.
        hub.reactor.end_turn();
        let epoll = hub.reactor.as_fd().try_clone_to_owned()?;
        drop(hub);
        let timeout = timeout.map(seconds).transpose()?;
        py.detach(|| wait_readable(epoll.as_fd(), timeout.as_ref())).map_err(os_error)?;
        py.check_signals()
    }

    /// Look, hand out every step, write; again while there is more.
    fn run(&self, slf: &Bound<'_, Self>, passes: usize) -> PyResult<()> {
        let turn = Turn::begin(self)?;
        let outcome = self.passes(slf, passes);
        let outcome = outcome.and(light_current::leave(slf));
        drop(turn);
        self.hub.open()?.reactor.end_turn();
        write_logs(slf)?;
        outcome?;
        self.tell_memories(slf.py())?;
        self.let_go()?;
        // A stretch that runs no Python code would never notice Ctrl-C.
        slf.py().check_signals()
    }

    /// Forget the servers that have stopped.
    pub fn let_go(&self) -> PyResult<()> {
        let mut hub = self.hub.open()?;
        if hub.stopping.is_empty() {
            return Ok(());
        }
        let gone = hub.hooks_of_stopped();
        drop(hub);
        drop(gone);
        Ok(())
    }

    /// Let clients without sockets know what came for them.
    pub fn tell_memories(&self, py: Python<'_>) -> PyResult<()> {
        let mut hub = self.hub.open()?;
        if hub.memories.is_empty() {
            return Ok(());
        }
        let told = hub.memories.news(py);
        drop(hub);
        told.iter().try_for_each(|on_news| on_news.call0(py).map(drop))
    }

    fn passes(&self, slf: &Bound<'_, Self>, passes: usize) -> PyResult<()> {
        if passes == 0 {
            return self.steps(slf);
        }
        for _ in 0..passes {
            let mut hub = self.hub.open()?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            hub.reactor.shared.set_time(now.as_secs());
            let found = hub.reactor.poll().map_err(os_error)?;
            drop(hub);
            if found == 0 {
                break;
            }
            self.steps(slf)?;
            self.hub.open()?.reactor.end_turn();
            if found < BUSY {
                break;
            }
        }
        Ok(())
    }

    fn steps(&self, slf: &Bound<'_, Self>) -> PyResult<()> {
        for _ in 0..STEPS {
            let Some((_, step)) = self.hub.open()?.reactor.next() else { break };
            dispatch::step(slf, step)?;
        }
        Ok(())
    }

    /// See to it that what can go on does so soon, if anything can.
    #[inline]
    pub fn go_on(slf: &Bound<'_, Self>) -> PyResult<()> {
        let hub = slf.get().hub.open()?;
        if hub.in_turn || !hub.reactor.has_work() {
            return Ok(());
        }
        drop(hub);
        Self::request_flush(slf)
    }

    /// See to it that what was queued leaves soon.
    #[inline]
    pub fn request_flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        let mut hub = slf.get().hub.open()?;
        if hub.in_turn || hub.scheduled {
            return Ok(());
        }
        let Some(scheduler) = &hub.scheduler else { return Ok(()) };
        let scheduler = scheduler.clone_ref(slf.py());
        hub.scheduled = true;
        drop(hub);
        scheduler.call1(slf.py(), (slf.getattr("flush")?,))?;
        Ok(())
    }
}

/// Microseconds on a steady clock, for whoever watches exchanges.
pub fn micros() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let since = START.get_or_init(Instant::now).elapsed();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn seconds(timeout: f64) -> PyResult<Timespec> {
    let timeout = std::time::Duration::try_from_secs_f64(timeout)
        .map_err(|_| PyValueError::new_err("timeout must be a number of seconds >= 0"))?;
    Timespec::try_from(timeout).map_err(|_| PyValueError::new_err("timeout is too long"))
}

fn wait_readable(fd: BorrowedFd<'_>, timeout: Option<&Timespec>) -> rustix::io::Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    match poll(&mut fds, timeout) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
