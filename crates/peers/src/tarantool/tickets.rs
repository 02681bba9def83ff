//! Queries in flight: a slab whose entries are named on the wire by index and generation.
//!
//! A number is never used twice within 2^43 queries of one place, so a late reply cannot reach
//! the wrong waiter.

use reactor::Millis;

const INDEX_BITS: u32 = 20;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

/// Whom a reply belongs to.
#[derive(Debug)]
pub(super) enum Owner<W> {
    Waiter(W),
    /// It was cancelled or came too late: the reply is skipped.
    Nobody,
    Auth,
    Spaces,
    Indexes,
}

#[derive(Debug)]
struct Ticket<W> {
    generation: u64,
    owner: Option<Owner<W>>,
    deadline: Millis,
    /// It was sent with our schema version, and may be refused for that alone.
    checked: bool,
}

/// What a ticket was, once its reply is here.
#[derive(Debug)]
pub(super) struct Ended<W> {
    pub(super) owner: Owner<W>,
    pub(super) deadline: Millis,
    /// It was sent with our schema version.
    pub(super) checked: bool,
}

/// All tickets of one link.
#[derive(Debug)]
pub(super) struct Tickets<W> {
    slots: Vec<Ticket<W>>,
    free: Vec<u32>,
}

impl<W> Default for Tickets<W> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<W> Tickets<W> {
    /// In flight now.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// A new ticket's number; never 0, which the server uses for what it could not read.
    #[inline]
    pub(super) fn issue(&mut self, owner: Owner<W>, deadline: Millis, checked: bool) -> u64 {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.owner = Some(owner);
            slot.deadline = deadline;
            slot.checked = checked;
            return slot.generation << INDEX_BITS | u64::from(index);
        }
        let index = self.slots.len() as u64;
        debug_assert!(index <= INDEX_MASK, "the cap keeps the table small");
        self.slots.push(Ticket { generation: 1, owner: Some(owner), deadline, checked });
        1 << INDEX_BITS | index
    }

    #[inline]
    fn slot(&mut self, sync: u64) -> Option<(u32, &mut Ticket<W>)> {
        let index = u32::try_from(sync & INDEX_MASK).ok()?;
        let slot = self.slots.get_mut(index as usize)?;
        (slot.generation == sync >> INDEX_BITS && slot.owner.is_some()).then_some((index, slot))
    }

    /// The final reply came: the ticket ends.
    #[inline]
    pub(super) fn take(&mut self, sync: u64) -> Option<Ended<W>> {
        let (index, slot) = self.slot(sync)?;
        let owner = slot.owner.take()?;
        let ended = Ended { owner, deadline: slot.deadline, checked: slot.checked };
        slot.generation += 1;
        self.free.push(index);
        Some(ended)
    }

    /// Is this ticket's owner still to be answered?
    pub(super) fn is_issued(&mut self, sync: u64) -> bool {
        self.slot(sync).is_some()
    }

    /// The waiter has gone; the ticket stays until its reply comes.
    pub(super) fn abandon(&mut self, sync: u64) -> Option<W> {
        let (_, slot) = self.slot(sync)?;
        match slot.owner.replace(Owner::Nobody) {
            Some(Owner::Waiter(waiter)) => Some(waiter),
            other => {
                slot.owner = other;
                None
            }
        }
    }

    /// Waiters whose deadline has passed; their tickets stay until the replies come.
    pub(super) fn expired(&mut self, now: Millis) -> Vec<W> {
        let mut late = Vec::new();
        for slot in self.slots.iter_mut().filter(|slot| slot.deadline <= now) {
            if !matches!(slot.owner, Some(Owner::Waiter(_))) {
                continue;
            }
            slot.deadline = Millis::MAX;
            if let Some(Owner::Waiter(waiter)) = slot.owner.replace(Owner::Nobody) {
                late.push(waiter);
            }
        }
        late
    }

    /// When the next waiter's patience ends.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        let waiting = |slot: &&Ticket<W>| matches!(slot.owner, Some(Owner::Waiter(_)));
        let deadline = self.slots.iter().filter(waiting).map(|slot| slot.deadline).min()?;
        (deadline != Millis::MAX).then_some(deadline)
    }

    /// The connection is gone: every ticket ends.
    pub(super) fn drain(&mut self) -> Vec<W> {
        let mut waiters = Vec::new();
        for (index, slot) in (0..).zip(&mut self.slots) {
            if let Some(owner) = slot.owner.take() {
                slot.generation += 1;
                self.free.push(index);
                if let Owner::Waiter(waiter) = owner {
                    waiters.push(waiter);
                }
            }
        }
        waiters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_number_names_nobody() {
        let mut tickets = Tickets::default();
        let first = tickets.issue(Owner::Waiter('a'), 5, false);
        assert!(matches!(tickets.take(first), Some(Ended { owner: Owner::Waiter('a'), .. })));
        let second = tickets.issue(Owner::Waiter('b'), 5, false);
        assert_ne!(first, second);
        assert!(tickets.take(first).is_none());
        assert_eq!(1, tickets.len());
        assert!(matches!(tickets.take(second), Some(Ended { owner: Owner::Waiter('b'), .. })));
    }

    #[test]
    fn an_abandoned_ticket_stays_in_flight_until_its_reply() {
        let mut tickets = Tickets::default();
        let sync = tickets.issue(Owner::Waiter('a'), 5, false);
        assert_eq!(Some('a'), tickets.abandon(sync));
        assert_eq!(None, tickets.abandon(sync));
        assert_eq!(1, tickets.len());
        assert!(matches!(tickets.take(sync), Some(Ended { owner: Owner::Nobody, .. })));
        assert_eq!(0, tickets.len());
    }

    #[test]
    fn only_the_late_expire() {
        let mut tickets = Tickets::default();
        tickets.issue(Owner::Waiter('a'), 5, false);
        let slow = tickets.issue(Owner::Waiter('b'), 9, false);
        tickets.issue(Owner::Auth, 1, false);
        assert_eq!(Some(5), tickets.next_deadline());
        assert_eq!(vec!['a'], tickets.expired(5));
        assert_eq!(Some(9), tickets.next_deadline());
        tickets.take(slow);
        assert_eq!(None, tickets.next_deadline());
    }
}
