//! The engine's relation to time: phases, seconds, time-outs, the end.

use rustix::event::Timespec;

use super::{Engine, RETRY};
use crate::connection::{Connection, State};
use crate::judge::Phase;
use crate::pace::Schedule;
use crate::plan::Plan;
use crate::run::{Progress, Share};
use crate::tally::Fault;
use crate::usage::{Cpu, now};

const SECOND: u64 = 1_000_000_000;
const TICK: u64 = SECOND / 10;

/// The times at which something happens by itself.
pub(super) struct Clock {
    pub(super) measure: u64,
    pub(super) end: u64,
    give_up: u64,
    tick: u64,
    second: u64,
    second_began: u64,
}

impl Clock {
    #[expect(clippy::cast_possible_truncation, reason = "584 years fit")]
    pub(super) fn new(start: u64, plan: &Plan) -> Self {
        let measure = start + plan.warmup.as_nanos() as u64;
        let end = measure + plan.duration.as_nanos() as u64;
        Self {
            measure,
            end,
            give_up: end + plan.timeout.as_nanos() as u64,
            tick: start + TICK,
            second: start + SECOND,
            second_began: start,
        }
    }
}

impl Engine<'_> {
    pub(super) fn timeout(&self) -> Option<Timespec> {
        let clock = &self.clock;
        let mut until = clock.tick.min(clock.second);
        if !self.waiting.is_empty() {
            until = until.min(self.judge.now + RETRY);
        }
        if let Some(due) = self.schedule.as_ref().and_then(Schedule::due)
            && !self.idle.is_empty()
        {
            until = until.min(due);
        }
        for boundary in [clock.measure, clock.end] {
            if boundary > self.judge.now {
                until = until.min(boundary);
            }
        }
        let nanoseconds = until.saturating_sub(now());
        Timespec::try_from(std::time::Duration::from_nanos(nanoseconds)).ok()
    }

    pub(super) fn pass_time(&mut self, cpu: &mut Cpu, progress: &mut impl FnMut(Progress)) {
        let now = self.judge.now;
        if now >= self.clock.second {
            self.end_second(progress);
            while self.clock.second <= now {
                self.clock.second += SECOND;
            }
        }
        if self.judge.phase == Phase::Warmup && now >= self.clock.measure {
            self.end_second(progress);
            *cpu = Cpu::of_this_thread();
            self.judge.phase = Phase::Measure;
            self.share.measured_from = now;
            self.clock.second = now + SECOND;
        }
        if self.judge.phase == Phase::Measure && now >= self.clock.end {
            self.end_second(progress);
            self.share.cpu = Cpu::of_this_thread().since(*cpu);
            self.share.measured_until = now;
            self.judge.phase = Phase::Drain;
        }
        if now >= self.clock.tick {
            self.clock.tick = now + TICK;
            self.time_out();
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "about one second")]
    fn end_second(&mut self, progress: &mut impl FnMut(Progress)) {
        let seconds = (self.judge.now - self.clock.second_began) as f64 / 1e9;
        self.clock.second_began = self.judge.now;
        if let Some(second) = self.judge.end_second(seconds) {
            progress(Progress { phase: self.judge.phase, second });
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "584 years fit")]
    fn time_out(&mut self) {
        let late = self.judge.now.saturating_sub(self.judge.plan.timeout.as_nanos() as u64);
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            match connection.state {
                State::Connecting(since) if since < late => self.fail(index, Fault::Connect),
                State::Open if connection.exchanges.front().is_some_and(|it| it.sent < late) => {
                    self.fail(index, Fault::Timeout);
                }
                _ => {}
            }
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.judge.phase == Phase::Drain
            && (self.judge.now >= self.clock.give_up
                || (self.schedule.as_ref().is_none_or(|it| it.due().is_none())
                    && self.connections.iter().all(|it| it.exchanges.is_empty())))
    }

    pub(super) fn finish(mut self) -> Share {
        let unanswered = self.connections.iter_mut().map(Connection::close).sum();
        self.judge.fault(Fault::Timeout, unanswered);
        let unsent = self.schedule.map_or(0, |it| it.left_from(self.clock.measure));
        self.judge.tallies[Phase::Measure as usize].errors.add(Fault::Unsent, unsent);
        self.share.tallies = self.judge.tallies;
        self.share.series = self.judge.series;
        self.share.first_wrong = self.judge.first_wrong;
        self.share.first_unreadable = self.judge.first_unreadable;
        self.share.connections = self.connections.len() as u64;
        self.share.saturation = self.share.cpu.seconds / self.share.seconds();
        self.share
    }
}
