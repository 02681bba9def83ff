//! When requests are sent: as answers come (closed loop), or on a schedule (open loop).

/// How a run is paced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Each connection sends when its last round is answered.
    Closed,
    /// So many requests per second, whatever the server does.
    Open {
        /// Requests per second over all connections.
        rate: f64,
    },
}

impl Pace {
    /// The share of one of `threads` threads.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "thread counts are small")]
    pub fn share(self, threads: usize) -> Self {
        match self {
            Self::Closed => Self::Closed,
            Self::Open { rate } => Self::Open { rate: rate / threads as f64 },
        }
    }
}

/// An open loop's schedule: request `k` is due at `start + k / rate`, never re-planned.
#[derive(Clone, Debug)]
pub struct Schedule {
    start: u64,
    end: u64,
    interval: f64,
    next: u64,
}

impl Schedule {
    /// Due times from `start` up to (not including) `end`, in nanoseconds of one clock.
    pub fn new(start: u64, end: u64, rate: f64) -> Self {
        Self { start, end, interval: 1e9 / rate, next: 0 }
    }

    /// When the next request is due; `None` when the schedule has ended.
    #[expect(clippy::cast_precision_loss, reason = "2^53 requests are out of reach")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    pub fn due(&self) -> Option<u64> {
        let due = self.start + (self.next as f64 * self.interval) as u64;
        (due < self.end).then_some(due)
    }

    /// Takes the next request if it is due.
    pub fn take(&mut self, now: u64) -> Option<u64> {
        let due = self.due().filter(|due| *due <= now)?;
        self.next += 1;
        Some(due)
    }

    /// How many requests with a due time in `from..end` have not been taken.
    pub fn left_from(&self, from: u64) -> u64 {
        let mut rest = self.clone();
        std::iter::from_fn(|| rest.take(u64::MAX)).filter(|due| *due >= from).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_to_the_intended_times_after_a_stall() {
        let mut schedule = Schedule::new(1_000, 1_000_001_000, 4.0);
        assert_eq!(Some(1_000), schedule.take(1_000));
        assert_eq!(None, schedule.take(200_000_000));
        let late: Vec<u64> = std::iter::from_fn(|| schedule.take(900_000_000)).collect();
        assert_eq!(vec![250_001_000, 500_001_000, 750_001_000], late);
        assert_eq!(None, schedule.due());
    }

    #[test]
    fn does_not_drift() {
        let mut schedule = Schedule::new(0, 10_000_000_000, 300_000.0);
        let taken = std::iter::from_fn(|| schedule.take(u64::MAX)).count();
        assert_eq!(3_000_000, taken);
    }

    #[test]
    fn counts_what_was_never_sent() {
        let mut schedule = Schedule::new(0, 1_000_000_000, 10.0);
        schedule.take(0);
        assert_eq!(9, schedule.left_from(0));
        assert_eq!(5, schedule.left_from(500_000_000));
    }
}
