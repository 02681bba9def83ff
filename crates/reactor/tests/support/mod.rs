//! A protocol of lines, a driver that answers them, and a descriptor that is really waited for.
//!
//! The clients come by unix sockets: what is sent there has arrived when `send` returns, which
//! TCP promises nowhere, not even on one machine.

#![allow(dead_code, reason = "every test binary uses its part")]

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use reactor::{Address, Advance, Budget, CloseReason, Cover, Fate, Io, Key, Millis, Peer, Reactor};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::AsFd;
use rustix::time::Timespec;

/// Makes a cover for a peer.
pub type MakeCover = fn() -> Box<dyn Cover>;

/// What all line peers share, and what they report.
pub struct World {
    /// Lines that one peer may hand out before they are answered.
    pub in_flight: usize,
    pub high_water: usize,
    pub write_timeout: Millis,
    /// Close a peer that was silent for so long.
    pub idle: Option<Millis>,
    /// Write a line's answer in `advance` itself and hand out nothing.
    pub echo: bool,
    /// Report that nothing is owed any more.
    pub settles: bool,
    pub fate: Fate,
    pub accepts: bool,
    /// What every peer wears from the start.
    pub cover: Option<MakeCover>,
    /// What a peer puts on when this line comes.
    pub cover_after: Option<(MakeCover, &'static str)>,
    pub covered: Vec<Key>,
    pub opened: Vec<Key>,
    pub closed: Vec<(Key, CloseReason)>,
    pub timers: Vec<Millis>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            in_flight: usize::MAX,
            high_water: usize::MAX,
            write_timeout: 60_000,
            idle: None,
            echo: false,
            settles: false,
            fate: Fate::Remove,
            accepts: true,
            cover: None,
            cover_after: None,
            covered: Vec::new(),
            opened: Vec::new(),
            closed: Vec::new(),
            timers: Vec::new(),
        }
    }
}

/// Hands out lines. `bye` closes, `no` refuses.
#[derive(Default)]
pub struct Lines {
    pub owed: usize,
}

impl Peer for Lines {
    type Step = String;
    type Shared = World;

    fn accepted(_: u32, _: &Address, world: &mut World) -> Option<Self> {
        world.accepts.then(Self::default)
    }

    fn opened(&mut self, io: &mut Io<'_, String>, world: &mut World) -> Advance<String> {
        world.opened.push(io.key);
        io.set_deadline(world.idle.map(|idle| io.now + idle));
        match world.cover {
            Some(cover) => Advance::Cover(cover()),
            None => Advance::Starved,
        }
    }

    fn covered(&mut self, io: &mut Io<'_, String>, world: &mut World) {
        world.covered.push(io.key);
    }

    fn advance(&mut self, io: &mut Io<'_, String>, world: &mut World) -> Advance<String> {
        loop {
            if self.owed >= world.in_flight {
                return Advance::Held;
            }
            let Some(end) = io.input().iter().position(|&byte| byte == b'\n') else {
                return match (io.ended, world.settles) {
                    (true, _) if self.owed == 0 => Advance::Close(CloseReason::Finished),
                    (false, true) => Advance::Settled,
                    _ => Advance::Starved,
                };
            };
            let line = String::from_utf8_lossy(&io.input()[..end]).into_owned();
            io.consume(end + 1);
            io.set_deadline(world.idle.map(|idle| io.now + idle));
            match line.as_str() {
                plain if world.cover_after.is_some_and(|(_, last)| last.trim_end() == plain) => {
                    let (cover, _) = world.cover_after.expect("just seen");
                    return Advance::Cover(cover());
                }
                "bye" => return Advance::Close(CloseReason::Finished),
                "no" => {
                    io.output.extend_from_slice(b"refused\n");
                    return Advance::Close(CloseReason::Refused);
                }
                _ if world.echo => io.output.extend_from_slice(format!("{line}\n").as_bytes()),
                _ => {
                    self.owed += 1;
                    return Advance::Step(line);
                }
            }
        }
    }

    fn timer(&mut self, io: &mut Io<'_, String>, world: &mut World) -> Advance<String> {
        world.timers.push(io.now);
        Advance::Close(CloseReason::TimedOut)
    }

    fn closed(&mut self, reason: CloseReason, io: &mut Io<'_, String>, world: &mut World) -> Fate {
        world.closed.push((io.key, reason));
        world.fate
    }

    fn write_timeout(&self, world: &World) -> Millis {
        world.write_timeout
    }

    fn high_water(&self, world: &World) -> usize {
        world.high_water
    }
}

/// A reactor with a listener, driven as an event loop would drive it.
pub struct Rig {
    pub reactor: Reactor<Lines>,
    pub listener: Key,
    pub address: SocketAddr,
}

/// A name in the abstract namespace, which no other test has.
fn free_name() -> SocketAddr {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("reactor-test-{}-{count}", std::process::id());
    SocketAddr::from_abstract_name(name).expect("a short name")
}

/// A test that waits longer than this has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

impl Rig {
    pub fn new(world: World) -> Self {
        Self::with_budget(world, Budget::default())
    }

    pub fn with_budget(world: World, budget: Budget) -> Self {
        let address = free_name();
        let listener = UnixListener::bind_addr(&address).expect("a free name");
        listener.set_nonblocking(true).expect("a socket");
        let mut reactor = Reactor::new(world, budget).expect("descriptors");
        let listener = reactor.listen(listener.into(), 7).expect("room for a listener");
        Self { reactor, listener, address }
    }

    /// A client whose connection the reactor has accepted.
    pub fn client(&mut self) -> (UnixStream, Key) {
        let known = self.reactor.shared.opened.len();
        let client = UnixStream::connect_addr(&self.address).expect("the listener listens");
        client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        self.until(|rig| rig.reactor.shared.opened.len() > known);
        (client, self.reactor.shared.opened[known])
    }

    /// Is the one descriptor readable within so many milliseconds?
    pub fn readable(&self, within: i64) -> bool {
        let fd = self.reactor.as_fd();
        let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
        let timeout = Timespec { tv_sec: within / 1000, tv_nsec: within % 1000 * 1_000_000 };
        poll(&mut fds, Some(&timeout)).expect("poll") == 1
    }

    /// One turn: every step goes to `act`.
    pub fn turn_with(&mut self, mut act: impl FnMut(&mut Reactor<Lines>, Key, String)) {
        self.reactor.poll().expect("poll");
        while let Some((key, line)) = self.reactor.next() {
            act(&mut self.reactor, key, line);
        }
        self.reactor.end_turn();
    }

    /// One turn that answers every line with itself.
    pub fn turn(&mut self) {
        self.turn_with(|reactor, key, line| {
            answer(reactor, key, &line);
        });
    }

    /// Turns, each when the descriptor asks for it, until something has come about.
    pub fn until(&mut self, done: impl Fn(&Self) -> bool) {
        self.until_with(done, |reactor, key, line| {
            answer(reactor, key, &line);
        });
    }

    pub fn until_with(
        &mut self,
        done: impl Fn(&Self) -> bool,
        mut act: impl FnMut(&mut Reactor<Lines>, Key, String),
    ) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < PATIENCE, "it did not come about");
            if self.readable(100) {
                self.turn_with(&mut act);
            }
        }
    }

    /// Why this peer was closed, if it was.
    pub fn end_of(&self, key: Key) -> Option<CloseReason> {
        self.reactor.shared.closed.iter().find(|(closed, _)| *closed == key).map(|(_, why)| *why)
    }
}

/// Answer a line; tells whether the peer was still there.
pub fn answer(reactor: &mut Reactor<Lines>, key: Key, line: &str) -> bool {
    let ended = reactor.with(key, |peer, io, _| {
        io.output.extend_from_slice(line.as_bytes());
        io.output.push(b'\n');
        peer.owed -= 1;
        io.ended && peer.owed == 0
    });
    if ended == Some(true) {
        reactor.close(key, CloseReason::Finished);
    }
    ended.is_some()
}

pub fn send(client: &mut impl Write, bytes: &[u8]) {
    client.write_all(bytes).expect("the server reads");
}

/// Read exactly so much.
pub fn receive(client: &mut impl Read, count: usize) -> String {
    let mut bytes = vec![0; count];
    client.read_exact(&mut bytes).expect("the server answers");
    String::from_utf8(bytes).expect("text")
}

/// Is there nothing to read right now?
pub fn is_silent(client: &UnixStream) -> bool {
    rustix::io::ioctl_fionread(client).expect("a socket") == 0
}
