//! A whole run: one engine per thread, their shares added up.

use std::io;
use std::thread;

use hdrhistogram::Histogram;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::engine::Engine;
use crate::judge::{FirstWrong, Phase};
use crate::plan::Plan;
use crate::tally::{Second, Tally, histogram};
use crate::usage::Cpu;

/// One second, as it ends.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Warm-up or measured.
    pub phase: Phase,
    /// Its counts.
    pub second: Second,
}

/// What one thread, or all of them together, brought home.
#[derive(Clone, Debug)]
pub struct Share {
    /// Warm-up, measured, drained.
    pub tallies: [Tally; 3],
    /// Measured seconds.
    pub series: Vec<Second>,
    /// Open loop: how late requests were sent for want of a free connection or of the generator.
    pub lag: Histogram<u64>,
    /// The first wrong answer.
    pub first_wrong: Option<FirstWrong>,
    /// The first bytes that are no answer.
    pub first_unreadable: Option<String>,
    /// CPU of the generator in the measured phase.
    pub cpu: Cpu,
    /// CPU per second of the busiest thread: 1 means that the generator was the limit.
    pub saturation: f64,
    /// Monotonic nanoseconds.
    pub measured_from: u64,
    /// Monotonic nanoseconds.
    pub measured_until: u64,
    /// Connections made.
    pub opened: u64,
    /// Connections wanted.
    pub connections: u64,
}

impl Share {
    /// Nothing yet.
    pub fn new(plan: &Plan) -> Self {
        Self {
            tallies: std::array::from_fn(|_| Tally::new(plan.steps.len())),
            series: Vec::new(),
            lag: histogram(),
            first_wrong: None,
            first_unreadable: None,
            cpu: Cpu::default(),
            saturation: 0.0,
            measured_from: 0,
            measured_until: 0,
            opened: 0,
            connections: 0,
        }
    }

    /// The measured phase.
    pub fn measured(&self) -> &Tally {
        &self.tallies[Phase::Measure as usize]
    }

    /// Length of the measured phase.
    #[expect(clippy::cast_precision_loss, reason = "seconds fit")]
    pub fn seconds(&self) -> f64 {
        (self.measured_until - self.measured_from) as f64 / 1e9
    }

    /// Answers per second that came within the measured phase.
    #[expect(clippy::cast_precision_loss, reason = "counts fit")]
    pub fn rate(&self) -> f64 {
        self.series.iter().map(|second| second.requests).sum::<u64>() as f64 / self.seconds()
    }

    /// Connections made beyond the first of each.
    pub fn reconnects(&self) -> u64 {
        self.opened.saturating_sub(self.connections)
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.merge(theirs);
        }
        for (at, second) in other.series.into_iter().enumerate() {
            match self.series.get_mut(at) {
                Some(mine) => mine.merge(&second),
                None => self.series.push(second),
            }
        }
        self.lag.add(&other.lag).expect("all histograms have the same bounds");
        self.first_wrong = self.first_wrong.take().or(other.first_wrong);
        self.first_unreadable = self.first_unreadable.take().or(other.first_unreadable);
        self.cpu = self.cpu.plus(other.cpu);
        self.saturation = self.saturation.max(other.saturation);
        self.measured_from = self.measured_from.min(other.measured_from);
        self.measured_until = self.measured_until.max(other.measured_until);
        self.opened += other.opened;
        self.connections += other.connections;
    }
}

/// Runs the plan; `progress` hears of every second of every thread.
#[expect(clippy::missing_panics_doc, reason = "a valid plan has at least one thread")]
pub fn run(plan: &Plan, progress: impl Fn(Progress) + Sync) -> io::Result<Share> {
    raise_file_limit();
    if plan.threads == 1 {
        return Engine::new(plan, 0..plan.connections)?.run(&progress);
    }
    let shares: Vec<io::Result<Share>> = thread::scope(|scope| {
        let threads: Vec<_> = portions(plan.connections, plan.threads)
            .map(|portion| scope.spawn(|| Engine::new(plan, portion)?.run(&progress)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("panicked"))))
            .collect()
    });
    let mut shares = shares.into_iter();
    let mut total = shares.next().expect("at least one thread")?;
    for share in shares {
        total.merge(share?);
    }
    Ok(total)
}

/// As many connections as the system allows: the soft limit is often 1024.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // A refusal shows later, as connections that cannot be made.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn portions(connections: usize, threads: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..threads).map(move |n| connections * n / threads..connections * (n + 1) / threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_cover_every_connection_once() {
        let all: Vec<usize> = portions(10, 3).flatten().collect();
        assert_eq!((0..10).collect::<Vec<_>>(), all);
        assert!(portions(10, 3).all(|portion| portion.len() >= 3));
    }
}
