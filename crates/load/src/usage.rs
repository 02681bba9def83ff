//! What the generator itself costs: CPU of the calling thread, and the clock.

use std::fs;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// CPU seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cpu {
    /// User and system, to the nanosecond.
    pub seconds: f64,
    /// User part, in ticks of 10 ms.
    pub user: f64,
    /// System part, in ticks of 10 ms.
    pub system: f64,
}

impl Cpu {
    /// What the calling thread has used so far.
    #[expect(clippy::cast_precision_loss, reason = "seconds fit")]
    pub fn of_this_thread() -> Self {
        let (user, system) = ticks().unwrap_or_default();
        Self { seconds: nanoseconds(ClockId::ThreadCPUTime) as f64 / 1e9, user, system }
    }

    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            seconds: self.seconds - earlier.seconds,
            user: self.user - earlier.user,
            system: self.system - earlier.system,
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            user: self.user + other.user,
            system: self.system + other.system,
        }
    }
}

/// Monotonic nanoseconds.
#[inline]
pub fn now() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

#[inline]
#[expect(clippy::cast_sign_loss, reason = "these clocks are never negative")]
fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

// utime and stime of proc_pid_stat(5), fields 14 and 15; the name in field 2 may hold spaces.
fn ticks() -> Option<(f64, f64)> {
    const TICKS_PER_SECOND: f64 = 100.0; // USER_HZ, part of Linux's ABI
    let stat = fs::read_to_string("/proc/thread-self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_PER_SECOND);
    Some((seconds()?, seconds()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_work_of_this_thread() {
        let before = Cpu::of_this_thread();
        while Cpu::of_this_thread().since(before).seconds < 0.05 {}
        let used = Cpu::of_this_thread().since(before);
        assert!(used.user + used.system > 0.0, "{used:?}");
    }
}
