//! Asynchronous handlers as tasks: the light way and the plain one.

pub mod current_task;
pub mod ended;
pub mod ffi_light_task;
pub mod ffi_task;
pub mod first_step;
pub mod gate;
pub mod handler_coroutine;
pub mod idle_loop;
pub mod light;
pub mod light_current;
