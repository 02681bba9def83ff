//! `AccessLog`: where the lines of the access log go, in batches at the end of a turn.

use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use peers::observe::{Observer, Template};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::io::Errno;

use crate::hub::{Hub, os_error};
use crate::reactor_class::{Reactor, micros};

/// Others may write to the same pipe: so much at once is not mixed with theirs (`PIPE_BUF`).
const AT_ONCE: usize = 4096;
/// What a descriptor does not take is kept up to this.
const MOST_KEPT: usize = 1024 * 1024;

/// One log, which several servers may share.
#[pyclass(frozen, module = "tarmac._native")]
pub struct AccessLog {
    template: Template,
    sink: Mutex<Sink>,
}

enum Sink {
    Descriptor(Descriptor),
    Callable(Py<PyAny>),
}

struct Descriptor {
    fd: OwnedFd,
    /// The most that is written at once.
    at_once: usize,
    kept: Vec<u8>,
}

#[pymethods]
impl AccessLog {
    #[new]
    #[pyo3(signature = (template, *, json=false, fd=None, sink=None),
        text_signature = "(template, *, json=False, fd=None, sink=None)")]
    fn new(
        template: &str,
        json: bool,
        fd: Option<RawFd>,
        sink: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let template = Template::parse(template, json).map_err(|error| {
            PyValueError::new_err(format!("an access log has no field {:?}", error.0))
        })?;
        let sink = match (fd, sink) {
            (Some(fd), None) => Sink::Descriptor(Descriptor::new(fd)?),
            (None, Some(sink)) => Sink::Callable(sink),
            _ => return Err(PyValueError::new_err("an access log wants either fd or sink")),
        };
        Ok(Self { template, sink: Mutex::new(sink) })
    }

    fn reopen(&self, fd: RawFd) -> PyResult<()> {
        let descriptor = Descriptor::new(fd)?;
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = Sink::Descriptor(descriptor);
        Ok(())
    }
}

impl AccessLog {
    /// What watches a server for this log.
    pub fn observer(log: Option<&Self>) -> Box<Observer> {
        Box::new(Observer::new(micros, log.map(|log| log.template.clone())))
    }

    /// Write lines away, or give back whom to call with them.
    fn take(&self, py: Python<'_>, lines: &mut Vec<u8>) -> Option<(Py<PyAny>, Py<PyBytes>)> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let call = match &mut *sink {
            Sink::Descriptor(descriptor) => {
                descriptor.write(lines);
                None
            }
            Sink::Callable(callable) => {
                Some((callable.clone_ref(py), PyBytes::new(py, lines).unbind()))
            }
        };
        lines.clear();
        call
    }
}

impl Descriptor {
    fn new(fd: RawFd) -> PyResult<Self> {
        let fd = crate::ffi_fd::duplicate(fd).map_err(os_error)?;
        let kind = rustix::fs::fstat(&fd).map_err(os_error)?.st_mode;
        let pipe = rustix::fs::FileType::from_raw_mode(kind) == rustix::fs::FileType::Fifo;
        Ok(Self { fd, at_once: if pipe { AT_ONCE } else { usize::MAX }, kept: Vec::new() })
    }

    fn write(&mut self, lines: &[u8]) {
        if self.kept.is_empty() {
            let left = self.write_out(lines);
            self.kept.extend_from_slice(&lines[left..]);
            return;
        }
        if self.kept.len() < MOST_KEPT {
            self.kept.extend_from_slice(lines);
        }
        let kept = std::mem::take(&mut self.kept);
        let left = self.write_out(&kept);
        self.kept.extend_from_slice(&kept[left..]);
    }

    /// Write as much as is taken now; where the rest begins.
    fn write_out(&self, lines: &[u8]) -> usize {
        let mut at = 0;
        while at < lines.len() {
            match rustix::io::write(self.fd.as_fd(), self.batch(&lines[at..])) {
                Ok(count) => at += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return at,
                // A full disk or a reader that has gone: the service goes on without its log.
                Err(_) => return lines.len(),
            }
        }
        at
    }

    /// Whole lines, as many as may go at once; a longer line goes in parts.
    fn batch<'a>(&self, lines: &'a [u8]) -> &'a [u8] {
        let Some(most) = lines.get(..self.at_once) else { return lines };
        most.iter().rposition(|&byte| byte == b'\n').map_or(most, |end| &most[..=end])
    }
}

/// At the end of a turn: every log takes its lines.
pub fn write_logs(reactor: &Bound<'_, Reactor>) -> PyResult<()> {
    let py = reactor.py();
    let mut hub = reactor.get().hub.open()?;
    if hub.logs.is_empty() {
        return Ok(());
    }
    let mut calls = Vec::new();
    let Hub { reactor: inner, logs, .. } = &mut *hub;
    inner.shared.take_lines(|number, lines| {
        if let Some(Some(log)) = logs.get(number) {
            calls.extend(log.get().take(py, lines));
        }
    });
    drop(hub);
    for (sink, lines) in calls {
        if let Err(error) = sink.call1(py, (lines,)) {
            error.write_unraisable(py, Some(sink.bind(py)));
        }
    }
    Ok(())
}
