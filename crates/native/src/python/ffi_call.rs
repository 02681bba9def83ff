//! Calls into Python that pyo3 has no safe and equally cheap form for.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// `callable(request, **values)` with the names as one interned tuple.
#[inline]
pub fn call_with_names<'py>(
    callable: &Bound<'py, PyAny>,
    request: &Bound<'py, PyAny>,
    names: &Bound<'py, PyTuple>,
    values: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    debug_assert_eq!(names.len(), values.len());
    // Handlers take a handful of parameters: no allocation for them.
    let mut few = [std::ptr::null_mut(); 8];
    let mut many;
    let arguments: &mut [*mut ffi::PyObject] = if values.len() < few.len() {
        &mut few[..=values.len()]
    } else {
        many = vec![std::ptr::null_mut(); values.len() + 1];
        &mut many
    };
    arguments[0] = request.as_ptr();
    for (place, value) in arguments[1..].iter_mut().zip(values) {
        *place = value.as_ptr();
    }
    // SAFETY: one positional argument and as many keyword values as there are names, all borrowed
    // from live references; the result is a new reference or null with an exception set.
    unsafe {
        let result = ffi::PyObject_Vectorcall(
            callable.as_ptr(),
            arguments.as_ptr(),
            1,
            if values.is_empty() { std::ptr::null_mut() } else { names.as_ptr() },
        );
        Bound::from_owned_ptr_or_err(callable.py(), result)
    }
}

/// A coroutine made by an `async def`.
#[inline]
pub fn is_coroutine(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: compares the type of a live object.
    unsafe { ffi::PyCoro_CheckExact(object.as_ptr()) != 0 }
}

/// What came of one step of a coroutine.
pub enum Sent {
    Yielded(Py<PyAny>),
    Returned(Py<PyAny>),
}

/// One step of a coroutine, without a `StopIteration` for its result.
#[inline]
pub fn send(coroutine: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Sent> {
    let py = coroutine.py();
    let mut result = std::ptr::null_mut();
    // SAFETY: both are live; `result` is a new reference unless the status says error.
    let status = unsafe { ffi::PyIter_Send(coroutine.as_ptr(), value.as_ptr(), &raw mut result) };
    if status == ffi::PySendResult::PYGEN_ERROR {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: as above.
    let result = unsafe { Bound::from_owned_ptr_or_err(py, result) }?.unbind();
    Ok(match status {
        ffi::PySendResult::PYGEN_NEXT => Sent::Yielded(result),
        _ => Sent::Returned(result),
    })
}

/// A new context with the variables of the current one.
pub fn copy_context(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyContext_CopyCurrent()) }
}

/// Run `act` inside a context that is not entered already.
#[inline]
pub fn in_context<R>(context: &Bound<'_, PyAny>, act: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    // SAFETY: `context` is a live object; what is wrong with it becomes the exception.
    if unsafe { ffi::PyContext_Enter(context.as_ptr()) } < 0 {
        return Err(PyErr::fetch(context.py()));
    }
    let result = act();
    // SAFETY: entered just above on this thread; `result` holds its exception out of the way.
    if unsafe { ffi::PyContext_Exit(context.as_ptr()) } < 0 {
        return Err(PyErr::fetch(context.py()));
    }
    result
}

/// Run `act` outside the context that was entered last. `None`: it is not that one.
pub fn out_of_context<R>(
    context: &Bound<'_, PyAny>,
    act: impl FnOnce() -> PyResult<R>,
) -> PyResult<Option<R>> {
    // SAFETY: `context` is a live object; if it is not the one that was entered last in this
    // thread, that becomes an exception, which is cleared here.
    if unsafe { ffi::PyContext_Exit(context.as_ptr()) } < 0 {
        drop(PyErr::take(context.py()));
        return Ok(None);
    }
    let result = act();
    // SAFETY: left just above; `result` holds its exception out of the way.
    if unsafe { ffi::PyContext_Enter(context.as_ptr()) } < 0 {
        return Err(PyErr::fetch(context.py()));
    }
    result.map(Some)
}

/// Run `callable(argument)` inside a context. `Ok(None)`: the context is entered already.
pub fn call_in_context<'py>(
    context: &Bound<'py, PyAny>,
    callable: &Bound<'py, PyAny>,
    argument: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: `context` is a live object; a wrong type or a context that is entered already sets
    // an exception, which is cleared here.
    if unsafe { ffi::PyContext_Enter(context.as_ptr()) } < 0 {
        drop(PyErr::take(context.py()));
        return Ok(None);
    }
    let result = callable.call1((argument,));
    // SAFETY: entered just above on this thread; leaving restores the context before.
    if unsafe { ffi::PyContext_Exit(context.as_ptr()) } < 0 {
        return Err(PyErr::fetch(context.py()));
    }
    result.map(Some)
}
