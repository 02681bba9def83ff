//! `RequestTask`: an `asyncio.Task` that is initialised only when somebody looks at it.
//!
//! Every way to see more of it than its identity goes through a slot of this type, and each slot
//! first makes it what it seems to be: an initialised object of exactly `asyncio.Task`.

use std::ffi::{c_int, c_ulong, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicIsize, AtomicPtr, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::current_task::Asyncio;
use crate::ended::Ended;
use crate::ffi_object::{guarded, make_type};
use crate::idle_loop::IdleLoop;
use crate::light::{self, Step};

type Pointer = *mut ffi::PyObject;

/// The class, once it is made.
static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());
/// Where in the object the step stands: right behind what `asyncio.Task` has.
static PLACE: AtomicIsize = AtomicIsize::new(0);
/// How objects keep their weak references, from 3.12 on, and their dictionary.
const LAYOUT: c_ulong = (1 << 3) | (1 << 4);

/// The class; fails where `asyncio.Task` cannot be extended like this.
pub fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static MADE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    MADE.get_or_try_init(py, || Ok(make(py)?.unbind())).map(|class| class.bind(py))
}

fn make(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let base = Asyncio::get(py)?.task(py);
    let task = base.as_type_ptr();
    // SAFETY: a live type; the table of slots is copied.
    unsafe {
        let size = (*task).tp_basicsize;
        let slots = [
            (ffi::Py_tp_base, task.cast()),
            (ffi::Py_tp_getattro, getattro as *mut c_void),
            (ffi::Py_tp_setattro, setattro as *mut c_void),
            (ffi::Py_tp_repr, repr as *mut c_void),
            (ffi::Py_tp_iter, iter as *mut c_void),
            (ffi::Py_am_await, iter as *mut c_void),
        ];
        let whole = size.cast_unsigned() + size_of::<*const Step<'_, '_>>();
        let flags = ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION | ((*task).tp_flags & LAYOUT);
        let class = make_type(py, c"tarmac._native.RequestTask", whole, flags, &slots)?;
        let made = class.as_type_ptr();
        if (*made).tp_dictoffset != (*task).tp_dictoffset
            || (*made).tp_weaklistoffset != (*task).tp_weaklistoffset
            || (*made).tp_flags & LAYOUT != (*task).tp_flags & LAYOUT
        {
            return Err(PyRuntimeError::new_err("asyncio.Task is not laid out as expected"));
        }
        PLACE.store(size, Ordering::Relaxed);
        CLASS.store(made, Ordering::Relaxed);
        Ok(class)
    }
}

/// A task that nobody has looked at.
pub struct LightTask(Py<PyAny>);

impl LightTask {
    pub fn new(py: Python<'_>) -> PyResult<Self> {
        let class = class(py)?.as_type_ptr();
        // SAFETY: a live type with an allocator; what it makes is zeroed, which is what an object
        // of `asyncio.Task` is before `__init__`.
        let task = unsafe {
            let made = match (*class).tp_alloc {
                Some(alloc) => alloc(class, 0),
                None => null_mut(),
            };
            Bound::from_owned_ptr_or_err(py, made)?
        };
        Self::settle(&task)?;
        Idle::get(py)?.fill(&task)?;
        // SAFETY: the object was allocated for that class, whose layout begins with that of the
        // other, and nobody but us holds it.
        unsafe { set_type(task.as_ptr(), class) };
        Ok(Self(task.unbind()))
    }

    #[inline]
    pub fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.0.bind(py)
    }

    /// Nobody has looked at it.
    #[inline]
    pub fn is_untouched(&self) -> bool {
        // SAFETY: a live object.
        unsafe { ffi::Py_TYPE(self.0.as_ptr()) == CLASS.load(Ordering::Relaxed) }
    }

    /// Who holds it: how many references there are, and the newest of the weak ones.
    #[inline]
    pub fn holders(&self) -> (isize, usize) {
        let object = self.0.as_ptr();
        // SAFETY: a live object; the head of its weak references stands where its type says.
        unsafe {
            let weak = object.byte_offset((*ffi::Py_TYPE(object)).tp_weaklistoffset);
            (ffi::Py_REFCNT(object), (*weak.cast::<Pointer>()).addr())
        }
    }

    /// Nobody has looked at it, and these alone hold it.
    #[inline]
    pub fn is_unseen_but_by(&self, holders: (isize, usize)) -> bool {
        self.is_untouched() && self.holders() == holders
    }

    /// Whoever looks at the task while the guard lives finds `step`.
    #[inline]
    pub fn stepping<'a>(&'a self, step: &'a Step<'_, '_>) -> Stepping<'a> {
        debug_assert!(self.is_untouched());
        // SAFETY: an object of our class has that place; the guard takes the pointer out again
        // before the step can go away.
        unsafe { *place(self.0.as_ptr()) = std::ptr::from_ref(step).cast() };
        Stepping { task: self, step: PhantomData }
    }

    /// Make it an object of `asyncio.Task`, for good, which is then to be initialised.
    pub fn settle(object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let task = Asyncio::get(py)?.task(py).as_type_ptr();
        let pointer = object.as_ptr();
        // SAFETY: a live object of our class, all of whose layout but our own place is that of
        // the other type.
        unsafe {
            debug_assert_eq!(ffi::Py_TYPE(pointer), CLASS.load(Ordering::Relaxed));
            *place(pointer) = null_mut();
            set_type(pointer, task);
        }
        Ok(())
    }
}

/// What is in a task before anybody looks at it. A method of the base class that is called past
/// our slots meets this, and not null pointers, which some of them do not look for.
struct Idle {
    coroutine: Py<PyAny>,
    event_loop: Py<PyAny>,
    context: Py<PyAny>,
}

impl Idle {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        static IDLE: PyOnceLock<Idle> = PyOnceLock::new();
        IDLE.get_or_try_init(py, || {
            Ok(Self {
                coroutine: Bound::new(py, Ended)?.into_any().unbind(),
                event_loop: Bound::new(py, IdleLoop)?.into_any().unbind(),
                context: py.import("contextvars")?.call_method0("Context")?.unbind(),
            })
        })
    }

    fn fill(&self, task: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = task.py();
        let asyncio = Asyncio::get(py)?;
        let options = PyDict::new(py);
        options.set_item("loop", &self.event_loop)?;
        options.set_item("context", &self.context)?;
        options.set_item("name", "idle")?;
        asyncio.initialise(py).call((task, &self.coroutine), Some(&options))?;
        asyncio.forget(task)?;
        task.setattr("_log_destroy_pending", false)
    }
}

/// Give an object another type, as an assignment to `__class__` does it.
///
/// # Safety
/// The allocation must do for the type, and its layout be that of the type.
unsafe fn set_type(object: Pointer, class: *mut ffi::PyTypeObject) {
    // SAFETY: by the contract above; an object keeps a reference to a type that is no static one.
    unsafe {
        let before = ffi::Py_TYPE(object);
        if (*class).tp_flags & ffi::Py_TPFLAGS_HEAPTYPE != 0 {
            ffi::Py_INCREF(class.cast());
        }
        (*object).ob_type = class;
        if (*before).tp_flags & ffi::Py_TPFLAGS_HEAPTYPE != 0 {
            ffi::Py_DECREF(before.cast());
        }
    }
}

/// The pointer to a step, in a task.
pub struct Stepping<'a> {
    task: &'a LightTask,
    step: PhantomData<&'a ()>,
}

impl Drop for Stepping<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the allocation is that of our class, also when the object is of another now.
        unsafe { *place(self.task.0.as_ptr()) = null_mut() };
    }
}

/// # Safety
/// `object` was allocated for our class.
#[inline]
unsafe fn place(object: Pointer) -> *mut *const c_void {
    // SAFETY: by the contract above.
    unsafe { object.byte_offset(PLACE.load(Ordering::Relaxed)).cast() }
}

/// Somebody looks at `object`: make a real task of it. False: an exception is pending.
///
/// # Safety
/// Called by the interpreter, attached, with an object of our class.
unsafe fn look(object: Pointer) -> bool {
    Python::attach(|py| {
        // SAFETY: a live object; its step lives as long as the pointer stands in it.
        let (task, step) = unsafe {
            let task = Bound::from_borrowed_ptr(py, object);
            (task, (*place(object)).cast::<Step<'_, '_>>().as_ref())
        };
        let work = || match step {
            Some(step) => light::touch(&task, step),
            None => light::touch_idle(&task),
        };
        guarded(py, || work().map(|()| true), false)
    })
}

unsafe extern "C" fn getattro(object: Pointer, name: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live object and name.
    unsafe { if look(object) { ffi::PyObject_GetAttr(object, name) } else { null_mut() } }
}

unsafe extern "C" fn setattro(object: Pointer, name: Pointer, value: Pointer) -> c_int {
    // SAFETY: the interpreter passes a live object and name, and a value or null.
    unsafe { if look(object) { ffi::PyObject_SetAttr(object, name, value) } else { -1 } }
}

unsafe extern "C" fn repr(object: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live object.
    unsafe { if look(object) { ffi::PyObject_Repr(object) } else { null_mut() } }
}

unsafe extern "C" fn iter(object: Pointer) -> Pointer {
    // SAFETY: the interpreter passes a live object.
    unsafe { if look(object) { ffi::PyObject_GetIter(object) } else { null_mut() } }
}
