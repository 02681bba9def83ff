//! Bound methods of queries that are made by every `await`, at a tenth of the usual price.
//!
//! `asyncio.Task` gets `get_loop` and `add_done_callback` of whatever it waits for as bound
//! methods, calls each once and drops it. These know their two cases; everything else, wrong
//! arguments too, they leave to the method of the class.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::prelude::*;
use pyo3::{Borrowed, ffi};

use crate::ffi_object::{guarded, member};
use crate::ffi_query::Handle;

type Pointer = *mut ffi::PyObject;

/// A method bound to a query.
#[repr(C)]
struct Method {
    head: ffi::PyObject,
    call: ffi::vectorcallfunc,
    query: Pointer,
    /// Interned, and so never gone.
    name: Pointer,
}

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());
/// The memory of the method that went last.
static SPARE: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());
/// The names of the last call that gave a context: asyncio uses one tuple for all its calls.
static CONTEXT_ONLY: AtomicPtr<ffi::PyObject> = AtomicPtr::new(null_mut());

/// The method `name` of a query, to be run by `call`.
///
/// # Safety
/// `query` is a live query and `name` an immortal string; the thread is attached.
#[inline]
pub unsafe fn bind(query: Pointer, name: Pointer, call: ffi::vectorcallfunc) -> Pointer {
    let kind = TYPE.load(Ordering::Relaxed);
    let spare = SPARE.swap(null_mut(), Ordering::Relaxed);
    // SAFETY: memory of the type's basic size, of which every field is written before anybody sees
    // the object.
    unsafe {
        let memory =
            if spare.is_null() { ffi::PyObject_Malloc(size_of::<Method>()).cast() } else { spare };
        if memory.is_null() {
            return ffi::PyErr_NoMemory();
        }
        ffi::PyObject_Init(memory, kind);
        let method = memory.cast::<Method>();
        ffi::Py_INCREF(query);
        (&raw mut (*method).call).write(call);
        (&raw mut (*method).query).write(query);
        (&raw mut (*method).name).write(name);
        memory
    }
}

/// # Safety
/// The interpreter calls it, attached, with a method made by [`bind`].
pub unsafe extern "C" fn get_loop(
    method: Pointer,
    arguments: *const Pointer,
    count: usize,
    names: Pointer,
) -> Pointer {
    // SAFETY: the method holds its query.
    unsafe {
        if ffi::PyVectorcall_NARGS(count) != 0 || !names.is_null() {
            return usual(method, arguments, count, names);
        }
        let query = Handle::borrowed((*method.cast::<Method>()).query);
        let py = Python::assume_attached();
        query.get().event_loop(py).clone().into_ptr()
    }
}

/// # Safety
/// As for [`get_loop`].
pub unsafe extern "C" fn add_done_callback(
    method: Pointer,
    arguments: *const Pointer,
    count: usize,
    names: Pointer,
) -> Pointer {
    // SAFETY: the method holds its query; one argument, and one more for the only name.
    unsafe {
        if ffi::PyVectorcall_NARGS(count) != 1 || !names_context(names) {
            return usual(method, arguments, count, names);
        }
        let py = Python::assume_attached();
        let query = Handle::borrowed((*method.cast::<Method>()).query);
        let function = Borrowed::from_ptr(py, *arguments);
        let context = Borrowed::from_ptr(py, *arguments.add(1));
        let context = if context.is_none() { None } else { Some(&*context) };
        let added = || query.add_done_callback(&function, context);
        guarded(py, || added().map(|()| py.None().into_ptr()), null_mut())
    }
}

/// Is `context` the one keyword?
///
/// # Safety
/// `names` is null or a live tuple of strings.
#[inline]
unsafe fn names_context(names: Pointer) -> bool {
    // SAFETY: by the contract above; the tuple seen last is kept alive, so its place stays its own.
    unsafe {
        if names.is_null() || names == CONTEXT_ONLY.load(Ordering::Relaxed) {
            return !names.is_null();
        }
        let context = ffi::PyTuple_GET_SIZE(names) == 1
            && ffi::PyUnicode_CompareWithASCIIString(
                ffi::PyTuple_GET_ITEM(names, 0),
                c"context".as_ptr(),
            ) == 0;
        if context {
            ffi::Py_XDECREF(CONTEXT_ONLY.swap(ffi::Py_NewRef(names), Ordering::Relaxed));
        }
        context
    }
}

/// The same method as the interpreter would have bound it.
unsafe fn genuine(method: Pointer) -> Pointer {
    // SAFETY: the method holds its query; names never go.
    unsafe {
        let method = method.cast::<Method>();
        ffi::PyObject_GenericGetAttr((*method).query, (*method).name)
    }
}

#[cold]
unsafe fn usual(
    method: Pointer,
    arguments: *const Pointer,
    count: usize,
    names: Pointer,
) -> Pointer {
    // SAFETY: the arguments are the interpreter's own, handed on.
    unsafe {
        let genuine = genuine(method);
        if genuine.is_null() {
            return null_mut();
        }
        let count = ffi::PyVectorcall_NARGS(count).unsigned_abs();
        let result = ffi::PyObject_Vectorcall(genuine, arguments, count, names);
        ffi::Py_DECREF(genuine);
        result
    }
}

unsafe extern "C" fn getattro(method: Pointer, name: Pointer) -> Pointer {
    // SAFETY: live objects; the genuine method is dropped after use.
    unsafe {
        let genuine = genuine(method);
        if genuine.is_null() {
            return null_mut();
        }
        let found = ffi::PyObject_GetAttr(genuine, name);
        ffi::Py_DECREF(genuine);
        found
    }
}

unsafe extern "C" fn repr(method: Pointer) -> Pointer {
    // SAFETY: as in `getattro`.
    unsafe {
        let genuine = genuine(method);
        if genuine.is_null() {
            return null_mut();
        }
        let text = ffi::PyObject_Repr(genuine);
        ffi::Py_DECREF(genuine);
        text
    }
}

unsafe extern "C" fn hash(method: Pointer) -> ffi::Py_hash_t {
    // SAFETY: as in `getattro`.
    unsafe {
        let genuine = genuine(method);
        if genuine.is_null() {
            return -1;
        }
        let hash = ffi::PyObject_Hash(genuine);
        ffi::Py_DECREF(genuine);
        hash
    }
}

unsafe extern "C" fn compare(one: Pointer, other: Pointer, operator: std::ffi::c_int) -> Pointer {
    // SAFETY: live objects; `one` is a method, and so is `other` if it has the same type.
    unsafe {
        let same = ffi::Py_TYPE(one) == ffi::Py_TYPE(other);
        let one = genuine(one);
        let other = if same { genuine(other) } else { ffi::Py_NewRef(other) };
        let compared = if one.is_null() || other.is_null() {
            null_mut()
        } else {
            ffi::PyObject_RichCompare(one, other, operator)
        };
        ffi::Py_XDECREF(one);
        ffi::Py_XDECREF(other);
        compared
    }
}

unsafe extern "C" fn dealloc(method: Pointer) {
    // SAFETY: the last reference is gone; the memory is kept for the next method, or freed.
    unsafe {
        let kind = ffi::Py_TYPE(method);
        let query = (*method.cast::<Method>()).query;
        let other = SPARE.swap(method, Ordering::Relaxed);
        if !other.is_null() {
            ffi::PyObject_Free(other.cast());
        }
        ffi::Py_DECREF(query);
        ffi::Py_DECREF(kind.cast());
    }
}

/// Make the class of such methods, once.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    let offset = std::mem::offset_of!(Method, call);
    let members = [member(c"__vectorcalloffset__", offset)?, ffi::PyMemberDef::default()];
    let slots = [
        (ffi::Py_tp_members, Box::leak(Box::new(members)).as_mut_ptr().cast()),
        (ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut std::ffi::c_void),
        (ffi::Py_tp_getattro, getattro as *mut std::ffi::c_void),
        (ffi::Py_tp_repr, repr as *mut std::ffi::c_void),
        (ffi::Py_tp_hash, hash as *mut std::ffi::c_void),
        (ffi::Py_tp_richcompare, compare as *mut std::ffi::c_void),
        (ffi::Py_tp_dealloc, dealloc as *mut std::ffi::c_void),
    ];
    let flags = ffi::Py_TPFLAGS_HAVE_VECTORCALL | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let name = c"tarmac._native.QueryMethod";
    let made = crate::ffi_object::make_type(py, name, size_of::<Method>(), flags, &slots)?;
    TYPE.store(made.into_ptr().cast(), Ordering::Relaxed);
    Ok(())
}
