//! A turn: the reactor as Python sees it, what hangs on it, and who acts on its steps.

pub mod dispatch;
pub mod hub;
pub mod memory_class;
pub mod reactor_class;
