//! The methods that connections and spaces inherit, called by the interpreter without a detour.

use std::ptr::null_mut;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{Borrowed, ffi};

use crate::face::{ConnectionBase, SpaceBase};
use crate::ffi_arguments::Signature;
use crate::ffi_object::guarded;
use crate::ffi_query::Handle;
use crate::link::Link;
use crate::link_arguments::{iterator, on_space, with_text};
use crate::names;
use crate::operation::{Kind, Operation};
use crate::send::submit;

type Pointer = *mut ffi::PyObject;
type Argument<'a, 'py> = Option<Borrowed<'a, 'py, PyAny>>;

/// The largest limit that the protocol can say.
const ALL: u32 = u32::MAX;

/// # Safety
/// Called by the interpreter, attached, with an object of the class or of a subclass.
#[inline]
unsafe fn within<C: pyo3::PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync>(
    object: Pointer,
    work: impl for<'py> FnOnce(&Bound<'py, C>, Python<'py>) -> PyResult<Pointer>,
) -> Pointer {
    // SAFETY: by the contract above; a method's descriptor has checked the class.
    let (py, object) = unsafe {
        let py = Python::assume_attached();
        (py, Borrowed::from_ptr(py, object).cast_unchecked::<C>())
    };
    guarded(py, || work(&object, py), null_mut())
}

/// A query of that operation.
#[inline]
fn sent(link: &Bound<'_, Link>, operation: Operation, timeout: Option<f64>) -> PyResult<Pointer> {
    submit(link, operation, timeout).map(Handle::into_ptr)
}

/// The operation of whatever `link()` gives: a link that is made now, or stands in for one.
#[cold]
fn asked<'py>(
    connection: &Bound<'py, PyAny>,
    operation: &str,
    arguments: impl PyCallArgs<'py>,
) -> PyResult<Pointer> {
    let link = connection.call_method0("link")?;
    link.getattr(operation)?.call1(arguments).map(Bound::into_ptr)
}

/// A timeout in seconds.
#[inline]
fn seconds(timeout: Argument<'_, '_>) -> PyResult<Option<f64>> {
    timeout.filter(|timeout| !timeout.is_none()).map(Borrowed::extract).transpose()
}

/// What was given, or None.
fn or_none<'py>(py: Python<'py>, given: Argument<'_, 'py>) -> Bound<'py, PyAny> {
    given.map_or_else(|| py.None().into_bound(py), Borrowed::to_owned)
}

/// What was given, or a number.
fn or_number<'py>(
    py: Python<'py>,
    given: Argument<'_, 'py>,
    number: u32,
) -> PyResult<Bound<'py, PyAny>> {
    match given {
        Some(given) => Ok(given.to_owned()),
        None => Ok(number.into_pyobject(py)?.into_any()),
    }
}

fn number(given: Argument<'_, '_>, otherwise: u32) -> PyResult<u32> {
    given.map_or(Ok(otherwise), Borrowed::extract)
}

/// The reader has seen to it that a required argument is there.
fn required<'a, 'py>(given: Argument<'a, 'py>) -> PyResult<Borrowed<'a, 'py, PyAny>> {
    given.ok_or_else(|| PyTypeError::new_err("a required argument is missing"))
}

/// Does the key leave everything open?
fn is_empty(key: &Bound<'_, PyAny>) -> bool {
    key.is_none()
        || key.cast::<PyTuple>().is_ok_and(PyTupleMethods::is_empty)
        || key.cast::<PyList>().is_ok_and(PyListMethods::is_empty)
        || key.cast::<PyDict>().is_ok_and(PyDictMethods::is_empty)
}

/// Operations of an update, given one by one or as lists of operations, as one list.
///
/// # Safety
/// The pointers are of live objects.
unsafe fn operations<'py>(py: Python<'py>, given: &[Pointer]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: by the contract above.
    let given = given.iter().map(|one| unsafe { Borrowed::from_ptr(py, *one) });
    let list = PyList::new(py, given)?;
    let is_list =
        |one: &Bound<'py, PyAny>| one.is_instance_of::<PyTuple>() || one.is_instance_of::<PyList>();
    let is_plain = |one: Bound<'py, PyAny>| {
        is_list(&one) && one.get_item(0).is_ok_and(|first| !is_list(&first))
    };
    if list.iter().all(is_plain) {
        return Ok(list.into_any());
    }
    names::flatten(py)?.call1((list,))
}

pub unsafe extern "C" fn get(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<3> =
        Signature { method: "get", names: ["key", "index", "timeout"], required: 1, positional: 1 };
    // SAFETY: the interpreter passes a live space and live arguments.
    unsafe {
        within::<SpaceBase>(object, |space, py| {
            let [key, index, timeout] = TAKES.read(py, arguments, count, names)?;
            let (this, key) = (space.get(), required(key)?);
            let Some(link) = this.link(py) else {
                let given = (this.name(py), key, or_number(py, index, 0)?, or_none(py, timeout));
                return asked(this.connection(py), "get", given);
            };
            let mut operation = on_space(Kind::Get, this.name(py), index.as_deref(), &key)?;
            operation.limit = 2;
            sent(&link, operation, seconds(timeout)?)
        })
    }
}

pub unsafe extern "C" fn delete(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<3> = Signature {
        method: "delete",
        names: ["key", "index", "timeout"],
        required: 1,
        positional: 1,
    };
    // SAFETY: the interpreter passes a live space and live arguments.
    unsafe {
        within::<SpaceBase>(object, |space, py| {
            let [key, index, timeout] = TAKES.read(py, arguments, count, names)?;
            let (this, key) = (space.get(), required(key)?);
            let Some(link) = this.link(py) else {
                let given = (this.name(py), key, or_number(py, index, 0)?, or_none(py, timeout));
                return asked(this.connection(py), "delete", given);
            };
            let operation = on_space(Kind::Delete, this.name(py), index.as_deref(), &key)?;
            sent(&link, operation, seconds(timeout)?)
        })
    }
}

pub unsafe extern "C" fn select(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<6> = Signature {
        method: "select",
        names: ["key", "index", "iterator", "offset", "limit", "timeout"],
        required: 0,
        positional: 1,
    };
    // SAFETY: the interpreter passes a live space and live arguments.
    unsafe {
        within::<SpaceBase>(object, |space, py| {
            let found = TAKES.read(py, arguments, count, names)?;
            let [key, index, chosen, offset, limit, timeout] = found;
            let key = key.map_or_else(|| PyTuple::empty(py).into_any(), Borrowed::to_owned);
            let chosen = chosen.filter(|chosen| !chosen.is_none());
            let (this, empty) = (space.get(), is_empty(&key));
            let Some(link) = this.link(py) else {
                let usual = PyString::new(py, if empty { "ALL" } else { "EQ" }).into_any();
                let chosen = chosen.map_or(usual, Borrowed::to_owned);
                let (offset, limit) = (or_number(py, offset, 0)?, or_number(py, limit, ALL)?);
                let (index, timeout) = (or_number(py, index, 0)?, or_none(py, timeout));
                let given = (this.name(py), key, index, chosen, offset, limit, timeout);
                return asked(this.connection(py), "select", given);
            };
            let mut operation = on_space(Kind::Select, this.name(py), index.as_deref(), &key)?;
            operation.iterator = match chosen {
                Some(chosen) => iterator(&chosen)?,
                None if empty => iproto::Iterator::All,
                None => iproto::Iterator::Eq,
            };
            operation.offset = number(offset, 0)?;
            operation.limit = number(limit, ALL)?;
            sent(&link, operation, seconds(timeout)?)
        })
    }
}

/// `insert` and `replace`.
///
/// # Safety
/// As the interpreter calls a method of a space.
#[inline]
unsafe fn write(
    (kind, method): (Kind, &'static str),
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    let takes = Signature { method, names: ["row", "timeout"], required: 1, positional: 1 };
    // SAFETY: the interpreter passes a live space and live arguments.
    unsafe {
        within::<SpaceBase>(object, |space, py| {
            let [row, timeout] = takes.read(py, arguments, count, names)?;
            let (this, row) = (space.get(), required(row)?);
            let Some(link) = this.link(py) else {
                return asked(
                    this.connection(py),
                    method,
                    (this.name(py), row, or_none(py, timeout)),
                );
            };
            sent(&link, on_space(kind, this.name(py), None, &row)?, seconds(timeout)?)
        })
    }
}

pub unsafe extern "C" fn insert(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    // SAFETY: handed on.
    unsafe { write((Kind::Insert, "insert"), object, arguments, count, names) }
}

pub unsafe extern "C" fn replace(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    // SAFETY: handed on.
    unsafe { write((Kind::Replace, "replace"), object, arguments, count, names) }
}

pub unsafe extern "C" fn update(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<3> = Signature {
        method: "update",
        names: ["key", "index", "timeout"],
        required: 1,
        positional: 1,
    };
    // SAFETY: the interpreter passes a live space and live arguments.
    unsafe {
        within::<SpaceBase>(object, |space, py| {
            let (found, changes) = TAKES.read_with_rest(py, arguments, count, names)?;
            let [key, index, timeout] = found;
            let (this, key, changes) = (space.get(), required(key)?, operations(py, changes)?);
            let Some(link) = this.link(py) else {
                let (index, timeout) = (or_number(py, index, 0)?, or_none(py, timeout));
                return asked(
                    this.connection(py),
                    "update",
                    (this.name(py), key, changes, index, timeout),
                );
            };
            let mut operation = on_space(Kind::Update, this.name(py), index.as_deref(), &key)?;
            operation.second = Some(changes.into());
            sent(&link, operation, seconds(timeout)?)
        })
    }
}

pub unsafe extern "C" fn upsert(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<2> =
        Signature { method: "upsert", names: ["row", "timeout"], required: 1, positional: 1 };
    // SAFETY: the interpreter passes a live space and live arguments.
    unsafe {
        within::<SpaceBase>(object, |space, py| {
            let ([row, timeout], changes) = TAKES.read_with_rest(py, arguments, count, names)?;
            let (this, row, changes) = (space.get(), required(row)?, operations(py, changes)?);
            let Some(link) = this.link(py) else {
                let given = (this.name(py), row, changes, or_none(py, timeout));
                return asked(this.connection(py), "upsert", given);
            };
            let mut operation = on_space(Kind::Upsert, this.name(py), None, &row)?;
            operation.second = Some(changes.into());
            sent(&link, operation, seconds(timeout)?)
        })
    }
}

pub unsafe extern "C" fn ping(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<1> =
        Signature { method: "ping", names: ["timeout"], required: 0, positional: 0 };
    // SAFETY: the interpreter passes a live connection and live arguments.
    unsafe {
        within::<ConnectionBase>(object, |connection, py| {
            let [timeout] = TAKES.read(py, arguments, count, names)?;
            let Some(link) = connection.get().link(py) else {
                return asked(connection, "ping", (or_none(py, timeout),));
            };
            sent(&link, Operation::new(Kind::Ping), seconds(timeout)?)
        })
    }
}

/// `call` and `eval`.
///
/// # Safety
/// As the interpreter calls a method of a connection.
#[inline]
unsafe fn run(
    (kind, method, text): (Kind, &'static str, &'static str),
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    let takes = Signature { method, names: [text, "timeout"], required: 1, positional: 1 };
    // SAFETY: the interpreter passes a live connection and live arguments.
    unsafe {
        within::<ConnectionBase>(object, |connection, py| {
            let ([text, timeout], rest) = takes.read_with_rest(py, arguments, count, names)?;
            let rest = rest.iter().map(|one| Borrowed::from_ptr(py, *one));
            let (text, rest) = (required(text)?, PyTuple::new(py, rest)?.into_any());
            let Some(link) = connection.get().link(py) else {
                return asked(connection, method, (text, rest, or_none(py, timeout)));
            };
            let text = text.to_owned().cast_into::<PyString>()?;
            sent(&link, with_text(kind, text, &rest), seconds(timeout)?)
        })
    }
}

pub unsafe extern "C" fn call(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    // SAFETY: handed on.
    unsafe { run((Kind::Call, "call", "function"), object, arguments, count, names) }
}

pub unsafe extern "C" fn eval(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    // SAFETY: handed on.
    unsafe { run((Kind::Eval, "eval", "expression"), object, arguments, count, names) }
}
