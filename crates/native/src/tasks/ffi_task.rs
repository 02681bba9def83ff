//! The callback by which `asyncio.Task` waits: known when it is met, so that it can be spared work.

use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// The definition of the tasks' callback, once it was met.
static WAKEUP: AtomicPtr<ffi::PyMethodDef> = AtomicPtr::new(null_mut());

/// Does the callback belong to an `asyncio.Task` that is written in C?
///
/// Such a task looks at the future only to learn that it did not fail, and asks the coroutine's
/// awaitable for the result. Any future that has not failed will do, and for a real
/// `asyncio.Future` it need not look up and call a method.
#[inline]
pub fn wakes_a_task(callback: &Bound<'_, PyAny>) -> bool {
    // SAFETY: an object of exactly that type has that layout.
    unsafe {
        if callback.get_type_ptr() != &raw mut ffi::PyCFunction_Type {
            return false;
        }
        let function = callback.as_ptr().cast::<ffi::PyCFunctionObject>();
        let definition = (*function).m_ml;
        let known = WAKEUP.load(Ordering::Relaxed);
        definition == known || (known.is_null() && meet(callback.py(), function))
    }
}

/// # Safety
/// `function` is a live function of the interpreter.
#[cold]
unsafe fn meet(py: Python<'_>, function: *mut ffi::PyCFunctionObject) -> bool {
    static TASK: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let Ok(task) = TASK.import(py, "_asyncio", "Task") else { return false };
    // SAFETY: a definition and its name live as long as its functions; `m_self` may be null.
    unsafe {
        let (definition, object) = ((*function).m_ml, (*function).m_self);
        let named = CStr::from_ptr((*definition).ml_name) == c"task_wakeup";
        if !named || object.is_null() || ffi::PyObject_TypeCheck(object, task.as_type_ptr()) == 0 {
            return false;
        }
        WAKEUP.store(definition, Ordering::Relaxed);
    }
    true
}

/// A future of that loop that is done already.
#[cold]
pub fn done_future(py: Python<'_>, event_loop: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    static FUTURE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let options = PyDict::new(py);
    options.set_item("loop", event_loop)?;
    let future = FUTURE.import(py, "_asyncio", "Future")?.call((), Some(&options))?;
    future.call_method1("set_result", (py.None(),))?;
    Ok(future.unbind())
}
