//! Which task is current, as asyncio sees it, and which tasks it counts as begun.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// What asyncio's own C module gives to those who make tasks by another way.
pub struct Asyncio {
    task: Py<PyType>,
    /// `Task.__init__`, for an object that is there already.
    initialise: Py<PyAny>,
    running_loop: Py<PyAny>,
    register: Py<PyAny>,
    unregister: Py<PyAny>,
    forget: Py<PyAny>,
    current: Current,
}

/// How the current task is changed.
enum Current {
    /// 3.12 and newer: one call, which tells what was current.
    Swap(Py<PyAny>),
    Each {
        current: Py<PyAny>,
        enter: Py<PyAny>,
        leave: Py<PyAny>,
    },
}

impl Asyncio {
    pub fn get(py: Python<'_>) -> PyResult<&Self> {
        static MODULE: PyOnceLock<Asyncio> = PyOnceLock::new();
        MODULE.get_or_try_init(py, || Self::import(py))
    }

    fn import(py: Python<'_>) -> PyResult<Self> {
        let module = py.import("_asyncio")?;
        let named = |name: &str| module.getattr(name).map(Bound::unbind);
        let task = module.getattr("Task")?.cast_into::<PyType>()?;
        let initialise = task.getattr("__init__")?.unbind();
        let swaps = module.hasattr("_swap_current_task")?;
        Ok(Self {
            task: task.unbind(),
            initialise,
            running_loop: named("_get_running_loop")?,
            register: named(if swaps { "_register_eager_task" } else { "_register_task" })?,
            unregister: named(if swaps { "_unregister_eager_task" } else { "_unregister_task" })?,
            forget: named("_unregister_task")?,
            current: if swaps {
                Current::Swap(named("_swap_current_task")?)
            } else {
                // The module itself has no such function before 3.12.
                let current = py.import("asyncio")?.getattr("current_task")?.unbind();
                Current::Each {
                    current,
                    enter: named("_enter_task")?,
                    leave: named("_leave_task")?,
                }
            },
        })
    }

    /// `asyncio.Task`, as it is written in C.
    pub fn task<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.task.bind(py)
    }

    pub fn initialise<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.initialise.bind(py)
    }

    /// A task can take its first step where it is made, and is counted apart until it waits.
    #[inline]
    pub fn is_eager(&self) -> bool {
        matches!(self.current, Current::Swap(_))
    }

    /// The loop that runs in this thread.
    #[inline]
    pub fn running_loop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(some(self.running_loop.bind(py).call0()?))
    }

    /// Make `task` (or none) the current one of that loop; what was is returned.
    #[inline]
    pub fn swap<'py>(
        &self,
        event_loop: &Bound<'py, PyAny>,
        task: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = event_loop.py();
        match &self.current {
            Current::Swap(swap) => Ok(some(swap.bind(py).call1((event_loop, task))?)),
            Current::Each { current, enter, leave } => {
                let previous = some(current.bind(py).call1((event_loop,))?);
                if let Some(previous) = &previous {
                    leave.bind(py).call1((event_loop, previous))?;
                }
                if let Some(task) = task {
                    enter.bind(py).call1((event_loop, task))?;
                }
                Ok(previous)
            }
        }
    }

    /// `asyncio.all_tasks()` tells of the task from now on.
    #[inline]
    pub fn register(&self, task: &Bound<'_, PyAny>) -> PyResult<()> {
        self.register.bind(task.py()).call1((task,)).map(drop)
    }

    /// As if `Task.__init__` had never told of it.
    pub fn forget(&self, task: &Bound<'_, PyAny>) -> PyResult<()> {
        self.forget.bind(task.py()).call1((task,)).map(drop)
    }

    #[inline]
    pub fn unregister(&self, task: &Bound<'_, PyAny>) -> PyResult<()> {
        self.unregister.bind(task.py()).call1((task,)).map(drop)
    }
}

#[inline]
fn some(object: Bound<'_, PyAny>) -> Option<Bound<'_, PyAny>> {
    (!object.is_none()).then_some(object)
}
