//! What the garbage collector asks of a query.

use std::ffi::{c_int, c_void};

use pyo3::ffi;

use crate::ffi_query::Handle;
use crate::operation::Operation;
use crate::query::Owner;
use crate::query_state::{Callback, Progress, State};

type Pointer = *mut ffi::PyObject;

/// # Safety
/// The slot of the type; the collector passes its own function and argument.
pub unsafe extern "C" fn traverse(
    object: Pointer,
    visit: ffi::visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: a live query; the collector's function takes live objects. Nothing is counted here.
    let call = |seen: Pointer| unsafe { visit(seen, argument) };
    // SAFETY: as above.
    let (query, kind) = unsafe { (Handle::borrowed(object), ffi::Py_TYPE(object)) };
    let query = query.get();
    let link = match &query.owner {
        Owner::Link(link) => Some(link.as_ptr()),
        // Shared with the reactor, which does not end before it.
        Owner::Server(_) => None,
    };
    // What is borrowed just now is in use: to see less of it only makes the collector wait.
    let visited = visit_all([kind.cast()].into_iter().chain(link), &call)
        .and_then(|()| query.state.try_borrow().map_or(Ok(()), |state| visit_state(&state, &call)))
        .and_then(|()| match query.operation.try_borrow() {
            Ok(operation) => operation.iter().try_for_each(|one| visit_operation(one, &call)),
            Err(_) => Ok(()),
        });
    visited.err().unwrap_or(0)
}

/// # Safety
/// The slot of the type.
pub unsafe extern "C" fn clear(object: Pointer) -> c_int {
    // SAFETY: a live query, which the collector holds.
    unsafe { Handle::borrowed(object) }.get().clear();
    0
}

fn visit_all(
    objects: impl IntoIterator<Item = Pointer>,
    call: &impl Fn(Pointer) -> c_int,
) -> Result<(), c_int> {
    objects.into_iter().try_for_each(|object| match call(object) {
        0 => Ok(()),
        stop => Err(stop),
    })
}

fn visit_state(state: &State, call: &impl Fn(Pointer) -> c_int) -> Result<(), c_int> {
    let held = match &state.progress {
        Progress::Waiting | Progress::Sent(_) | Progress::Cancelled(None) => None,
        Progress::Done(object) | Progress::Cancelled(Some(object)) => Some(object.as_ptr()),
        Progress::Failed(error) => Some(error.as_ptr()),
    };
    let format = state.format.as_ref().map(|format| format.as_ptr());
    visit_all(held.into_iter().chain(format), call)?;
    for Callback { function, context } in state.callback.iter().chain(&state.more_callbacks) {
        visit_all([function.as_ptr()], call)?;
        visit_all(context.iter().map(|context| context.as_ptr()), call)?;
    }
    Ok(())
}

fn visit_operation(operation: &Operation, call: &impl Fn(Pointer) -> c_int) -> Result<(), c_int> {
    visit_all(operation.objects().map(|object| object.as_ptr()), call)
}
