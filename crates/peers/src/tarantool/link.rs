//! One link: who may send, who waits, and what becomes of them when the connection goes.

use std::collections::VecDeque;

use iproto::query::Header;
use iproto::schema::Schema;
use reactor::{Address, Advance, CloseReason, Fate, Io, Millis};

use super::backoff::Backoff;
use super::config::Config;
use super::schema::SchemaState;
use super::tickets::{Owner, Tickets};
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

#[derive(Debug)]
struct Parked<W> {
    waiter: W,
    deadline: Millis,
    /// It wants to know about the first failure to connect instead of waiting for a success.
    opener: bool,
}

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
    /// Queries that wait for a newer schema.
    pub(super) reread: Vec<W>,
    parked: VecDeque<Parked<W>>,
    /// Told to encode, and not sent yet.
    admitted: usize,
    backoff: Backoff,
    next_address: usize,
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
            reread: Vec::new(),
            parked: VecDeque::new(),
            admitted: 0,
            backoff: Backoff::new(seed),
            next_address: 0,
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
        self.parked.len() + self.reread.len()
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
        if self.state == State::Ready && self.room() > 0 && self.parked.is_empty() {
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
        let down = matches!(self.state, State::Waiting | State::Idle);
        if self.config.fail_fast && down && !opener && self.backoff.attempts() > 0 {
            let message = "there is no connection, and fail_fast is set".to_owned();
            return Admission::Refused(waiter, Failure::Network { message, maybe_sent: false });
        }
        // Without a deadline of its own nobody waits longer for a connection than this.
        let deadline = match self.state {
            State::Ready => deadline,
            _ => deadline.min(io.now + self.config.connect_timeout),
        };
        self.parked.push_back(Parked { waiter, deadline, opener });
        self.alarm_at(deadline, io);
        if self.state != State::Idle {
            return Admission::Parked;
        }
        Admission::Connect(self.start_connect(io))
    }

    fn start_connect(&mut self, io: &mut Io<'_, Step<W>>) -> Address {
        self.state = State::Connecting;
        self.fault = None;
        self.alarm_at(io.now + self.config.connect_timeout, io);
        let address = self.config.addresses.get(self.next_address).cloned();
        self.next_address = (self.next_address + 1) % self.config.addresses.len().max(1);
        address.unwrap_or(Address::Unnamed)
    }

    /// Queries that may be admitted now.
    #[inline]
    fn room(&self) -> usize {
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
        self.reread.push(waiter);
        if self.schema.wants_fetch(0) {
            self.fetch_schema(io);
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
        for waiter in std::mem::take(&mut self.reread) {
            io.emit(Step::Failed { waiter, failure: failure(false) });
        }
        self.fail_parked(&failure(false), io, |_| true);
        io.set_deadline(None);
    }

    /// Let those who waited go, as far as there is room.
    pub(super) fn admit_parked(&mut self, io: &mut Io<'_, Step<W>>) {
        while self.state == State::Ready && self.room() > 0 {
            let Some(parked) = self.parked.pop_front() else { return };
            self.admitted += 1;
            io.emit(Step::Encode { waiter: parked.waiter });
        }
    }

    /// The connection is ready for queries.
    pub(super) fn ready(&mut self, io: &mut Io<'_, Step<W>>) {
        if self.state == State::Describing {
            self.state = State::Ready;
            self.backoff.succeeded();
        }
        for waiter in std::mem::take(&mut self.reread) {
            self.admitted += 1;
            io.emit(Step::Encode { waiter });
        }
        self.admit_parked(io);
    }

    pub(crate) fn opened(&mut self, io: &mut Io<'_, Step<W>>) {
        self.state = State::Greeting;
        self.alarm_at(io.now + self.config.connect_timeout, io);
    }

    pub(crate) fn timer(&mut self, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
        self.alarm = Millis::MAX;
        for waiter in self.tickets.expired(io.now) {
            io.emit(Step::Failed { waiter, failure: Failure::Timeout { maybe_sent: true } });
        }
        self.expire_parked(io);
        let advance = match self.state {
            State::Waiting => Advance::Connect(self.start_connect(io)),
            State::Connecting | State::Greeting | State::Authenticating | State::Describing => {
                // The only alarm of these states is that of the attempt itself.
                self.still_connecting(io)
            }
            State::Idle | State::Ready | State::Closed => Advance::Starved,
        };
        let tickets = self.tickets.next_deadline();
        let parked = self.parked.iter().map(|parked| parked.deadline).min();
        for deadline in [tickets, parked].into_iter().flatten() {
            self.alarm_at(deadline, io);
        }
        advance
    }

    fn still_connecting(&mut self, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
        if self.parked.is_empty() || self.state != State::Connecting {
            return Advance::Close(CloseReason::TimedOut);
        }
        self.alarm_at(io.now + self.config.connect_timeout, io);
        Advance::Starved
    }

    fn expire_parked(&mut self, io: &mut Io<'_, Step<W>>) {
        let now = io.now;
        for _ in 0..self.parked.len() {
            let Some(parked) = self.parked.pop_front() else { break };
            if parked.deadline > now {
                self.parked.push_back(parked);
            } else {
                let failure = Failure::Timeout { maybe_sent: false };
                io.emit(Step::Failed { waiter: parked.waiter, failure });
            }
        }
    }

    pub(crate) fn closed(&mut self, reason: CloseReason, io: &mut Io<'_, Step<W>>) -> Fate {
        self.admitted = 0;
        self.schema.interrupted();
        if self.state == State::Closed {
            return Fate::Remove;
        }
        let failure = self.fault.take().unwrap_or_else(|| describe(reason));
        for waiter in self.tickets.drain() {
            io.emit(Step::Failed { waiter, failure: failure.clone() });
        }
        for waiter in std::mem::take(&mut self.reread) {
            let failure = unsent(&failure);
            io.emit(Step::Failed { waiter, failure });
        }
        if matches!(failure, Failure::Network { .. } | Failure::Timeout { .. }) {
            self.pause(&failure, io);
        } else {
            // Trying again would fail again: whoever comes next may try.
            self.state = State::Idle;
            self.fail_parked(&failure, io, |_| true);
        }
        Fate::Keep
    }

    /// Try again after a pause; who wanted to know about the first failure is told.
    fn pause(&mut self, failure: &Failure, io: &mut Io<'_, Step<W>>) {
        let pause = self.backoff.failed(self.config.reconnect_min, self.config.reconnect_max);
        self.state = State::Waiting;
        self.alarm = Millis::MAX;
        self.alarm_at(io.now + pause, io);
        let every_address_failed = self.backoff.attempts() as usize >= self.config.addresses.len();
        let fail_fast = self.config.fail_fast;
        if every_address_failed {
            let failure = unsent(failure);
            self.fail_parked(&failure, io, |parked| parked.opener || fail_fast);
        }
    }

    fn fail_parked(
        &mut self,
        failure: &Failure,
        io: &mut Io<'_, Step<W>>,
        which: impl Fn(&Parked<W>) -> bool,
    ) {
        for _ in 0..self.parked.len() {
            let Some(parked) = self.parked.pop_front() else { break };
            if which(&parked) {
                io.emit(Step::Failed { waiter: parked.waiter, failure: failure.clone() });
            } else {
                self.parked.push_back(parked);
            }
        }
    }

    pub(crate) fn write_timeout(&self) -> Millis {
        self.config.connect_timeout.max(30_000)
    }

    /// Be called at `deadline`, or earlier.
    pub(super) fn alarm_at(&mut self, deadline: Millis, io: &mut Io<'_, Step<W>>) {
        if deadline < self.alarm {
            self.alarm = deadline;
            io.set_deadline(Some(deadline));
        }
    }
}

/// The same failure for a query that never left.
fn unsent(failure: &Failure) -> Failure {
    match failure {
        Failure::Network { message, .. } => {
            Failure::Network { message: message.clone(), maybe_sent: false }
        }
        other => other.clone(),
    }
}

fn describe(reason: CloseReason) -> Failure {
    let message = match reason {
        CloseReason::Network(0) | CloseReason::Finished => {
            "the server closed the connection".into()
        }
        CloseReason::Network(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
        CloseReason::TimedOut => "the server did not answer in time".into(),
        CloseReason::SlowReader => "the server does not read".into(),
        CloseReason::Refused => "the server broke the protocol".into(),
        CloseReason::Stopped => "the reactor was closed".into(),
    };
    Failure::Network { message, maybe_sent: true }
}
