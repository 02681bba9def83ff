//! One thread of load: one epoll, many connections, three phases.

mod time;

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, CreateFlags, Event, EventFlags};
use rustix::io::Errno;

use self::time::Clock;
use crate::connection::{Connection, Exchange, Next, State};
use crate::judge::{Judge, Phase};
use crate::pace::{Pace, Schedule};
use crate::plan::Plan;
use crate::run::{Progress, Share};
use crate::socket::{self, Broken, Received};
use crate::tally::Fault;
use crate::usage::{Cpu, now};

const RETRY: u64 = 10_000_000;
const RECEIVE: usize = 256 * 1024;

/// One thread's engine.
pub struct Engine<'p> {
    judge: Judge<'p>,
    clock: Clock,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    schedule: Option<Schedule>,
    // Open loop: connections with room for a request, longest waiting first.
    idle: VecDeque<usize>,
    waiting: Vec<usize>,
    received: Vec<u8>,
    outgoing: Vec<u8>,
    share: Share,
}

impl<'p> Engine<'p> {
    /// Prepares `connections` of the plan's connections; the run starts at once.
    pub fn new(plan: &'p Plan, connections: std::ops::Range<usize>) -> io::Result<Self> {
        let start = now();
        let clock = Clock::new(start, plan);
        let schedule = match plan.pace.share(plan.threads) {
            Pace::Closed => None,
            Pace::Open { rate } => Some(Schedule::new(start, clock.end, rate)),
        };
        Ok(Self {
            judge: Judge::new(plan, clock.measure),
            clock,
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            waiting: (0..connections.len()).rev().collect(),
            connections: connections.map(|number| Connection::new(plan, number)).collect(),
            schedule,
            idle: VecDeque::new(),
            received: vec![0; RECEIVE],
            outgoing: Vec::new(),
            share: Share::new(plan),
        })
    }

    /// Runs to the end; `progress` hears of every second.
    pub fn run(mut self, mut progress: impl FnMut(Progress)) -> io::Result<Share> {
        // The default slack of 50 us would make every scheduled request late.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events: Vec<Event> = Vec::with_capacity(1024);
        let mut cpu = Cpu::of_this_thread();
        self.judge.now = now();
        loop {
            self.pass_time(&mut cpu, &mut progress);
            self.open_waiting();
            self.dispatch();
            if self.is_finished() {
                break;
            }
            let timeout = self.timeout();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.judge.now = now();
            for event in events.drain(..) {
                self.handle(event);
            }
        }
        Ok(self.finish())
    }

    fn handle(&mut self, event: Event) {
        let token = event.data.u64();
        let (index, generation) = ((token & 0xffff_ffff) as usize, token >> 32);
        let connection = &self.connections[index];
        if u64::from(connection.generation) != generation {
            return;
        }
        let flags = event.flags;
        if let State::Connecting(_) = connection.state {
            self.connected(index);
            return;
        }
        if flags.contains(EventFlags::OUT) && !connection.output.is_empty() {
            self.transmit(index);
        }
        if flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
        {
            self.receive(index, generation, flags);
        }
    }

    fn connected(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else { return };
        if !socket::is_connected(socket) {
            self.fail(index, Fault::Connect);
            return;
        }
        connection.state = State::Open;
        self.share.opened += 1;
        self.ready(index);
    }

    // Edge-triggered: read until nothing is left, which a short read proves unless the peer closed.
    fn receive(&mut self, index: usize, generation: u64, flags: EventFlags) {
        let closing = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        loop {
            let connection = &mut self.connections[index];
            let Some(socket) = &connection.socket else { return };
            if u64::from(connection.generation) != generation {
                return;
            }
            match socket::receive(socket, &mut self.received) {
                Received::Bytes(len) => {
                    self.judge.now = now();
                    match connection.consume(&self.received[..len], &mut self.judge) {
                        Ok(Next::Keep) if closing => {}
                        Ok(Next::Keep) => self.ready(index),
                        Ok(Next::Close) => self.closed(index),
                        Err(fault) => self.fail(index, fault),
                    }
                    if len < self.received.len() && !closing {
                        return;
                    }
                }
                Received::Blocked => return,
                Received::Closed => {
                    connection.finish(&mut self.judge);
                    return self.closed(index);
                }
                Received::Broken => return self.fail(index, Fault::Reset),
            }
        }
    }

    // The connection may take requests: a closed loop sends its next round, an open one queues it.
    fn ready(&mut self, index: usize) {
        let plan = self.judge.plan;
        let connection = &mut self.connections[index];
        if self.schedule.is_some() {
            if !connection.queued && connection.exchanges.len() < plan.depth {
                connection.queued = true;
                self.idle.push_back(index);
            }
        } else if connection.exchanges.is_empty() && self.judge.phase != Phase::Drain {
            let sent = self.judge.now;
            for _ in 0..plan.depth {
                let step = connection.visitor.request(plan, &mut self.outgoing);
                connection.exchanges.push_back(Exchange { intended: sent, sent, step });
            }
            self.transmit(index);
        }
    }

    // Open loop: hands out every request that is due, then writes once per connection.
    fn dispatch(&mut self) {
        let Some(schedule) = &mut self.schedule else { return };
        let plan = self.judge.plan;
        let mut dirty = Vec::new();
        while let Some(&index) = self.idle.front() {
            let connection = &mut self.connections[index];
            if connection.state != State::Open || !connection.queued {
                self.idle.pop_front();
                continue;
            }
            let Some(intended) = schedule.take(self.judge.now) else { break };
            self.idle.pop_front();
            let sent = self.judge.now;
            self.share.lag.saturating_record(sent - intended);
            let step = connection.visitor.request(plan, &mut connection.output);
            connection.exchanges.push_back(Exchange { intended, sent, step });
            dirty.push(index);
            connection.queued = connection.exchanges.len() < plan.depth;
            if connection.queued {
                self.idle.push_back(index);
            }
        }
        dirty.sort_unstable();
        dirty.dedup();
        for index in dirty {
            self.transmit(index);
        }
    }

    // Sends what is left over and then `outgoing`; keeps what the system does not take.
    fn transmit(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(socket) = &connection.socket else {
            self.outgoing.clear();
            return;
        };
        let result = if connection.output.is_empty() {
            let result = socket::transmit(socket, &self.outgoing);
            if let Ok(sent) = result {
                connection.output.extend_from_slice(&self.outgoing[sent..]);
            }
            result
        } else {
            connection.output.extend_from_slice(&self.outgoing);
            let result = socket::transmit(socket, &connection.output);
            if let Ok(sent) = result {
                connection.output.drain(..sent);
            }
            result
        };
        self.outgoing.clear();
        match result {
            Ok(sent) => self.judge.transmitted(sent),
            Err(Broken) => self.fail(index, Fault::Reset),
        }
    }

    // The peer closed between answers or after the last one it wanted to give.
    fn closed(&mut self, index: usize) {
        let lost = self.connections[index].close();
        if lost > 0 {
            self.judge.fault(Fault::Short, lost);
            self.restart_flow(index);
        }
        self.reopen(index, self.judge.now);
    }

    fn fail(&mut self, index: usize, fault: Fault) {
        let connection = &mut self.connections[index];
        let was_open = connection.state == State::Open;
        let lost = connection.close();
        self.judge.fault(fault, lost.max(u64::from(!was_open || fault == Fault::Parse)));
        self.restart_flow(index);
        let pause = if was_open { 0 } else { RETRY };
        self.reopen(index, self.judge.now + pause);
    }

    fn restart_flow(&mut self, index: usize) {
        if self.judge.plan.is_flow() {
            self.connections[index].visitor.restart();
        }
    }

    fn reopen(&mut self, index: usize, at: u64) {
        self.connections[index].state = State::Waiting(at);
        self.waiting.push(index);
    }

    fn open_waiting(&mut self) {
        let over = self.judge.phase == Phase::Drain && self.schedule.is_none();
        let mut still = Vec::new();
        while let Some(index) = self.waiting.pop() {
            let connection = &mut self.connections[index];
            if over || matches!(connection.state, State::Waiting(at) if at > self.judge.now) {
                still.push(index);
                continue;
            }
            let token = u64::from(connection.generation) << 32 | index as u64;
            let address = &self.judge.plan.target.address;
            if let Ok(socket) = socket::open(address, &self.epoll, token) {
                connection.socket = Some(socket);
                connection.state = State::Connecting(self.judge.now);
            } else {
                self.judge.fault(Fault::Connect, 1);
                connection.state = State::Waiting(self.judge.now + RETRY);
                still.push(index);
            }
        }
        self.waiting = still;
    }
}
