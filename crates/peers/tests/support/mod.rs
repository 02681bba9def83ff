//! A reactor that is turned when its descriptor asks for it, with a listener or a link on it.

#![allow(dead_code, reason = "every test binary uses its part")]

pub mod site;
pub mod store;
pub mod wire;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use peers::{Connection, Shared, Step};
use reactor::{Budget, Key, Reactor};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

/// A test that waits longer than this has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A name that no other test has.
pub fn free_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("peers-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whoever waits for a query: a number tells them apart.
pub type Waiter = u32;
pub type Hub = Reactor<Connection<Waiter>>;

pub fn hub(budget: Budget) -> Hub {
    Reactor::new(Shared::default(), budget).expect("descriptors")
}

/// Is the one descriptor readable within so many milliseconds?
pub fn readable(hub: &Hub, within: i64) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(hub.as_fd(), PollFlags::IN)];
    let timeout = Timespec { tv_sec: within / 1000, tv_nsec: within % 1000 * 1_000_000 };
    poll(&mut fds, Some(&timeout)).expect("poll") == 1
}

/// One turn: every step goes to `act`.
pub fn turn(hub: &mut Hub, mut act: impl FnMut(&mut Hub, Key, Step<Waiter>)) {
    hub.poll().expect("poll");
    while let Some((key, step)) = hub.next() {
        act(hub, key, step);
    }
    hub.end_turn();
}

/// Fails a test that has waited too long.
pub struct Watch(Instant);

impl Watch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    #[track_caller]
    pub fn check(&self, what: &str) {
        assert!(self.0.elapsed() < PATIENCE, "{what} did not come about");
    }
}
