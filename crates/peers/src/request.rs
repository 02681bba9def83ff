//! One request as it is handed to the driver, in buffers that are used again.

use std::sync::Arc;

use http1::Head;
use reactor::Address;

use crate::route::Routed;

/// Buffers kept for reuse; a bigger one is given back to the allocator.
const KEEP_BYTES: usize = 16 * 1024;

/// A request's bytes and what was found in them.
#[derive(Debug)]
pub struct RequestData {
    /// The bytes of the head; all spans of `head` point into it.
    pub bytes: Vec<u8>,
    /// The parsed head.
    pub head: Head,
    /// The whole body, decoded.
    pub body: Vec<u8>,
    /// The server that received it.
    pub server: u32,
    /// Where the path leads.
    pub routed: Routed,
    /// Its body comes in pieces, which the connection hands out.
    pub in_pieces: bool,
    /// The other end.
    pub from: Address,
    /// The client's side is encrypted, by ourselves or by a proxy.
    pub secure: bool,
    /// What TLS agreed on.
    pub session: Option<Arc<tls::Session>>,
}

impl Default for RequestData {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            head: Head::default(),
            body: Vec::new(),
            server: 0,
            routed: Routed::NotFound,
            in_pieces: false,
            from: Address::Unnamed,
            secure: false,
            session: None,
        }
    }
}

impl RequestData {
    /// The value of a header; `name` in lower case.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.head.field(&self.bytes, name)
    }
}

/// A bounded stock of request buffers.
#[derive(Debug, Default)]
pub struct Pool {
    // Boxed on purpose: a request travels through steps and handlers by pointer.
    #[expect(clippy::vec_box, reason = "the boxes themselves are what is kept")]
    stock: Vec<Box<RequestData>>,
}

impl Pool {
    const MOST: usize = 256;

    /// An empty request.
    #[inline]
    pub fn take(&mut self) -> Box<RequestData> {
        self.stock.pop().unwrap_or_default()
    }

    /// Take a request back.
    #[inline]
    pub fn give(&mut self, mut data: Box<RequestData>) {
        if self.stock.len() < Self::MOST {
            data.bytes.clear();
            data.body.clear();
            data.in_pieces = false;
            data.session = None;
            data.bytes.shrink_to(KEEP_BYTES);
            data.body.shrink_to(KEEP_BYTES);
            self.stock.push(data);
        }
    }
}
