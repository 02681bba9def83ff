//! How far a query has come, and who wants to know.

use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::format::Format;
use crate::operation::Operation;

/// How far a query has come.
pub enum Progress {
    /// It waits to be sent, or is being encoded.
    Waiting,
    /// It is on the wire under this number.
    Sent(u64),
    Done(Py<PyAny>),
    Failed(PyErr),
    Cancelled(Option<Py<PyAny>>),
}

/// A done callback and the context to run it in.
pub struct Callback {
    pub function: Py<PyAny>,
    pub context: Option<Py<PyAny>>,
}

/// What changes in a query's life.
pub struct State {
    pub progress: Progress,
    /// Dropped when the query is done.
    pub operation: Option<Operation>,
    pub format: Option<Py<Format>>,
    /// Almost always there is one callback: no list for it.
    pub callback: Option<Callback>,
    pub more_callbacks: Vec<Callback>,
    /// The schema was read again for this query already.
    pub reread: bool,
    /// How often it was sent.
    pub sent: u8,
}

impl State {
    pub fn new(operation: Operation) -> Self {
        Self {
            progress: Progress::Waiting,
            operation: Some(operation),
            format: None,
            callback: None,
            more_callbacks: Vec::new(),
            reread: false,
            sent: 0,
        }
    }

    #[inline]
    pub fn is_done(&self) -> bool {
        !matches!(self.progress, Progress::Waiting | Progress::Sent(_))
    }

    pub fn add_callback(&mut self, callback: Callback) {
        if self.callback.is_none() {
            self.callback = Some(callback);
        } else {
            self.more_callbacks.push(callback);
        }
    }

    /// All callbacks, in the order in which they were added; none stays.
    pub fn take_callbacks(&mut self) -> (Option<Callback>, Vec<Callback>) {
        (self.callback.take(), std::mem::take(&mut self.more_callbacks))
    }

    /// Drop every callback equal to `function`; tells how many there were.
    pub fn remove_callbacks(&mut self, function: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = function.py();
        let (first, more) = self.take_callbacks();
        let mut removed = 0;
        for callback in first.into_iter().chain(more) {
            if callback.function.bind(py).eq(function)? {
                removed += 1;
            } else {
                self.add_callback(callback);
            }
        }
        Ok(removed)
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Progress::Done(result) = &self.progress {
            visit.call(result)?;
        }
        for callback in self.callback.iter().chain(&self.more_callbacks) {
            visit.call(&callback.function)?;
            visit.call(&callback.context)?;
        }
        if let Some(operation) = &self.operation {
            visit.call(&operation.first)?;
            visit.call(&operation.second)?;
        }
        Ok(())
    }
}
