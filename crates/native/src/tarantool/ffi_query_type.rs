//! The class `Query`: its slots and methods, and from there the way into `query`.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::{PyAttributeError, PyBaseException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyType};
use pyo3::{Borrowed, ffi};

use crate::ffi_arguments::Signature;
use crate::ffi_object::{guarded, make_type, member, method};
use crate::ffi_query::{Handle, Object, dealloc};
use crate::ffi_query_method;
use crate::ffi_query_visit::{clear, traverse};
use crate::query::{cancelled, not_done};

type Pointer = *mut ffi::PyObject;

/// Interned names, made with the class and kept for ever, so that pointers tell them.
static BLOCKING: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());
static GET_LOOP: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());
static ADD_DONE_CALLBACK: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());

/// # Safety
/// Called by the interpreter, attached, with an object of the type.
#[inline]
unsafe fn hot(
    object: Pointer,
    work: impl FnOnce(Python<'_>, &Handle) -> PyResult<Pointer>,
) -> Pointer {
    // SAFETY: by the contract above.
    let (py, query) = unsafe { (Python::assume_attached(), Handle::borrowed(object)) };
    guarded(py, || work(py, &query), null_mut())
}

/// As [`hot`], with pyo3's own account of being attached.
///
/// # Safety
/// Called by the interpreter, attached, with an object of the type.
unsafe fn cold(
    object: Pointer,
    work: impl for<'py> FnOnce(Python<'py>, &Handle) -> PyResult<Bound<'py, PyAny>>,
) -> Pointer {
    // SAFETY: by the contract above.
    let query = unsafe { Handle::borrowed(object) };
    Python::attach(|py| guarded(py, || work(py, &query).map(Bound::into_ptr), null_mut()))
}

fn truth(py: Python<'_>, value: bool) -> Bound<'_, PyAny> {
    PyBool::new(py, value).to_owned().into_any()
}

unsafe extern "C" fn itself(object: Pointer) -> Pointer {
    // SAFETY: a live object.
    unsafe { ffi::Py_NewRef(object) }
}

unsafe extern "C" fn next(object: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe { hot(object, |py, query| query.next(py)) }
}

/// What `await` uses before Python 3.12: the result needs no exception to travel.
unsafe extern "C" fn send(object: Pointer, _: Pointer, result: *mut Pointer) -> ffi::PySendResult {
    // SAFETY: the interpreter passes a live query and the place of the result.
    unsafe {
        let (py, query) = (Python::assume_attached(), Handle::borrowed(object));
        let Some(outcome) = query.get().outcome(py) else {
            *result = next(object);
            return ffi::PySendResult::PYGEN_NEXT;
        };
        *result = guarded(py, || outcome.map(Bound::into_ptr), null_mut());
        if (*result).is_null() {
            ffi::PySendResult::PYGEN_ERROR
        } else {
            ffi::PySendResult::PYGEN_RETURN
        }
    }
}

unsafe extern "C" fn getattro(object: Pointer, name: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query and a live name.
    unsafe {
        if name == BLOCKING.load(Ordering::Relaxed) {
            return get_blocking(object, null_mut());
        }
        if name == GET_LOOP.load(Ordering::Relaxed) {
            return ffi_query_method::bind(object, name, ffi_query_method::get_loop);
        }
        if name == ADD_DONE_CALLBACK.load(Ordering::Relaxed) {
            return ffi_query_method::bind(object, name, ffi_query_method::add_done_callback);
        }
        ffi::PyObject_GenericGetAttr(object, name)
    }
}

unsafe extern "C" fn setattro(object: Pointer, name: Pointer, value: Pointer) -> c_int {
    // SAFETY: the interpreter passes a live query, a live name, and a live value or null.
    unsafe {
        if name == BLOCKING.load(Ordering::Relaxed) {
            return set_blocking(object, value, null_mut());
        }
        ffi::PyObject_GenericSetAttr(object, name, value)
    }
}

unsafe extern "C" fn get_blocking(object: Pointer, _: *mut c_void) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe {
        let blocking = Handle::borrowed(object).get().blocking.get();
        ffi::Py_NewRef(if blocking { ffi::Py_True() } else { ffi::Py_False() })
    }
}

unsafe extern "C" fn set_blocking(object: Pointer, value: Pointer, _: *mut c_void) -> c_int {
    // SAFETY: the interpreter passes a live query; the singletons live for ever.
    unsafe {
        let truth = value == ffi::Py_True();
        if !truth && value != ffi::Py_False() {
            let error = if value.is_null() {
                PyAttributeError::new_err("_asyncio_future_blocking cannot be deleted")
            } else {
                PyTypeError::new_err("_asyncio_future_blocking is True or False")
            };
            error.restore(Python::assume_attached());
            return -1;
        }
        Handle::borrowed(object).get().blocking.set(truth);
        0
    }
}

unsafe extern "C" fn get_cancel_message(object: Pointer, _: *mut c_void) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe {
        cold(object, |py, query| {
            Ok(query.get().cancel_message(py).unwrap_or_else(|| py.None().into_bound(py)))
        })
    }
}

unsafe extern "C" fn repr(object: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe { cold(object, |py, query| Ok(PyString::new(py, query.get().describe()).into_any())) }
}

unsafe extern "C" fn done(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe { hot(object, |py, query| Ok(truth(py, query.get().is_done()).into_ptr())) }
}

unsafe extern "C" fn is_cancelled(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe { hot(object, |py, query| Ok(truth(py, query.get().is_cancelled()).into_ptr())) }
}

unsafe extern "C" fn result(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe {
        hot(object, |py, query| {
            let outcome = query.get().outcome(py);
            outcome.unwrap_or_else(|| Err(not_done(py))).map(Bound::into_ptr)
        })
    }
}

unsafe extern "C" fn exception(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe {
        cold(object, |py, query| {
            if query.get().is_cancelled() {
                return Err(cancelled(py, None));
            }
            match query.get().outcome(py) {
                None => Err(not_done(py)),
                Some(Ok(_)) => Ok(py.None().into_bound(py)),
                Some(Err(error)) => Ok(error.into_value(py).into_bound(py).into_any()),
            }
        })
    }
}

unsafe extern "C" fn get_loop(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe { hot(object, |py, query| Ok(query.get().event_loop(py).clone().into_ptr())) }
}

unsafe extern "C" fn make_cancelled_error(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live query.
    unsafe {
        cold(object, |py, query| {
            let message = query.get().cancel_message(py);
            Ok(cancelled(py, message.as_ref()).into_value(py).into_bound(py).into_any())
        })
    }
}

unsafe extern "C" fn cancel(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<1> =
        Signature { method: "Query.cancel", names: ["msg"], required: 0, positional: 1 };
    // SAFETY: the interpreter passes a live query and live arguments.
    unsafe {
        cold(object, |py, query| {
            let [message] = TAKES.read(py, arguments, count, names)?;
            let message = message.filter(|message| !message.is_none());
            Ok(truth(py, query.cancel(py, message.map(Borrowed::to_owned))?))
        })
    }
}

unsafe extern "C" fn add_done_callback(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<2> = Signature {
        method: "Query.add_done_callback",
        names: ["callback", "context"],
        required: 1,
        positional: 1,
    };
    // SAFETY: the interpreter passes a live query and live arguments.
    unsafe {
        cold(object, |py, query| {
            let [callback, context] = TAKES.read(py, arguments, count, names)?;
            let context = context.filter(|context| !context.is_none());
            if let Some(callback) = callback {
                query.add_done_callback(&callback, context.as_deref())?;
            }
            Ok(py.None().into_bound(py))
        })
    }
}

unsafe extern "C" fn remove_done_callback(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<1> = Signature {
        method: "Query.remove_done_callback",
        names: ["callback"],
        required: 1,
        positional: 1,
    };
    // SAFETY: the interpreter passes a live query and live arguments.
    unsafe {
        cold(object, |py, query| {
            let [callback] = TAKES.read(py, arguments, count, names)?;
            let removed = callback.map_or(Ok(0), |one| query.get().remove_callbacks(&one))?;
            Ok(removed.into_pyobject(py)?.into_any())
        })
    }
}

/// As a future's iterator: what is thrown in is raised. Whoever wraps awaitables relies on it.
unsafe extern "C" fn throw(
    object: Pointer,
    arguments: *const Pointer,
    count: isize,
    names: Pointer,
) -> Pointer {
    const TAKES: Signature<3> = Signature {
        method: "Query.throw",
        names: ["kind", "value", "traceback"],
        required: 1,
        positional: 3,
    };
    // SAFETY: the interpreter passes a live query and live arguments.
    unsafe {
        cold(object, |py, _| {
            let [kind, value, _] = TAKES.read(py, arguments, count, names)?;
            let given = value.filter(|value| value.is_instance_of::<PyBaseException>());
            let thrown =
                given.or(kind).map_or_else(|| py.None().into_bound(py), Borrowed::to_owned);
            Err(PyErr::from_value(thrown))
        })
    }
}

unsafe extern "C" fn close(_: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the thread is attached; None lives for ever.
    unsafe { ffi::Py_NewRef(ffi::Py_None()) }
}

unsafe extern "C" fn class_getitem(class: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes the class.
    unsafe { ffi::Py_NewRef(class) }
}

fn methods() -> [ffi::PyMethodDef; 13] {
    let plain = |name: &'static CStr, function, doc: &'static CStr| ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: function },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: doc.as_ptr(),
    };
    let mut getitem = plain(c"__class_getitem__", class_getitem, c"For annotations: `Query[int]`.");
    getitem.ml_flags = ffi::METH_O | ffi::METH_CLASS;
    [
        plain(c"done", done, c"done($self, /)\n--\n\nIs there a result or an exception?"),
        plain(c"cancelled", is_cancelled, c"cancelled($self, /)\n--\n\nWas it cancelled?"),
        plain(c"result", result, c"result($self, /)\n--\n\nThe result, or the exception, raised."),
        plain(c"exception", exception, c"exception($self, /)\n--\n\nThe exception, or None."),
        method(
            c"cancel",
            cancel,
            c"cancel($self, /, msg=None)\n--\n\nForget the reply; False if it came already.",
        ),
        method(
            c"add_done_callback",
            add_done_callback,
            c"add_done_callback($self, /, callback, *, context=None)\n--\n\nCall it with the query when it is done.",
        ),
        method(
            c"remove_done_callback",
            remove_done_callback,
            c"remove_done_callback($self, /, callback)\n--\n\nTells how often it was there.",
        ),
        plain(c"get_loop", get_loop, c"get_loop($self, /)\n--\n\nThe loop it belongs to."),
        plain(
            c"_make_cancelled_error",
            make_cancelled_error,
            c"_make_cancelled_error($self, /)\n--\n\nFor `asyncio.gather`.",
        ),
        method(
            c"throw",
            throw,
            c"throw($self, kind, value=None, traceback=None)\n--\n\nRaise it where this is awaited.",
        ),
        plain(c"close", close, c"close($self, /)\n--\n\nWhoever awaited it gives up."),
        getitem,
        ffi::PyMethodDef::zeroed(),
    ]
}

fn attributes() -> [ffi::PyGetSetDef; 3] {
    [
        ffi::PyGetSetDef {
            name: c"_asyncio_future_blocking".as_ptr(),
            get: Some(get_blocking),
            set: Some(set_blocking),
            ..Default::default()
        },
        // Read by `asyncio.gather`.
        ffi::PyGetSetDef {
            name: c"_cancel_message".as_ptr(),
            get: Some(get_cancel_message),
            ..Default::default()
        },
        ffi::PyGetSetDef::default(),
    ]
}

/// Make the class.
#[cold]
pub fn make(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    for (place, name) in [
        (&BLOCKING, "_asyncio_future_blocking"),
        (&GET_LOOP, "get_loop"),
        (&ADD_DONE_CALLBACK, "add_done_callback"),
    ] {
        place.store(PyString::intern(py, name).into_ptr(), Ordering::Relaxed);
    }
    ffi_query_method::prepare(py)?;
    let weak_references = std::mem::offset_of!(Object, weak_references);
    let members = [member(c"__weaklistoffset__", weak_references)?, ffi::PyMemberDef::default()];
    let doc =
        c"One database operation: awaitable, and future-like for gather, shield and wait_for.";
    let slots = [
        (ffi::Py_tp_doc, doc.as_ptr() as *mut c_void),
        (ffi::Py_tp_dealloc, dealloc as *mut c_void),
        (ffi::Py_tp_traverse, traverse as *mut c_void),
        (ffi::Py_tp_clear, clear as *mut c_void),
        (ffi::Py_tp_getattro, getattro as *mut c_void),
        (ffi::Py_tp_setattro, setattro as *mut c_void),
        (ffi::Py_am_await, itself as *mut c_void),
        (ffi::Py_am_send, send as *mut c_void),
        (ffi::Py_tp_iter, itself as *mut c_void),
        (ffi::Py_tp_iternext, next as *mut c_void),
        (ffi::Py_tp_repr, repr as *mut c_void),
        (ffi::Py_tp_methods, Box::leak(Box::new(methods())).as_mut_ptr().cast()),
        (ffi::Py_tp_getset, Box::leak(Box::new(attributes())).as_mut_ptr().cast()),
        (ffi::Py_tp_members, Box::leak(Box::new(members)).as_mut_ptr().cast()),
    ];
    let flags = ffi::Py_TPFLAGS_HAVE_GC | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    make_type(py, c"tarmac._native.Query", size_of::<Object>(), flags, &slots)
}
