//! A small site: it remembers what came, and answers at once or when it is told to.
//!
//! The clients come by unix sockets: what is sent there has arrived when `send` returns.

use std::io::{ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use http1::{Answer, Limits, Payload, Prelude};
use peers::{Exchange, News, RequestData, Router, Server, Step, Timeouts};
use reactor::{Budget, Key};

use super::{Hub, Watch, free_name, hub, readable, turn};

/// One request as it was handed out.
pub struct Seen {
    pub exchange: Exchange,
    pub data: Box<RequestData>,
}

impl Seen {
    pub fn path(&self) -> String {
        String::from_utf8_lossy(self.data.head.path.of(&self.data.bytes)).into_owned()
    }
}

/// A step that is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Readable(u64),
    Writable(u64),
    Gone(u64),
}

/// A server on a reactor, and its driver.
pub struct Site {
    pub hub: Hub,
    pub listener: Key,
    pub address: SocketAddr,
    /// All requests so far.
    pub seen: Vec<Seen>,
    /// What the connections told of exchanges that stream.
    pub told: Vec<Told>,
    /// What happened to WebSockets.
    pub sockets: Vec<News>,
    /// Answer each request as it comes; else only by `answer`.
    pub prompt: bool,
}

pub fn server() -> Server {
    let mut router = Router::default();
    for (route, (method, path)) in (0..).zip([("GET", "/"), ("POST", "/"), ("GET", "/{x}")]) {
        router.add(method, path, route).expect("a good pattern");
    }
    Server {
        router,
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        in_flight: 64,
        queued_bytes: 256 * 1024,
        most_connections: 1000,
        prelude: Prelude::new(None, false),
        body_window: 16 * 1024,
        streamed_routes: Vec::new(),
        streams_fallback: false,
        has_fallback: true,
        tls: None,
        proxy_protocol: false,
        connections: 0,
        running: 0,
        draining: false,
        observer: None,
    }
}

impl Site {
    pub fn new(change: impl FnOnce(&mut Server)) -> Self {
        let mut server = server();
        change(&mut server);
        let mut hub = hub(Budget::default());
        let tag = hub.shared.add_server(server);
        let address = SocketAddr::from_abstract_name(free_name()).expect("a short name");
        let listener = UnixListener::bind_addr(&address).expect("a free name");
        listener.set_nonblocking(true).expect("a socket");
        let listener = hub.listen(listener.into(), tag).expect("room");
        let (seen, told, sockets) = (Vec::new(), Vec::new(), Vec::new());
        Self { hub, listener, address, seen, told, sockets, prompt: true }
    }

    /// As `new`, but requests wait for `answer`.
    pub fn slow(change: impl FnOnce(&mut Server)) -> Self {
        Self { prompt: false, ..Self::new(change) }
    }

    pub fn client(&mut self) -> Client {
        let accepts = self.hub.stats().accepts;
        let socket = UnixStream::connect_addr(&self.address).expect("the listener listens");
        socket.set_nonblocking(true).expect("a socket");
        self.until("an accept", |site| site.hub.stats().accepts > accepts);
        Client { socket, text: String::new(), ended: false }
    }

    pub fn server(&mut self) -> &mut Server {
        self.hub.shared.server(0).expect("it is there")
    }

    pub fn turn(&mut self) {
        let (seen, told, prompt) = (&mut self.seen, &mut self.told, self.prompt);
        let sockets = &mut self.sockets;
        turn(&mut self.hub, |hub, _, step| match step {
            Step::Request { exchange, data } => {
                seen.push(Seen { exchange, data });
                if prompt {
                    respond(hub, seen.last().expect("just pushed"));
                }
            }
            Step::Readable { exchange } => told.push(Told::Readable(exchange.number)),
            Step::Writable { exchange } => told.push(Told::Writable(exchange.number)),
            Step::Gone { exchange } => told.push(Told::Gone(exchange.number)),
            Step::Socket { news, .. } => sockets.push(news),
            _ => panic!("a step of a link"),
        });
    }

    /// Turns until the descriptor asks for no more; what was answered before leaves first.
    pub fn settle(&mut self) {
        self.hub.end_turn();
        let watch = Watch::start();
        while readable(&self.hub, 0) {
            watch.check("quiet");
            self.turn();
        }
    }

    pub fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        self.hub.end_turn();
        let watch = Watch::start();
        while !done(self) {
            watch.check(what);
            if readable(&self.hub, 50) {
                self.turn();
            }
        }
    }

    /// Answer the nth request of all; tells whether that was still owed.
    pub fn answer(&mut self, nth: usize) -> bool {
        respond(&mut self.hub, &self.seen[nth])
    }

    /// Send, and take turns until there is nothing to do.
    pub fn say(&mut self, client: &mut Client, text: &str) {
        client.send(text.as_bytes());
        self.settle();
        client.read();
    }

    /// Turns until the client has read so much.
    #[track_caller]
    pub fn expect(&mut self, client: &mut Client, part: &str) {
        self.hub.end_turn();
        let watch = Watch::start();
        while !client.text.contains(part) {
            assert!(!client.ended, "it ended with {:?}", client.text);
            watch.check(part);
            if readable(&self.hub, 10) {
                self.turn();
            }
            client.read();
        }
    }

    /// Turns until the connection is closed; tells all that the client has read.
    #[track_caller]
    pub fn end<'a>(&mut self, client: &'a mut Client) -> &'a str {
        self.hub.end_turn();
        let watch = Watch::start();
        while !client.ended {
            watch.check("the end");
            if readable(&self.hub, 10) {
                self.turn();
            }
            client.read();
        }
        &client.text
    }
}

/// `200` with the path and the body of the request.
pub fn respond(hub: &mut Hub, seen: &Seen) -> bool {
    let mut body = seen.path().into_bytes();
    body.extend_from_slice(&seen.data.body);
    respond_with(hub, seen.exchange, &body)
}

/// Answer and close when that was the last, as a driver does.
pub fn respond_with(hub: &mut Hub, exchange: Exchange, body: &[u8]) -> bool {
    let payload = Payload::Bytes(body);
    let answer = Answer { status: 200, content_type: None, fields: &[], payload };
    let outcome = hub.with(exchange.key, |peer, io, shared| {
        let connection = peer.http().expect("a client of the server");
        let taken = connection.answer(exchange.number, &answer, io, shared);
        (taken, connection.over())
    });
    let Some((taken, over)) = outcome else { return false };
    if let Some(reason) = over {
        hub.close(exchange.key, reason);
    }
    taken
}

/// The other end of a connection.
pub struct Client {
    pub socket: UnixStream,
    /// All that came.
    pub text: String,
    pub ended: bool,
}

impl Client {
    pub fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("the kernel has room");
    }

    /// Send to somebody who may have closed already.
    pub fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.socket.write_all(bytes).is_ok()
    }

    /// End this half of the connection.
    pub fn finish(&mut self) {
        // It may have been closed by the other side already.
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
    }

    /// Take what is there.
    pub fn read(&mut self) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => return self.ended = true,
                Ok(count) => self.text.push_str(&String::from_utf8_lossy(&buffer[..count])),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error} after {:?}", self.text),
            }
        }
    }

    /// The bodies of all answers so far, and their statuses where they are not 200.
    pub fn bodies(&self) -> Vec<String> {
        let mut rest = self.text.as_str();
        let mut bodies = Vec::new();
        while let Some((head, tail)) = rest.split_once("\r\n\r\n") {
            let field = |name| head.lines().find_map(|line| line.strip_prefix(name));
            let length =
                field("Content-Length: ").map_or(0, |length| length.parse().expect("digits"));
            let status = head.split(' ').nth(1).expect("a status");
            let body = &tail[..length];
            bodies.push(if status == "200" { body.into() } else { format!("{status} {body}") });
            rest = &tail[length..];
        }
        assert_eq!("", rest, "half an answer");
        bodies
    }
}

/// `GET` of a path.
pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
}

/// `POST /` with a body.
pub fn post(body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
