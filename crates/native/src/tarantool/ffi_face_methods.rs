//! What the methods of connections and spaces are called, and what `help` says about them.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use pyo3::{PyTypeInfo, ffi};

use crate::face::{ConnectionBase, SpaceBase};
use crate::ffi_face::{call, delete, eval, get, insert, ping, replace, select, update, upsert};
use crate::ffi_object::method;

type Entry = (&'static CStr, ffi::PyCFunctionFastWithKeywords, &'static CStr);

const OF_CONNECTIONS: [Entry; 3] = [
    (c"ping", ping, c"ping($self, /, *, timeout=None)\n--\n\nOne round trip."),
    (
        c"call",
        call,
        c"call($self, /, function, *arguments, timeout=None)
--

Call a stored function: the value if it returned one, a tuple if several, None if none.",
    ),
    (
        c"eval",
        eval,
        c"eval($self, /, expression, *arguments, timeout=None)
--

Run Lua; *arguments* arrive as ``...``. The result is shaped as that of ``call``.",
    ),
];

const OF_SPACES: [Entry; 7] = [
    (
        c"get",
        get,
        c"get($self, /, key, *, index=0, timeout=None)
--

The row with that key in a unique index, or None.",
    ),
    (
        c"select",
        select,
        c"select($self, /, key=(), *, index=0, iterator=None, offset=0, limit=4294967295, timeout=None)
--

Rows in the order of *index*.

*iterator*: EQ (the default), REQ, ALL (the default without a key), LT, LE, GE, GT, BITS_ALL_SET,
BITS_ANY_SET, BITS_ALL_NOT_SET, OVERLAPS, NEIGHBOR; in any case of letters.",
    ),
    (
        c"insert",
        insert,
        c"insert($self, /, row, *, timeout=None)
--

Add a row; ``TupleFound`` when its key is taken. The result is the row as it is stored.",
    ),
    (
        c"replace",
        replace,
        c"replace($self, /, row, *, timeout=None)
--

Add a row, or put it in the place of the one with its key.",
    ),
    (
        c"update",
        update,
        c"update($self, /, key, *operations, index=0, timeout=None)
--

Change fields: ``update(1, tnt.add(\"visits\", 1))``. The new row, or None where there is none.",
    ),
    (
        c"upsert",
        upsert,
        c"upsert($self, /, row, *operations, timeout=None)
--

Add *row*, or apply *operations* to the one that has its key.",
    ),
    (
        c"delete",
        delete,
        c"delete($self, /, key, *, index=0, timeout=None)
--

Remove a row; the row that was there, or None.",
    ),
];

/// Give the two classes their methods.
pub fn install(py: Python<'_>) -> PyResult<()> {
    add(&ConnectionBase::type_object(py), &OF_CONNECTIONS)?;
    add(&SpaceBase::type_object(py), &OF_SPACES)
}

fn add(class: &Bound<'_, PyType>, entries: &[Entry]) -> PyResult<()> {
    for &(name, function, doc) in entries {
        let definition = Box::leak(Box::new(method(name, function, doc)));
        // SAFETY: a live class and a definition that lives for ever, with the signature it says.
        let made = unsafe {
            let made = ffi::PyDescr_NewMethod(class.as_type_ptr(), definition);
            Bound::from_owned_ptr_or_err(class.py(), made)?
        };
        class.setattr(made.getattr("__name__")?.cast::<PyString>()?, &made)?;
    }
    Ok(())
}
