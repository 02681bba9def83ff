//! Counts and latencies of one phase, addable over threads.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::check::Wrong;

/// Why a request got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection could not be made.
    Connect,
    /// The connection broke.
    Reset,
    /// Nothing came in time.
    Timeout,
    /// The peer closed before or inside the answer.
    Short,
    /// What came is not an answer.
    Parse,
    /// Open loop: it was due but no connection was free before the end.
    Unsent,
}

/// Requests without answer, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// See [`Fault::Connect`]; counts attempts.
    pub connect: u64,
    /// See [`Fault::Reset`].
    pub reset: u64,
    /// See [`Fault::Timeout`].
    pub timeout: u64,
    /// See [`Fault::Short`].
    pub short: u64,
    /// See [`Fault::Parse`].
    pub parse: u64,
    /// See [`Fault::Unsent`].
    pub unsent: u64,
}

/// Wrong answers, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WrongAnswers {
    /// Another status.
    pub status: u64,
    /// Another length.
    pub length: u64,
    /// Another body, or one with another template hash.
    pub body: u64,
    /// A value to extract is missing.
    pub extract: u64,
}

impl Errors {
    /// Counts `lost` requests.
    pub fn add(&mut self, fault: Fault, lost: u64) {
        *match fault {
            Fault::Connect => &mut self.connect,
            Fault::Reset => &mut self.reset,
            Fault::Timeout => &mut self.timeout,
            Fault::Short => &mut self.short,
            Fault::Parse => &mut self.parse,
            Fault::Unsent => &mut self.unsent,
        } += lost;
    }

    /// All classes.
    pub fn total(&self) -> u64 {
        self.connect + self.reset + self.timeout + self.short + self.parse + self.unsent
    }

    fn merge(&mut self, other: &Self) {
        self.connect += other.connect;
        self.reset += other.reset;
        self.timeout += other.timeout;
        self.short += other.short;
        self.parse += other.parse;
        self.unsent += other.unsent;
    }
}

impl WrongAnswers {
    /// Counts one.
    pub fn add(&mut self, wrong: Wrong) {
        *match wrong {
            Wrong::Status => &mut self.status,
            Wrong::Length => &mut self.length,
            Wrong::Body(_) | Wrong::Hash => &mut self.body,
            Wrong::Extract(_) => &mut self.extract,
        } += 1;
    }

    /// All classes.
    pub fn total(&self) -> u64 {
        self.status + self.length + self.body + self.extract
    }

    fn merge(&mut self, other: &Self) {
        self.status += other.status;
        self.length += other.length;
        self.body += other.body;
        self.extract += other.extract;
    }
}

/// One step's part of a tally.
#[derive(Clone, Debug)]
pub struct StepTally {
    /// Right answers.
    pub ok: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Nanoseconds.
    pub latency: Histogram<u64>,
}

/// Everything counted in one phase.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Right answers.
    pub ok: u64,
    /// Wrong answers.
    pub wrong: WrongAnswers,
    /// No answers.
    pub errors: Errors,
    /// Received.
    pub bytes_in: u64,
    /// Sent.
    pub bytes_out: u64,
    /// Nanoseconds from the intended send time.
    pub latency: Histogram<u64>,
    /// Nanoseconds from the actual send time; kept in an open loop only, where it differs.
    pub service: Option<Histogram<u64>>,
    /// By step.
    pub steps: Vec<StepTally>,
}

/// A histogram of nanoseconds, three figures, up to an hour.
#[expect(clippy::missing_panics_doc, reason = "the bounds are constant")]
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("constant bounds are valid")
}

impl Tally {
    /// All zero.
    pub fn new(steps: usize) -> Self {
        let step = StepTally { ok: 0, wrong: 0, latency: histogram() };
        Self {
            ok: 0,
            wrong: WrongAnswers::default(),
            errors: Errors::default(),
            bytes_in: 0,
            bytes_out: 0,
            latency: histogram(),
            service: None,
            steps: vec![step; steps],
        }
    }

    /// Keeps service times too.
    #[must_use]
    pub fn with_service(mut self) -> Self {
        self.service = Some(histogram());
        self
    }

    /// Answers, right and wrong.
    pub fn requests(&self) -> u64 {
        self.ok + self.wrong.total()
    }

    /// Counts `count` answers with one latency.
    pub fn answers(&mut self, step: usize, latency: u64, service: u64, count: u64) {
        self.latency.saturating_record_n(latency, count);
        if let Some(histogram) = &mut self.service {
            histogram.saturating_record_n(service, count);
        }
        if self.steps.len() > 1 {
            self.steps[step].latency.saturating_record_n(latency, count);
        }
    }

    /// Adds another thread's tally of the same phase.
    pub fn merge(&mut self, other: &Self) {
        self.ok += other.ok;
        self.wrong.merge(&other.wrong);
        self.errors.merge(&other.errors);
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        add(&mut self.latency, &other.latency);
        if let (Some(mine), Some(theirs)) = (&mut self.service, &other.service) {
            add(mine, theirs);
        }
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            mine.ok += theirs.ok;
            mine.wrong += theirs.wrong;
            add(&mut mine.latency, &theirs.latency);
        }
    }
}

/// One second of the measured phase, by time of completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Second {
    /// 0 is the first measured second.
    pub second: u64,
    /// How long it was; the last may be cut.
    pub seconds: f64,
    /// Answers.
    pub requests: u64,
    /// Right ones.
    pub ok: u64,
    /// Wrong ones.
    pub wrong: u64,
    /// Requests lost.
    pub errors: u64,
    /// Received.
    pub bytes_in: u64,
    /// Median latency.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Worst.
    pub max_ns: u64,
}

impl Second {
    /// Adds another thread's same second; percentiles become the worse of the two.
    pub fn merge(&mut self, other: &Self) {
        self.seconds = self.seconds.max(other.seconds);
        self.requests += other.requests;
        self.ok += other.ok;
        self.wrong += other.wrong;
        self.errors += other.errors;
        self.bytes_in += other.bytes_in;
        self.p50_ns = self.p50_ns.max(other.p50_ns);
        self.p99_ns = self.p99_ns.max(other.p99_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

fn add(mine: &mut Histogram<u64>, theirs: &Histogram<u64>) {
    mine.add(theirs).expect("all histograms have the same bounds");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up() {
        let mut one = Tally::new(2);
        one.ok = 2;
        one.answers(0, 1_000, 1_000, 2);
        one.errors.add(Fault::Reset, 3);
        let mut two = Tally::new(2);
        two.ok = 1;
        two.answers(1, 9_000, 9_000, 1);
        two.wrong.add(Wrong::Body(7));
        one.merge(&two);
        assert_eq!((3, 1, 3), (one.ok, one.wrong.body, one.errors.total()));
        assert_eq!((3, 4), (one.latency.len(), one.requests()));
        assert_eq!((2, 1), (one.steps[0].latency.len(), one.steps[1].latency.len()));
    }
}
