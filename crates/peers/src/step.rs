//! What a peer asks its driver to do.

use std::ops::Range;

use reactor::Key;

use crate::http::WebSocket;
use crate::request::RequestData;

/// Names one request and the answer it is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exchange {
    /// The connection.
    pub key: Key,
    /// The request's place among all of this connection.
    pub number: u64,
}

/// One thing for the driver to do. `W` is whoever waits for a query.
#[derive(Debug)]
pub enum Step<W> {
    /// A request is complete: run its handler and answer the exchange.
    Request {
        /// Whom to answer.
        exchange: Exchange,
        /// The request, to be given back to the pool when it is done with.
        data: Box<RequestData>,
    },
    /// There is something of the body to take: bytes, its end, or the reason why it has none.
    Readable {
        /// Who asked.
        exchange: Exchange,
    },
    /// The next piece of the answer may be pushed.
    Writable {
        /// Who asked.
        exchange: Exchange,
    },
    /// The client has closed its side, or the connection; the answer is still owed.
    Gone {
        /// Who asked.
        exchange: Exchange,
    },
    /// Something happened to a WebSocket.
    Socket {
        /// The exchange that was upgraded to it.
        exchange: Exchange,
        /// What.
        news: News,
    },
    /// The query may be encoded and sent now.
    Encode {
        /// Who waits.
        waiter: W,
    },
    /// The query succeeded.
    Reply {
        /// Who waits.
        waiter: W,
        /// What came.
        reply: Reply,
    },
    /// The query failed.
    Failed {
        /// Who waits.
        waiter: W,
        /// Why.
        failure: Failure,
    },
}

/// What happened to a WebSocket.
#[derive(Debug)]
pub enum News {
    /// There is a message to receive, or the end, as was asked for.
    Readable,
    /// There is room for the next message, as was asked for.
    Writable,
    /// A pong has come.
    Pong,
    /// The socket has gone; here is what can still be received.
    Ended(Box<WebSocket>),
}

/// The body of a successful reply: its own copy of the bytes, and where the parts lie.
#[derive(Debug, Default)]
pub struct Reply {
    /// The packet after its length prefix.
    pub bytes: Vec<u8>,
    /// The data (an array of tuples, or of returned values).
    pub data: Option<Range<usize>>,
    /// The columns of an SQL result.
    pub metadata: Option<Range<usize>>,
    /// Row count and generated ids of an SQL statement.
    pub sql_info: Option<Range<usize>>,
    /// The server's schema version.
    pub schema_version: u64,
}

/// Why a query failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with an error.
    Database {
        /// Tarantool's error code.
        code: u32,
        /// The server's words.
        message: String,
    },
    /// The server refused the credentials.
    Auth {
        /// Tarantool's error code.
        code: u32,
        /// The server's words.
        message: String,
    },
    /// The connection broke, or could not be made.
    Network {
        /// What happened.
        message: String,
        /// The server may have executed the query.
        maybe_sent: bool,
    },
    /// The deadline passed.
    Timeout {
        /// The server may have executed the query, or may still do so.
        maybe_sent: bool,
    },
    /// The server sent what IPROTO does not allow.
    Protocol {
        /// What was wrong.
        message: String,
    },
    /// The connection was closed by its owner.
    Closed,
}
