//! msgpack: reading token by token, writing in the shortest form.

mod read;
mod write;

pub use read::{Reader, Token};
pub use write::{array, bin, bool, ext, f32, f64, int, map, nil, str, str_bytes, uint};
