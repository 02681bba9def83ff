//! Queries that wait to be sent: for room, for a connection, or for a newer schema.

use std::collections::VecDeque;

use reactor::Millis;

/// A query that is not on the wire.
#[derive(Debug)]
pub(super) struct Parked<W> {
    pub(super) waiter: W,
    /// When it is given up, in any case.
    pub(super) deadline: Millis,
    /// How long it waits for a connection; as long as it takes while there is one.
    pub(super) patience: Millis,
    /// It wants to know about the first failure to connect instead of waiting for a success.
    pub(super) opener: bool,
}

impl<W> Parked<W> {
    fn due(&self) -> Millis {
        self.deadline.min(self.patience)
    }
}

/// A query that waits for the schema to be read again.
#[derive(Debug)]
struct Reread<W> {
    waiter: W,
    deadline: Millis,
    /// The number of the fetch that it waits for.
    fetch: u64,
}

/// All who wait, in the order in which they will be sent.
#[derive(Debug)]
pub(super) struct Waiting<W> {
    parked: VecDeque<Parked<W>>,
    reread: Vec<Reread<W>>,
}

impl<W> Default for Waiting<W> {
    fn default() -> Self {
        Self { parked: VecDeque::new(), reread: Vec::new() }
    }
}

impl<W> Waiting<W> {
    pub(super) fn len(&self) -> usize {
        self.parked.len() + self.reread.len()
    }

    /// Nobody waits for room or for a connection.
    #[inline]
    pub(super) fn nobody_is_parked(&self) -> bool {
        self.parked.is_empty()
    }

    pub(super) fn park(&mut self, parked: Parked<W>) {
        self.parked.push_back(parked);
    }

    /// The next that may be sent.
    pub(super) fn next(&mut self) -> Option<Parked<W>> {
        self.parked.pop_front()
    }

    /// Wait until the fetch of this number is done.
    pub(super) fn park_for_schema(&mut self, waiter: W, deadline: Millis, fetch: u64) {
        self.reread.push(Reread { waiter, deadline, fetch });
    }

    /// A fetch is done: who waited for it, or for an earlier one, goes first of all.
    /// Tells whether somebody waits for another fetch.
    pub(super) fn fetched(&mut self, fetch: u64) -> bool {
        let (ready, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.reread).into_iter().partition(|one| one.fetch <= fetch);
        self.reread = later;
        for Reread { waiter, deadline, .. } in ready.into_iter().rev() {
            let patience = Millis::MAX;
            self.parked.push_front(Parked { waiter, deadline, patience, opener: false });
        }
        !self.reread.is_empty()
    }

    /// There is a connection: nobody waits for one any more.
    pub(super) fn connected(&mut self) {
        for parked in &mut self.parked {
            parked.patience = Millis::MAX;
        }
    }

    /// There is none: who wants one waits for it until `patience`, or as long as before.
    pub(super) fn disconnected(&mut self, patience: Millis) {
        for parked in self.parked.iter_mut().filter(|parked| !parked.opener) {
            parked.patience = parked.patience.min(patience);
        }
    }

    /// Take out those who have waited too long.
    pub(super) fn expired(&mut self, now: Millis) -> Vec<W> {
        let late = self.take_parked(|parked| parked.due() <= now);
        let (overdue, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.reread).into_iter().partition(|one| one.deadline <= now);
        self.reread = rest;
        late.into_iter().chain(overdue.into_iter().map(|one| one.waiter)).collect()
    }

    /// Take out those that `which` picks; the others keep their order.
    pub(super) fn take_parked(&mut self, which: impl Fn(&Parked<W>) -> bool) -> Vec<W> {
        let mut taken = Vec::new();
        for _ in 0..self.parked.len() {
            let Some(parked) = self.parked.pop_front() else { break };
            if which(&parked) {
                taken.push(parked.waiter);
            } else {
                self.parked.push_back(parked);
            }
        }
        taken
    }

    /// Take out those who wait for the schema.
    pub(super) fn take_reread(&mut self) -> Vec<W> {
        std::mem::take(&mut self.reread).into_iter().map(|one| one.waiter).collect()
    }

    /// When the first of them has waited too long.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        let parked = self.parked.iter().map(Parked::due);
        let reread = self.reread.iter().map(|one| one.deadline);
        parked.chain(reread).min()
    }
}
