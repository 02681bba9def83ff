//! A hashed timer wheel: cheap to arm, exact to one tick. Nothing is ever taken out of it: its
//! owner remembers when its newest entry fires, and ignores the others when they come.

use crate::peer::Millis;
use crate::slots::Key;

/// Milliseconds per tick.
pub const TICK: Millis = 8;
const SLOTS: u64 = 1024;

/// Deadlines by tick.
pub struct Wheel {
    slots: Vec<Vec<(Millis, Key)>>,
    now: u64,
    len: usize,
    /// No entry is due before this tick; recomputed when the wheel passes it.
    next: u64,
}

impl Default for Wheel {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| Vec::new()).collect(), now: 0, len: 0, next: u64::MAX }
    }
}

impl Wheel {
    /// When something inserted for `deadline` would fire: a whole tick that is still to come.
    pub fn fires_at(&self, deadline: Millis) -> Millis {
        deadline.div_ceil(TICK).max(self.now + 1).saturating_mul(TICK)
    }

    /// Fire `key` at `deadline`, or at the next tick if that has passed; tells when that is.
    pub fn insert(&mut self, deadline: Millis, key: Key) -> Millis {
        let at = self.fires_at(deadline);
        let tick = at / TICK;
        self.slots[(tick % SLOTS) as usize].push((tick, key));
        self.len += 1;
        self.next = self.next.min(tick);
        at
    }

    /// Move the wheel to `now` and append what is due, with the time it was to fire.
    pub fn advance(&mut self, now: Millis, due: &mut Vec<(Millis, Key)>) {
        let target = now / TICK;
        if target < self.next {
            self.now = self.now.max(target);
            return;
        }
        let steps = (target.saturating_sub(self.now)).min(SLOTS);
        for step in 1..=steps {
            let slot = &mut self.slots[((self.now + step) % SLOTS) as usize];
            let before = due.len();
            slot.retain(|&(tick, key)| {
                let later = tick > target;
                if !later {
                    due.push((tick * TICK, key));
                }
                later
            });
            self.len -= due.len() - before;
        }
        self.now = self.now.max(target);
        self.next = self.first_occupied();
    }

    /// When the wheel must be advanced next; entries beyond one rotation count as one rotation.
    pub fn next_deadline(&self) -> Option<Millis> {
        (self.len > 0).then(|| self.next.saturating_mul(TICK))
    }

    fn first_occupied(&self) -> u64 {
        if self.len == 0 {
            return u64::MAX;
        }
        let ahead = (1..SLOTS)
            .find(|step| !self.slots[((self.now + step) % SLOTS) as usize].is_empty())
            .unwrap_or(SLOTS);
        self.now + ahead
    }

    /// Entries in the wheel.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Nothing is armed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(index: u32) -> Key {
        Key { index, generation: 1 }
    }

    fn due(wheel: &mut Wheel, now: Millis) -> Vec<u32> {
        let mut keys = Vec::new();
        wheel.advance(now, &mut keys);
        keys.into_iter().map(|(_, key)| key.index).collect()
    }

    #[test]
    fn fires_at_its_tick_and_not_before() {
        let mut wheel = Wheel::default();
        wheel.insert(100, key(7));
        assert!(due(&mut wheel, 99).is_empty());
        assert_eq!(vec![7], due(&mut wheel, 104));
        assert!(wheel.is_empty());
    }

    #[test]
    fn tells_when_an_entry_fires() {
        let mut wheel = Wheel::default();
        assert_eq!(104, wheel.insert(100, key(7)));
        assert_eq!(104, wheel.fires_at(97));
        let mut fired = Vec::new();
        wheel.advance(200, &mut fired);
        assert_eq!(vec![(104, key(7))], fired);
    }

    #[test]
    fn a_deadline_at_the_end_of_time_overflows_nothing() {
        let mut wheel = Wheel::default();
        wheel.insert(Millis::MAX - 1, key(7));
        assert!(due(&mut wheel, TICK * SLOTS).is_empty());
        assert!(wheel.next_deadline().is_some());
    }

    #[test]
    fn holds_deadlines_beyond_one_rotation() {
        let mut wheel = Wheel::default();
        let far = TICK * SLOTS * 3 + 40;
        wheel.insert(far, key(1));
        for rotation in 1..=3 {
            assert!(due(&mut wheel, TICK * SLOTS * rotation).is_empty());
        }
        assert_eq!(vec![1], due(&mut wheel, far + TICK));
    }

    #[test]
    fn a_long_sleep_loses_nothing() {
        let mut wheel = Wheel::default();
        for index in 0..50 {
            wheel.insert(u64::from(index) * 500, key(index));
        }
        let mut fired = due(&mut wheel, 10_000_000);
        fired.sort_unstable();
        assert_eq!((0..50).collect::<Vec<_>>(), fired);
    }

    #[test]
    fn a_passed_deadline_fires_at_the_next_tick() {
        let mut wheel = Wheel::default();
        due(&mut wheel, 1000);
        wheel.insert(5, key(3));
        assert_eq!(Some(1000 + TICK), wheel.next_deadline());
        assert_eq!(vec![3], due(&mut wheel, 1000 + TICK));
    }
}
