//! What lives in a slot of the reactor: one of the two kinds of connection.

use reactor::{Address, Advance, CloseReason, Fate, Io, Millis, Peer};

use crate::http;
use crate::shared::Shared;
use crate::step::Step;
use crate::tarantool::Link;

/// A connection of either protocol.
#[derive(Debug)]
pub enum Connection<W> {
    /// A client of one of our servers.
    Http(Box<http::Connection>),
    /// Our connection to a Tarantool.
    Tarantool(Box<Link<W>>),
}

impl<W> Connection<W> {
    /// The HTTP connection, if it is one.
    #[inline]
    pub fn http(&mut self) -> Option<&mut http::Connection> {
        match self {
            Self::Http(connection) => Some(connection),
            Self::Tarantool(_) => None,
        }
    }

    /// The Tarantool link, if it is one.
    #[inline]
    pub fn link(&mut self) -> Option<&mut Link<W>> {
        match self {
            Self::Http(_) => None,
            Self::Tarantool(link) => Some(link),
        }
    }
}

impl<W> Peer for Connection<W> {
    type Step = Step<W>;
    type Shared = Shared;

    fn accepted(listener: u32, from: &Address, shared: &mut Shared) -> Option<Self> {
        http::Connection::accepted(listener, from, shared).map(|peer| Self::Http(Box::new(peer)))
    }

    fn opened(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) -> Advance<Step<W>> {
        match self {
            Self::Http(connection) => connection.opened(io, shared),
            Self::Tarantool(link) => {
                link.opened();
                Advance::Starved
            }
        }
    }

    fn covered(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) {
        if let Self::Http(connection) = self {
            connection.covered(io, shared);
        }
    }

    #[inline]
    fn advance(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) -> Advance<Step<W>> {
        match self {
            Self::Http(connection) => connection.advance(io, shared),
            Self::Tarantool(link) => link.advance(io, shared),
        }
    }

    fn timer(&mut self, io: &mut Io<'_, Step<W>>, shared: &mut Shared) -> Advance<Step<W>> {
        match self {
            Self::Http(connection) => connection.timer(io, shared),
            Self::Tarantool(link) => link.timer(io),
        }
    }

    fn closed(
        &mut self,
        reason: CloseReason,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Fate {
        match self {
            Self::Http(connection) => connection.closed(reason, io, shared),
            Self::Tarantool(link) => link.closed(reason, io),
        }
    }

    fn drained(&mut self, io: &mut Io<'_, Step<W>>, _: &mut Shared) {
        if let Self::Http(connection) = self {
            connection.drained(io);
        }
    }

    fn write_timeout(&self, shared: &Shared) -> Millis {
        match self {
            Self::Http(connection) => connection.write_timeout(shared),
            Self::Tarantool(link) => link.write_timeout(),
        }
    }

    #[inline]
    fn high_water(&self, shared: &Shared) -> usize {
        match self {
            Self::Http(connection) => connection.high_water(shared),
            Self::Tarantool(_) => usize::MAX,
        }
    }
}
