//! One link as its users see it: who may send, and who has to wait.

use iproto::query::Header;
use iproto::schema::Schema;
use reactor::{Address, Io, Millis};

use super::backoff::Backoff;
use super::config::Config;
use super::schema::SchemaState;
use super::tickets::{Owner, Tickets};
use super::waiting::{Parked, Waiting};
use crate::step::{Failure, Step};

/// How far a link has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No socket, and nobody wants one.
    Idle,
    /// The socket is being opened.
    Connecting,
    /// The greeting is awaited.
    Greeting,
    /// The answer to the credentials is awaited.
    Authenticating,
    /// The schema is being read for the first time.
    Describing,
    /// Queries go out.
    Ready,
    /// A pause before the next attempt.
    Waiting,
    /// Closed for good.
    Closed,
}

/// May a query be sent?
#[derive(Debug)]
pub enum Admission<W> {
    /// Encode it and send it now.
    Now(W),
    /// It waits; a step will say when.
    Parked,
    /// It waits for a connection, which is to be opened to this address.
    Connect(Address),
    /// It failed already.
    Refused(W, Failure),
}

/// While more output than this waits for the server to read it, no further query is encoded. The
/// reply to the last query in it tells that it has gone, and lets the next ones go.
const HIGH_WATER: usize = 1024 * 1024;

/// One connection to a Tarantool, shared by all who use it.
#[derive(Debug)]
pub struct Link<W> {
    pub(super) config: Config,
    pub(super) state: State,
    pub(super) tickets: Tickets<W>,
    pub(super) schema: SchemaState,
    pub(super) server_version: Option<String>,
    /// What was wrong, when the link itself ends the connection.
    pub(super) fault: Option<Failure>,
    pub(super) waiting: Waiting<W>,
    /// Told to encode, and not sent yet.
    pub(super) admitted: usize,
    pub(super) backoff: Backoff,
    next_address: usize,
    /// When this attempt to connect, or the pause before the next one, ends.
    pub(super) until: Millis,
    /// The earliest deadline of all who wait, or earlier.
    pub(super) alarm: Millis,
}

impl<W> Link<W> {
    /// A link that opens its socket when it is first used.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            config,
            state: State::Idle,
            tickets: Tickets::default(),
            schema: SchemaState::default(),
            server_version: None,
            fault: None,
            waiting: Waiting::default(),
            admitted: 0,
            backoff: Backoff::new(seed),
            next_address: 0,
            until: Millis::MAX,
            alarm: Millis::MAX,
        }
    }

    /// How far it has come.
    pub fn state(&self) -> State {
        self.state
    }

    /// Queries on the wire.
    pub fn in_flight(&self) -> usize {
        self.tickets.len()
    }

    /// Queries that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What the server said it is.
    pub fn server_version(&self) -> Option<&str> {
        self.server_version.as_deref()
    }

    /// The server's schema as last read.
    #[inline]
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.known.as_ref()
    }

    /// Ask to send a query, to be given up at `deadline`.
    #[inline]
    pub fn admit(
        &mut self,
        waiter: W,
        deadline: Millis,
        opener: bool,
        io: &mut Io<'_, Step<W>>,
    ) -> Admission<W> {
        if self.state == State::Ready && self.room(io) > 0 && self.waiting.nobody_is_parked() {
            self.admitted += 1;
            return Admission::Now(waiter);
        }
        self.park(waiter, deadline, opener, io)
    }

    fn park(
        &mut self,
        waiter: W,
        deadline: Millis,
        opener: bool,
        io: &mut Io<'_, Step<W>>,
    ) -> Admission<W> {
        if self.state == State::Closed {
            return Admission::Refused(waiter, Failure::Closed);
        }
        if self.config.fail_fast && self.state == State::Waiting && !opener {
            let message = "there is no connection, and fail_fast is set".to_owned();
            return Admission::Refused(waiter, Failure::Network { message, maybe_sent: false });
        }
        // Without a deadline of its own nobody waits longer for a connection than this. An opener
        // is told when the attempt fails.
        let patience = match self.state {
            State::Ready => Millis::MAX,
            _ if opener => Millis::MAX,
            _ => io.now.saturating_add(self.config.connect_timeout),
        };
        self.waiting.park(Parked { waiter, deadline, patience, opener });
        self.alarm_at(deadline.min(patience), io);
        if self.state != State::Idle {
            // The output may have left meanwhile: the oldest goes first.
            self.admit_parked(io);
            return Admission::Parked;
        }
        Admission::Connect(self.start_connect(io))
    }

    pub(super) fn start_connect(&mut self, io: &mut Io<'_, Step<W>>) -> Address {
        self.state = State::Connecting;
        self.fault = None;
        self.until = io.now.saturating_add(self.config.connect_timeout);
        self.alarm_at(self.until, io);
        let address = self.config.addresses.get(self.next_address).cloned();
        self.next_address = (self.next_address + 1) % self.config.addresses.len().max(1);
        address.unwrap_or(Address::Unnamed)
    }

    /// Queries that may be admitted now.
    #[inline]
    fn room(&self, io: &Io<'_, Step<W>>) -> usize {
        if io.queued() > HIGH_WATER {
            return 0;
        }
        self.config.in_flight.saturating_sub(self.tickets.len() + self.admitted)
    }

    /// Send what was admitted: `encode` writes the packet. Tells the ticket's number.
    #[inline]
    pub fn send(
        &mut self,
        waiter: W,
        deadline: Millis,
        checked: bool,
        io: &mut Io<'_, Step<W>>,
        encode: impl FnOnce(&mut Vec<u8>, Header),
    ) -> Result<u64, W> {
        self.admitted = self.admitted.saturating_sub(1);
        if self.state != State::Ready {
            return Err(waiter);
        }
        let sync = self.tickets.issue(Owner::Waiter(waiter), deadline, checked);
        let schema_version = checked.then(|| self.schema.version());
        encode(io.output, Header { sync, schema_version });
        if deadline < self.alarm {
            self.alarm_at(deadline, io);
        }
        Ok(sync)
    }

    /// What was admitted is not sent after all; the next one may be.
    pub fn give_up(&mut self, io: &mut Io<'_, Step<W>>) {
        self.admitted = self.admitted.saturating_sub(1);
        self.admit_parked(io);
    }

    /// Read the schema again, then say again that this query may be encoded.
    pub fn reread(&mut self, waiter: W, io: &mut Io<'_, Step<W>>) {
        self.admitted = self.admitted.saturating_sub(1);
        if matches!(self.state, State::Idle | State::Closed) {
            let message = "the connection was lost before the query was sent".to_owned();
            let failure = Failure::Network { message, maybe_sent: false };
            io.emit(Step::Failed { waiter, failure });
            return;
        }
        // One that runs already may have looked before what is missing was made.
        let deadline = io.now.saturating_add(self.config.connect_timeout);
        self.waiting.park_for_schema(waiter, deadline, self.schema.fetches() + 1);
        self.alarm_at(deadline, io);
        if self.state == State::Ready {
            self.fetch_schema_once(io);
        }
    }

    /// Nobody waits for this reply any more.
    pub fn abandon(&mut self, sync: u64) -> Option<W> {
        self.tickets.abandon(sync)
    }

    /// End the link: everybody who waits fails.
    pub fn shut(&mut self, io: &mut Io<'_, Step<W>>) {
        self.state = State::Closed;
        let failure = |maybe_sent| {
            let message = "the connection was closed here".to_owned();
            Failure::Network { message, maybe_sent }
        };
        for waiter in self.tickets.drain() {
            io.emit(Step::Failed { waiter, failure: failure(true) });
        }
        let unsent = self.waiting.take_reread().into_iter();
        for waiter in unsent.chain(self.waiting.take_parked(|_| true)) {
            io.emit(Step::Failed { waiter, failure: failure(false) });
        }
        self.until = Millis::MAX;
        io.set_deadline(None);
    }

    /// Let those who waited go, as far as there is room.
    pub(super) fn admit_parked(&mut self, io: &mut Io<'_, Step<W>>) {
        while self.state == State::Ready && self.room(io) > 0 {
            let Some(parked) = self.waiting.next() else { return };
            self.admitted += 1;
            io.emit(Step::Encode { waiter: parked.waiter });
        }
    }
}
