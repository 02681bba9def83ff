//! A link's life: attempts to connect, time that passes, and what becomes of all who wait.

use reactor::{Advance, CloseReason, Fate, Io, Millis};

use super::link::{Link, State};
use crate::step::{Failure, Step};

impl<W> Link<W> {
    /// The socket is open; the greeting comes next.
    pub(crate) fn opened(&mut self) {
        self.state = State::Greeting;
    }

    /// The connection is ready for queries.
    pub(super) fn ready(&mut self) {
        if self.state == State::Describing {
            self.state = State::Ready;
            self.until = Millis::MAX;
            self.backoff.succeeded();
            self.waiting.connected();
        }
    }

    /// Some deadline has passed: of a query, of an attempt to connect, or of a pause.
    pub(crate) fn timer(&mut self, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
        self.alarm = Millis::MAX;
        for waiter in self.tickets.expired(io.now) {
            io.emit(Step::Failed { waiter, failure: Failure::Timeout { maybe_sent: true } });
        }
        for waiter in self.waiting.expired(io.now) {
            io.emit(Step::Failed { waiter, failure: Failure::Timeout { maybe_sent: false } });
        }
        let advance = match self.state {
            _ if io.now < self.until => Advance::Starved,
            State::Waiting => Advance::Connect(self.start_connect(io)),
            State::Connecting | State::Greeting | State::Authenticating | State::Describing => {
                self.until = Millis::MAX;
                Advance::Abort(CloseReason::TimedOut)
            }
            State::Idle | State::Ready | State::Closed => Advance::Starved,
        };
        self.admit_parked(io);
        self.set_alarm(io);
        advance
    }

    /// The socket is gone, or could not be opened.
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
        let unsent = unsent(&failure);
        for waiter in self.waiting.take_reread() {
            io.emit(Step::Failed { waiter, failure: unsent.clone() });
        }
        if matches!(failure, Failure::Network { .. }) {
            self.pause(&unsent, io);
        } else {
            // Trying again would fail again: whoever comes next may try.
            self.state = State::Idle;
            self.until = Millis::MAX;
            for waiter in self.waiting.take_parked(|_| true) {
                io.emit(Step::Failed { waiter, failure: unsent.clone() });
            }
        }
        self.set_alarm(io);
        Fate::Keep
    }

    /// Try again after a pause; who wanted to know about the first failure is told.
    fn pause(&mut self, failure: &Failure, io: &mut Io<'_, Step<W>>) {
        let pause = self.backoff.failed(self.config.reconnect_min, self.config.reconnect_max);
        self.state = State::Waiting;
        self.until = io.now.saturating_add(pause);
        self.waiting.disconnected(io.now.saturating_add(self.config.connect_timeout));
        if (self.backoff.attempts() as usize) < self.config.addresses.len() {
            return;
        }
        let fail_fast = self.config.fail_fast;
        for waiter in self.waiting.take_parked(|parked| parked.opener || fail_fast) {
            io.emit(Step::Failed { waiter, failure: failure.clone() });
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

    /// Be called when the first of all deadlines passes.
    fn set_alarm(&mut self, io: &mut Io<'_, Step<W>>) {
        let deadlines = [self.tickets.next_deadline(), self.waiting.next_deadline()];
        self.alarm = deadlines.into_iter().flatten().fold(self.until, Millis::min);
        io.set_deadline(Some(self.alarm).filter(|&alarm| alarm != Millis::MAX));
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
        CloseReason::Unreadable => "a file that was being sent could not be read".into(),
    };
    Failure::Network { message, maybe_sent: true }
}
