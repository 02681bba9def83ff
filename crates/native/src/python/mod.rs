//! What pyo3 has no safe, or no equally cheap, form of; and names that are looked up once.

pub mod ffi_arguments;
pub mod ffi_call;
pub mod ffi_fd;
pub mod ffi_object;
pub mod ffi_stop;
pub mod names;
pub mod ready;
pub mod text;
pub mod unsafe_gil_bound;
pub mod unsafe_held;
pub mod unsafe_renewable;
pub mod unsafe_thread_bound;
