//! How far a query has come, and who wants to know.

use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;

use crate::format::Format;
use crate::unsafe_held::Held;

/// How far a query has come.
pub enum Progress {
    /// It waits to be sent, or is being encoded.
    Waiting,
    /// It is on the wire under this number.
    Sent(u64),
    Done(Held<PyAny>),
    Failed(Held<PyBaseException>),
    Cancelled(Option<Held<PyAny>>),
}

impl Progress {
    /// How a piece of work ended.
    #[inline]
    pub fn of(py: Python<'_>, outcome: PyResult<Bound<'_, PyAny>>) -> Self {
        match outcome {
            Ok(result) => Self::Done(result.into()),
            Err(error) => Self::Failed(Held::new(error.into_value(py))),
        }
    }

    /// It came about, and there is nothing more to say.
    pub fn nothing(py: Python<'_>) -> Self {
        Self::Done(py.None().into_bound(py).into())
    }

    pub fn failed(py: Python<'_>, error: PyErr) -> Self {
        Self::Failed(Held::new(error.into_value(py)))
    }
}

/// A done callback and the context to run it in.
pub struct Callback {
    pub function: Held<PyAny>,
    pub context: Option<Held<PyAny>>,
}

/// What changes in a query's life.
pub struct State {
    pub progress: Progress,
    pub format: Option<Held<Format>>,
    /// Almost always there is one callback: no list for it.
    pub callback: Option<Callback>,
    pub more_callbacks: Vec<Callback>,
    /// The schema was read again for this query already.
    pub reread: bool,
    /// How often it was sent.
    pub sent: u8,
}

impl State {
    #[inline]
    pub fn new() -> Self {
        Self {
            progress: Progress::Waiting,
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

    #[inline]
    pub fn add_callback(&mut self, callback: Callback) {
        if self.callback.is_none() && self.more_callbacks.is_empty() {
            self.callback = Some(callback);
        } else {
            self.more_callbacks.push(callback);
        }
    }

    /// All callbacks, in the order in which they were added; none stays.
    #[inline]
    pub fn take_callbacks(&mut self) -> (Option<Callback>, Vec<Callback>) {
        (self.callback.take(), std::mem::take(&mut self.more_callbacks))
    }
}
