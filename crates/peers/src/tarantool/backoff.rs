//! How long to wait before the next attempt to connect.

use reactor::Millis;

/// Doubling pauses with jitter.
#[derive(Debug)]
pub(super) struct Backoff {
    attempts: u32,
    random: u64,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { attempts: 0, random: seed | 1 }
    }

    /// Failed attempts since the last success.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(super) fn succeeded(&mut self) {
        self.attempts = 0;
    }

    /// The pause after one more failure: between half of and the whole doubled step.
    pub(super) fn failed(&mut self, min: Millis, max: Millis) -> Millis {
        let step = min.max(1).saturating_mul(1 << self.attempts.min(20)).min(max.max(1));
        self.attempts += 1;
        // xorshift64: spreads clients that lost the same server at the same time.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        step / 2 + self.random % (step / 2 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_within_their_bounds() {
        let mut backoff = Backoff::new(42);
        for step in [50, 100, 200, 400, 800, 1600, 2000, 2000] {
            let pause = backoff.failed(50, 2000);
            assert!((step / 2..=step).contains(&pause), "{pause} of {step}");
        }
        backoff.succeeded();
        assert!(backoff.failed(50, 2000) <= 50);
    }
}
