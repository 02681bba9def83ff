//! The Python type of a row: its memory, its slots, and from there the way into `row`.
//!
//! By hand, because pyo3 makes every class known to the garbage collector and allocates through
//! its base type: about 1,000 instructions a row, where this takes 200.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyTuple, PyType};
use pyo3::{Borrowed, ffi};

use crate::ffi_object::{generic_attribute, guarded, make_type};
use crate::row::{self, Row};

/// A row as Python sees it.
#[repr(C)]
struct Object {
    head: ffi::PyObject,
    row: Row,
}

type Pointer = *mut ffi::PyObject;

/// The class `Row`.
pub fn row_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    Ok(TYPE.get_or_try_init(py, || class(py))?.bind(py))
}

/// A row as a Python object.
#[inline]
pub fn new(py: Python<'_>, row: Row) -> PyResult<Bound<'_, PyAny>> {
    let kind = row_type(py)?.as_type_ptr();
    // SAFETY: the memory has the size of `Object`, which is the type's basic size; its head is
    // initialised before and its row before anybody else sees it.
    unsafe {
        let object = ffi::PyObject_Malloc(size_of::<Object>()).cast::<Object>();
        if object.is_null() {
            return Err(PyMemoryError::new_err(()));
        }
        debug_assert!(object.is_aligned());
        (&raw mut (*object).row).write(row);
        ffi::PyObject_Init(object.cast(), kind);
        Ok(Bound::from_owned_ptr(py, object.cast()))
    }
}

/// A list of `count` rows, each from a call of `next`.
#[inline]
pub fn list(
    py: Python<'_>,
    count: usize,
    mut next: impl FnMut() -> PyResult<Row>,
) -> PyResult<Bound<'_, PyList>> {
    // SAFETY: a fresh list of that many empty places; each is filled once, in order, with a
    // reference that the list takes over. If `next` fails the list goes away with its empty places,
    // which the interpreter allows.
    unsafe {
        let list = ffi::PyList_New(count.cast_signed());
        let list = Bound::from_owned_ptr_or_err(py, list)?.cast_into_unchecked::<PyList>();
        for place in 0..count {
            let row = new(py, next()?)?;
            ffi::PyList_SET_ITEM(list.as_ptr(), place.cast_signed(), row.into_ptr());
        }
        Ok(list)
    }
}

/// The row inside an object, if it is one.
#[inline]
pub fn borrow<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a Row>> {
    if object.get_type_ptr() != row_type(object.py())?.as_type_ptr() {
        return Ok(None);
    }
    // SAFETY: the type has no subclasses, so an object of it is an `Object`; it lives as long as
    // the reference that was borrowed, and its row is never written after it was made.
    Ok(Some(unsafe { inside(object.as_ptr()) }))
}

/// # Safety
/// `object` is a live object of the type, and stays so during `'a`.
#[inline]
unsafe fn inside<'a>(object: Pointer) -> &'a Row {
    // SAFETY: as above.
    unsafe { &(*object.cast::<Object>()).row }
}

/// # Safety
/// Called by the interpreter, attached, with an object of the type.
unsafe fn hot<'py>(
    object: Pointer,
    work: impl FnOnce(Python<'py>, &Row) -> PyResult<Bound<'py, PyAny>>,
) -> Pointer {
    // SAFETY: by the contract above.
    let (py, row) = unsafe { (Python::assume_attached(), inside(object)) };
    guarded(py, || work(py, row).map(Bound::into_ptr), null_mut())
}

/// As [`hot`], with pyo3's own account of being attached, which dropping a `Py` asks for.
///
/// # Safety
/// Called by the interpreter, attached, with an object of the type.
unsafe fn cold(
    object: Pointer,
    work: impl for<'py> FnOnce(Python<'py>, &Row) -> PyResult<Bound<'py, PyAny>>,
) -> Pointer {
    // SAFETY: by the contract above.
    let row = unsafe { inside(object) };
    Python::attach(|py| guarded(py, || work(py, row).map(Bound::into_ptr), null_mut()))
}

unsafe extern "C" fn dealloc(object: Pointer) {
    // SAFETY: the last reference is gone, so the row is dropped once and nobody looks again;
    // the memory came from `PyObject_Malloc`, and the object held a reference to its type.
    unsafe {
        let kind = ffi::Py_TYPE(object);
        std::ptr::drop_in_place(&raw mut (*object.cast::<Object>()).row);
        ffi::PyObject_Free(object.cast());
        ffi::Py_DECREF(kind.cast());
    }
}

unsafe extern "C" fn getattro(object: Pointer, name: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row and a live string.
    unsafe {
        hot(object, |py, row| {
            let name = Borrowed::from_ptr(py, name);
            let name = name.cast::<PyString>()?;
            match row.attribute(py, &name)? {
                Some(value) => Ok(value),
                None => generic_attribute(&Borrowed::from_ptr(py, object), &name)
                    .map_err(|error| row.explain(error, &name)),
            }
        })
    }
}

unsafe extern "C" fn subscript(object: Pointer, key: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row and a live key.
    unsafe { hot(object, |py, row| row.item(&Borrowed::from_ptr(py, key))) }
}

unsafe extern "C" fn length(object: Pointer) -> ffi::Py_ssize_t {
    // SAFETY: the interpreter passes a live row.
    unsafe { inside(object) }.len().cast_signed()
}

unsafe extern "C" fn iter(object: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row.
    unsafe { hot(object, |py, row| Ok(row.tuple(py)?.try_iter()?.into_any())) }
}

unsafe extern "C" fn repr(object: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row.
    unsafe { cold(object, |py, row| Ok(PyString::new(py, &row.repr(py)?).into_any())) }
}

unsafe extern "C" fn hash(object: Pointer) -> ffi::Py_hash_t {
    // SAFETY: the interpreter passes a live row.
    let row = unsafe { inside(object) };
    Python::attach(|py| guarded(py, || row.tuple(py)?.hash(), -1))
}

unsafe extern "C" fn compare(object: Pointer, other: Pointer, operator: c_int) -> Pointer {
    // SAFETY: the interpreter passes a live row and another live object.
    unsafe {
        cold(object, |py, row| {
            let operator = CompareOp::from_raw(operator)
                .ok_or_else(|| PyTypeError::new_err("an unknown comparison"))?;
            row.compare(&Borrowed::from_ptr(py, other), operator)
        })
    }
}

unsafe extern "C" fn get(object: Pointer, args: *mut Pointer, count: isize) -> Pointer {
    // SAFETY: the interpreter passes a live row and `count` live arguments.
    unsafe {
        let args = std::slice::from_raw_parts(args, count.unsigned_abs());
        cold(object, |py, row| match *args {
            [key] => row.get(&Borrowed::from_ptr(py, key), None),
            [key, default] => {
                let default = Borrowed::from_ptr(py, default).to_owned();
                row.get(&Borrowed::from_ptr(py, key), Some(default))
            }
            _ => Err(PyTypeError::new_err("get(key, default=None, /)")),
        })
    }
}

unsafe extern "C" fn keys(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row.
    unsafe { cold(object, |py, row| Ok(row.keys(py).into_any())) }
}

unsafe extern "C" fn values(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row.
    unsafe { cold(object, |py, row| Ok(row.values(py)?.into_any())) }
}

unsafe extern "C" fn items(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row.
    unsafe { cold(object, |py, row| Ok(row.items(py)?.into_any())) }
}

unsafe extern "C" fn reduce(object: Pointer, _: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live row.
    unsafe {
        cold(object, |py, row| Ok((row_type(py)?, row.parts(py)?).into_pyobject(py)?.into_any()))
    }
}

unsafe extern "C" fn construct(
    _: *mut ffi::PyTypeObject,
    args: Pointer,
    keywords: Pointer,
) -> Pointer {
    Python::attach(|py| {
        let work = || {
            // SAFETY: the interpreter passes a live tuple, and a live dict or null.
            let (args, keywords) =
                unsafe { (Borrowed::from_ptr(py, args), Borrowed::from_ptr_or_opt(py, keywords)) };
            let by_name = keywords.is_some_and(|keywords| keywords.len().unwrap_or(1) > 0);
            let args = args.cast::<PyTuple>()?;
            if by_name || !(1..=2).contains(&args.len()) {
                return Err(PyTypeError::new_err("Row(values, names=None, /)"));
            }
            let names = args.get_item(1).ok().filter(|names| !names.is_none());
            let row = row::of_values(&args.get_item(0)?, names)?;
            Ok(new(py, row)?.into_ptr())
        };
        guarded(py, work, null_mut())
    })
}

fn class(py: Python<'_>) -> PyResult<Py<PyType>> {
    let slots = [
        (ffi::Py_tp_doc, row::DOC.as_ptr() as *mut c_void),
        (ffi::Py_tp_new, construct as *mut c_void),
        (ffi::Py_tp_dealloc, dealloc as *mut c_void),
        (ffi::Py_tp_getattro, getattro as *mut c_void),
        (ffi::Py_mp_subscript, subscript as *mut c_void),
        (ffi::Py_mp_length, length as *mut c_void),
        (ffi::Py_tp_iter, iter as *mut c_void),
        (ffi::Py_tp_repr, repr as *mut c_void),
        (ffi::Py_tp_hash, hash as *mut c_void),
        (ffi::Py_tp_richcompare, compare as *mut c_void),
        (ffi::Py_tp_methods, Box::leak(Box::new(methods())).as_mut_ptr().cast()),
    ];
    let (name, size) = (c"tarmac._native.Row", size_of::<Object>());
    Ok(make_type(py, name, size, ffi::Py_TPFLAGS_SEQUENCE, &slots)?.unbind())
}

fn methods() -> [ffi::PyMethodDef; 6] {
    let plain = |name: &'static std::ffi::CStr, function, doc: &'static std::ffi::CStr| {
        let ml_meth = ffi::PyMethodDefPointer { PyCFunction: function };
        let (ml_name, ml_doc) = (name.as_ptr(), doc.as_ptr());
        ffi::PyMethodDef { ml_name, ml_meth, ml_flags: ffi::METH_NOARGS, ml_doc }
    };
    [
        ffi::PyMethodDef {
            ml_name: c"get".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFast: get },
            ml_flags: ffi::METH_FASTCALL,
            ml_doc: c"get($self, key, default=None, /)\n--\n\nThe value of the field with a name or number, or `default` if there is no such field.".as_ptr(),
        },
        plain(c"keys", keys, c"keys($self, /)\n--\n\nThe names of the fields, a tuple."),
        plain(c"values", values, c"values($self, /)\n--\n\nThe values of the named fields, a tuple."),
        plain(c"items", items, c"items($self, /)\n--\n\nThe pairs of name and value, a tuple."),
        plain(c"__reduce__", reduce, c"__reduce__($self, /)\n--\n\nWhat a pickle makes the row from."),
        ffi::PyMethodDef::zeroed(),
    ]
}
