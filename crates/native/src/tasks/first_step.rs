//! What a coroutine has done before there was a real task, told to the task when it asks.

use pyo3::intern;
use pyo3::prelude::*;

use crate::ffi_call::Sent;
use crate::gate::Gate;
use crate::names;

/// What a task that came late is told at its next step.
pub enum Kept {
    /// The first step still runs; the task waits at the gate, or asks again in the next pass.
    Running { gate: Option<Py<Gate>>, thrown: Option<PyErr> },
    /// What came of the first step, and what is to be thrown at the place that it reached.
    Sent { outcome: PyResult<Sent>, thrown: Option<PyErr> },
    /// The handler has answered with a body that this is to write.
    Pump { pump: Py<PyAny>, thrown: Option<PyErr> },
    /// The request is answered: the task ends like this.
    Ended(PyResult<()>),
    /// Thrown into the coroutine at the next step.
    Throw(PyErr),
}

/// What follows from it.
pub enum Resumed {
    /// The task gets this, and asks again.
    Yield(Py<PyAny>),
    /// The coroutine itself did this.
    After(PyResult<Sent>),
    /// This is to run now, in the coroutine's stead.
    Pump(Py<PyAny>),
    /// The coroutine is resumed with this exception.
    Throw(PyErr),
    /// It is over.
    End(PyResult<()>),
}

impl Kept {
    /// The first step is over.
    pub fn settle(&mut self, mut settled: Self) {
        if let Self::Running { thrown, .. } = self
            && let Self::Sent { thrown: place, .. } | Self::Pump { thrown: place, .. } =
                &mut settled
        {
            *place = thrown.take();
        }
        *self = settled;
    }

    /// The task takes a step, maybe to throw an exception; what remains to be told comes second.
    pub fn resume(
        self,
        py: Python<'_>,
        exception: Option<PyErr>,
    ) -> PyResult<(Resumed, Option<Self>)> {
        Ok(match self {
            Self::Running { gate, thrown } => {
                let waiting = gate.map_or_else(|| py.None(), Py::into_any);
                let thrown = exception.or(thrown);
                (Resumed::Yield(waiting), Some(Self::Running { gate: None, thrown }))
            }
            Self::Sent { outcome, thrown } => match exception.or(thrown) {
                None => (Resumed::After(outcome), None),
                Some(error) => Self::thrown_at(py, outcome, error)?,
            },
            Self::Pump { pump, thrown } => {
                (Resumed::Pump(pump), exception.or(thrown).map(Self::Throw))
            }
            Self::Ended(ended) => (Resumed::End(ended.and(exception.map_or(Ok(()), Err))), None),
            // A cancellation that waited comes before what else there is.
            Self::Throw(error) => (Resumed::Throw(error), None),
        })
    }

    /// As `asyncio.Task` does it: a cancellation goes to what is waited for, if that will have it.
    fn thrown_at(
        py: Python<'_>,
        outcome: PyResult<Sent>,
        error: PyErr,
    ) -> PyResult<(Resumed, Option<Self>)> {
        let waiting = match outcome {
            Ok(Sent::Yielded(waiting)) => waiting,
            outcome => return Ok((Resumed::After(outcome), Some(Self::Throw(error)))),
        };
        if !error.is_instance(py, names::cancelled_error(py)?) {
            return Ok((Resumed::Throw(error), None));
        }
        let taken = cancel(waiting.bind(py), &error)?;
        Ok((Resumed::Yield(waiting), (!taken).then_some(Self::Throw(error))))
    }
}

/// Cancel what a coroutine waits for. False: it cannot be.
fn cancel(waiting: &Bound<'_, PyAny>, error: &PyErr) -> PyResult<bool> {
    let py = waiting.py();
    let blocking = waiting.getattr_opt(intern!(py, "_asyncio_future_blocking"))?;
    if !blocking.is_some_and(|blocking| blocking.is_truthy().unwrap_or(false)) {
        return Ok(false);
    }
    let arguments = error.value(py).getattr(intern!(py, "args"))?;
    let message = arguments.get_item(0).unwrap_or_else(|_| py.None().into_bound(py));
    waiting.call_method1(intern!(py, "cancel"), (message,))?.is_truthy()
}
