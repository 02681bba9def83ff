//! A scripted Tarantool and a link to it: the test plays the server, packet by packet.
//!
//! It listens on a unix socket: what is sent there has arrived when `send` returns.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use iproto::{Framed, msgpack, query};
use peers::tarantool::{Admission, Config, Link, State};
use peers::{Connection, Failure, Reply, Step};
use reactor::{Address, Budget, Io, Key, Millis};

use super::wire::{OK, PING, Packet, VERSION, greeting, packet, reply};
use super::{Hub, Waiter, Watch, free_name, hub, readable, turn};

const FOREVER: Millis = Millis::MAX;

/// What became of a query.
#[derive(Debug)]
pub enum Outcome {
    Reply(Reply),
    Failed(Failure),
}

pub fn config(address: Address) -> Config {
    Config {
        addresses: vec![address],
        user: None,
        password: String::new(),
        in_flight: 512,
        connect_timeout: 10_000,
        reconnect_min: 1,
        reconnect_max: 5,
        fail_fast: false,
        max_packet: 1 << 20,
    }
}

/// The link, its driver, and the server as the test plays it.
pub struct Store {
    pub hub: Hub,
    pub key: Key,
    listener: UnixListener,
    path: PathBuf,
    pub socket: Option<UnixStream>,
    received: Vec<u8>,
    /// Packets that the test has not looked at.
    pub packets: Vec<Packet>,
    pub outcomes: Vec<(Waiter, Outcome)>,
    /// Who was told to encode, in that order.
    pub encoded: Vec<Waiter>,
    pub deadlines: HashMap<Waiter, Millis>,
    /// Bytes that each query carries.
    pub weight: usize,
}

impl Store {
    pub fn new(change: impl FnOnce(&mut Config)) -> Self {
        let path = std::env::temp_dir().join(free_name());
        let listener = UnixListener::bind(&path).expect("a free name");
        listener.set_nonblocking(true).expect("a socket");
        let mut config = config(Address::Unix(path.clone()));
        change(&mut config);
        let mut hub = hub(Budget::default());
        let key = hub.insert(Connection::Tarantool(Box::new(Link::new(config, 1))));
        Self {
            hub,
            key,
            listener,
            path,
            socket: None,
            received: Vec::new(),
            packets: Vec::new(),
            outcomes: Vec::new(),
            encoded: Vec::new(),
            deadlines: HashMap::new(),
            weight: 0,
        }
    }

    /// A store whose link is ready for queries.
    pub fn ready(change: impl FnOnce(&mut Config)) -> Self {
        let mut store = Self::new(change);
        store.open(0);
        store.come_up();
        assert!(matches!(store.outcomes[..], [(0, Outcome::Reply(_))]), "{:?}", store.outcomes);
        store.outcomes.clear();
        store.encoded.clear();
        store
    }

    pub fn link<R>(
        &mut self,
        act: impl FnOnce(&mut Link<Waiter>, &mut Io<'_, Step<Waiter>>) -> R,
    ) -> R {
        let act = |peer: &mut Connection<Waiter>, io: &mut Io<'_, Step<Waiter>>| {
            act(peer.link().expect("a link"), io)
        };
        self.hub.with(self.key, |peer, io, _| act(peer, io)).expect("the link is there")
    }

    pub fn state(&mut self) -> State {
        self.link(|link, _| link.state())
    }

    /// Send a query, with so much patience.
    pub fn query(&mut self, waiter: Waiter, patience: Option<Millis>) {
        let now = self.hub.update_time();
        self.deadlines.insert(waiter, patience.map_or(FOREVER, |patience| now + patience));
        self.admit(waiter, false);
        self.hub.end_turn();
    }

    /// Ask to be told when the connection is open, or could not be opened.
    pub fn open(&mut self, waiter: Waiter) {
        self.deadlines.insert(waiter, FOREVER);
        self.admit(waiter, true);
        self.hub.end_turn();
    }

    fn admit(&mut self, waiter: Waiter, opener: bool) {
        let Self { hub, key, deadlines, outcomes, encoded, weight, .. } = self;
        admit(
            hub,
            *key,
            waiter,
            opener,
            &mut Driver { deadlines, outcomes, encoded, weight: *weight },
        );
    }

    pub fn turn(&mut self) {
        let Self { hub, key, deadlines, outcomes, encoded, weight, .. } = self;
        let key = *key;
        let mut driver = Driver { deadlines, outcomes, encoded, weight: *weight };
        turn(hub, |hub, _, step| match step {
            Step::Encode { waiter } => encode(hub, key, waiter, &mut driver),
            Step::Reply { waiter, reply } => driver.outcomes.push((waiter, Outcome::Reply(reply))),
            Step::Failed { waiter, failure } => {
                driver.outcomes.push((waiter, Outcome::Failed(failure)));
            }
            _ => panic!("a step of an HTTP connection"),
        });
        self.take();
    }

    /// Turns until the descriptor asks for no more.
    pub fn settle(&mut self) {
        self.hub.end_turn();
        let watch = Watch::start();
        while readable(&self.hub, 0) {
            watch.check("quiet");
            self.turn();
        }
        self.take();
    }

    #[track_caller]
    pub fn until(&mut self, what: &str, done: impl Fn(&mut Self) -> bool) {
        self.hub.end_turn();
        let watch = Watch::start();
        while !done(self) {
            watch.check(what);
            if readable(&self.hub, 20) {
                self.turn();
            }
            self.take();
        }
    }

    /// Turns until these have an outcome; takes all there are.
    #[track_caller]
    pub fn outcomes(&mut self, count: usize) -> Vec<(Waiter, Outcome)> {
        self.until("the outcomes", |store| store.outcomes.len() >= count);
        std::mem::take(&mut self.outcomes)
    }

    /// The only outcome there is, which is a failure.
    #[track_caller]
    pub fn failure(&mut self) -> Failure {
        let mut outcomes = self.outcomes(1);
        assert_eq!(1, outcomes.len(), "{outcomes:?}");
        match outcomes.remove(0).1 {
            Outcome::Failed(failure) => failure,
            Outcome::Reply(reply) => panic!("{reply:?}"),
        }
    }

    /// Wait for the link to connect.
    #[track_caller]
    pub fn accept(&mut self) {
        let watch = Watch::start();
        self.received.clear();
        self.packets.clear();
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    socket.set_nonblocking(true).expect("a socket");
                    self.socket = Some(socket);
                    return;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            watch.check("a connection");
            if readable(&self.hub, 10) {
                self.turn();
            }
        }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.socket.as_mut().expect("accepted").write_all(bytes).expect("the kernel has room");
        self.settle();
    }

    /// Close the server's end.
    pub fn hang_up(&mut self) {
        self.socket = None;
        self.settle();
    }

    pub fn greet(&mut self) {
        self.send(&greeting());
    }

    /// Everything from the connection to the schema.
    #[track_caller]
    pub fn come_up(&mut self) {
        self.accept();
        self.greet();
        self.describe(VERSION);
        self.until("a link that is ready", |store| store.state() == State::Ready);
        self.settle();
    }

    /// Answer the two selects of a fetch of the schema.
    #[track_caller]
    pub fn describe(&mut self, version: u64) {
        self.until("a fetch", |store| store.fetches() >= 1);
        for space in [281, 289] {
            let place = self.packets.iter().position(|packet| packet.space == Some(space));
            let packet = self.packets.remove(place.expect("both are asked for"));
            self.reply(packet.sync, version, OK);
        }
    }

    /// Fetches of the schema that nobody has answered.
    pub fn fetches(&self) -> usize {
        self.packets.iter().filter(|packet| packet.space == Some(289)).count()
    }

    /// The syncs of queries that nobody has answered; the test owns them now.
    pub fn pings(&mut self) -> Vec<u64> {
        self.settle();
        let (pings, rest) = self.packets.drain(..).partition(|packet| packet.code == PING);
        self.packets = rest;
        let pings: Vec<Packet> = pings;
        pings.iter().map(|packet| packet.sync).collect()
    }

    pub fn reply(&mut self, sync: u64, version: u64, code: u32) {
        self.send(&reply(sync, version, code));
    }

    /// Read what the link has sent.
    pub fn take(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let mut buffer = vec![0; 256 * 1024];
        while let Ok(count @ 1..) = socket.read(&mut buffer) {
            self.received.extend_from_slice(&buffer[..count]);
        }
        self.parse();
    }

    fn parse(&mut self) {
        let mut start = 0;
        while let Ok(Framed::Complete { len, prefix }) =
            iproto::frame(&self.received[start..], 1 << 30)
        {
            self.packets.push(packet(&self.received[start + prefix..start + len]));
            start += len;
        }
        self.received.drain(..start);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // A socket that is left behind harms nobody.
        let _ = std::fs::remove_file(&self.path);
    }
}

struct Driver<'a> {
    deadlines: &'a HashMap<Waiter, Millis>,
    outcomes: &'a mut Vec<(Waiter, Outcome)>,
    encoded: &'a mut Vec<Waiter>,
    weight: usize,
}

fn admit(hub: &mut Hub, key: Key, waiter: Waiter, opener: bool, driver: &mut Driver<'_>) {
    let deadline = driver.deadlines[&waiter];
    let admission = hub
        .with(key, |peer, io, _| peer.link().expect("a link").admit(waiter, deadline, opener, io));
    match admission.expect("the link is there") {
        Admission::Now(waiter) => encode(hub, key, waiter, driver),
        Admission::Parked => {}
        Admission::Connect(address) => hub.connect(key, &address),
        Admission::Refused(waiter, failure) => {
            driver.outcomes.push((waiter, Outcome::Failed(failure)));
        }
    }
}

fn encode(hub: &mut Hub, key: Key, waiter: Waiter, driver: &mut Driver<'_>) {
    driver.encoded.push(waiter);
    let deadline = driver.deadlines[&waiter];
    let weight = driver.weight;
    let sent = hub.with(key, |peer, io, _| {
        let link = peer.link().expect("a link");
        if waiter == 0 {
            // The opener has nothing to send.
            link.give_up(io);
            return Some(Ok(0));
        }
        Some(link.send(waiter, deadline, true, io, |out, header| {
            if weight > 0 {
                let mut arguments = Vec::new();
                msgpack::array(&mut arguments, 1);
                msgpack::bin(&mut arguments, &vec![0; weight]);
                query::call(out, header, "f", &arguments);
            } else {
                query::ping(out, header);
            }
        }))
    });
    match sent.flatten().expect("the link is there") {
        Ok(0) => driver.outcomes.push((waiter, Outcome::Reply(Reply::default()))),
        Ok(_) => {}
        Err(waiter) => admit(hub, key, waiter, false, driver),
    }
}
