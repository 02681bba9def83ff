//! ASGI applications: `scope`, `receive` and `send`.

pub mod asgi;
pub mod asgi_answer;
pub mod asgi_awaitables;
pub mod asgi_exchange;
pub mod asgi_file;
pub mod asgi_receive;
pub mod asgi_scope;
pub mod asgi_start;
