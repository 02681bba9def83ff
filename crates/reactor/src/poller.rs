//! The three kernel objects of a reactor: epoll, a timer descriptor and a wake-up descriptor.

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::peer::Millis;

const TIMER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
const BATCH: usize = 256;

/// What one look at the descriptors found, besides the sockets' own events.
pub(crate) struct Found {
    pub(crate) timer: bool,
}

pub(crate) struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
    wake: OwnedFd,
    events: Vec<epoll::Event>,
    armed: Option<Millis>,
    woken: bool,
}

impl Poller {
    pub(crate) fn new() -> Result<Self, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC,
        )?;
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Self {
            epoll,
            timer,
            wake,
            events: Vec::with_capacity(BATCH),
            armed: None,
            woken: false,
        })
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    pub(crate) fn add(&self, fd: &OwnedFd, token: u64, interest: u32) -> Result<(), Errno> {
        epoll::add(
            &self.epoll,
            fd,
            EventData::new_u64(token),
            EventFlags::from_bits_retain(interest),
        )
    }

    pub(crate) fn modify(&self, fd: &OwnedFd, token: u64, interest: u32) -> Result<(), Errno> {
        let flags = EventFlags::from_bits_retain(interest);
        epoll::modify(&self.epoll, fd, EventData::new_u64(token), flags)
    }

    pub(crate) fn delete(&self, fd: &OwnedFd) {
        // The descriptor closes right after; a failure here changes nothing.
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Look once, without waiting, and tell each socket's token and flags.
    pub(crate) fn poll(&mut self, mut seen: impl FnMut(u64, u32)) -> Result<Found, Errno> {
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, Some(&Timespec::default())) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Found { timer: false }),
            Err(error) => return Err(error),
        }
        let mut found = Found { timer: false };
        for event in &self.events {
            // Copied: the kernel's structure is packed.
            let (data, flags) = (event.data, event.flags);
            match data.u64() {
                TIMER => found.timer = true,
                WAKE => {}
                token => seen(token, flags.bits()),
            }
        }
        if found.timer {
            self.armed = None;
            drain(&self.timer);
        }
        if self.woken {
            self.woken = false;
            drain(&self.wake);
        }
        Ok(found)
    }

    /// Make the descriptor readable until the next look.
    pub(crate) fn wake(&mut self) {
        if !self.woken {
            self.woken = true;
            // The counter cannot overflow: it is drained before it is raised again.
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }

    /// Make the descriptor readable at `deadline`, given the present time.
    pub(crate) fn arm(&mut self, deadline: Option<Millis>, now: Millis) {
        if self.armed == deadline {
            return;
        }
        // Zero would disarm: a passed deadline fires as soon as possible.
        let wait = deadline.map_or(0, |at| at.saturating_sub(now).max(1));
        let value = Timespec {
            tv_sec: i64::try_from(wait / 1000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(wait % 1000 * 1_000_000).unwrap_or(0),
        };
        let spec = Itimerspec { it_interval: Timespec::default(), it_value: value };
        if timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec).is_ok() {
            self.armed = deadline;
        }
    }
}

fn drain(fd: &OwnedFd) {
    let mut count = [0_u8; 8];
    // Nothing to read means nothing to drain.
    let _ = rustix::io::read(fd, &mut count);
}
