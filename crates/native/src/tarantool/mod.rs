//! The Tarantool connector: links, queries and what awaits them, rows and values.

pub mod face;
pub mod ffi_face;
pub mod ffi_face_methods;
pub mod ffi_query;
pub mod ffi_query_method;
pub mod ffi_query_type;
pub mod ffi_query_visit;
pub mod ffi_row;
pub mod format;
pub mod link;
pub mod link_arguments;
pub mod link_names;
pub mod moment;
pub mod operation;
pub mod pack;
pub mod query;
pub mod query_state;
pub mod result;
pub mod row;
pub mod send;
pub mod unpack;
pub mod values;
