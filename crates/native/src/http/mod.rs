//! The HTTP server: from a request to its handler, and from what that returns to the answer.

pub mod access_log;
pub mod answer;
pub mod body_stream;
pub mod call;
pub mod ffi_collected;
pub mod headers;
pub mod limits;
pub mod multipart;
pub mod request;
pub mod request_body;
pub mod request_inner;
pub mod request_seen;
pub mod response;
pub mod response_cookie;
pub mod response_headers;
pub mod router;
pub mod server;
pub mod tls_class;
pub mod waits;
pub mod writer;
