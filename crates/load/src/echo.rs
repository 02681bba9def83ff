//! `WebSocket` echoes: each connection sends a message and waits until the same comes back.
//!
//! Every message differs from all before it, and every byte of its echo is compared.

use std::io;
use std::os::fd::OwnedFd;

use hdrhistogram::Histogram;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event as Ready, EventFlags};
use serde::Serialize;
use websocket::{Decoder, Event, Kind, Opcode, Role, encode_masked};

use crate::socket::{self, Received};
use crate::tally::histogram;
use crate::target::Target;
use crate::usage::{Cpu, now};

/// The key of every client: the server is to prove that it computes with it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
/// A server that opens a connection later than this has failed.
const OPENING_NANOSECONDS: u64 = 5_000_000_000;
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// How hard to press.
#[derive(Clone, Debug)]
pub struct EchoPlan {
    /// Where to.
    pub target: Target,
    /// Connections.
    pub connections: usize,
    /// Bytes of each message.
    pub size: usize,
    /// Nanoseconds to measure, after all connections are open.
    pub nanoseconds: u64,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub struct EchoReport {
    /// Right echoes.
    pub ok: u64,
    /// Echoes that differ from what was sent.
    pub wrong: u64,
    /// Connections that were lost.
    pub lost: u64,
    /// How long it was measured.
    pub seconds: f64,
    /// CPU of the generator meanwhile.
    pub cpu: f64,
    /// Latencies in nanoseconds.
    pub p50: u64,
    /// The slowest hundredth.
    pub p99: u64,
}

struct Client {
    socket: OwnedFd,
    decoder: Option<Decoder>,
    /// What has come of the opening, then of an echo.
    input: Vec<u8>,
    message: Vec<u8>,
    sent: u64,
}

struct Echo<'a> {
    plan: &'a EchoPlan,
    epoll: OwnedFd,
    clients: Vec<Option<Client>>,
    number: u64,
    wire: Vec<u8>,
    report: EchoReport,
    latencies: Histogram<u64>,
}

/// Run the plan; fails when a connection cannot be opened.
#[expect(clippy::cast_precision_loss, reason = "seconds fit")]
pub fn run(plan: &EchoPlan) -> io::Result<EchoReport> {
    let mut echo = Echo::open(plan)?;
    let (started, cpu) = (now(), Cpu::of_this_thread());
    for place in 0..plan.connections {
        echo.send(place);
    }
    echo.turn_until(|_| now() - started >= plan.nanoseconds)?;
    let mut report = echo.report;
    report.seconds = (now() - started) as f64 / 1e9;
    report.cpu = Cpu::of_this_thread().since(cpu).seconds;
    report.p50 = echo.latencies.value_at_quantile(0.5);
    report.p99 = echo.latencies.value_at_quantile(0.99);
    Ok(report)
}

impl<'a> Echo<'a> {
    /// All connections, opened.
    fn open(plan: &'a EchoPlan) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let clients = (0..plan.connections)
            .map(|place| {
                let socket = socket::open(&plan.target.address, &epoll, place as u64)?;
                let (input, message) = (Vec::new(), Vec::new());
                Ok(Some(Client { socket, decoder: None, input, message, sent: 0 }))
            })
            .collect::<io::Result<Vec<_>>>()?;
        let report =
            EchoReport { ok: 0, wrong: 0, lost: 0, seconds: 0.0, cpu: 0.0, p50: 0, p99: 0 };
        let (wire, latencies) = (Vec::new(), histogram());
        let mut echo = Self { plan, epoll, clients, number: 0, wire, report, latencies };
        let deadline = now() + OPENING_NANOSECONDS;
        echo.turn_until(|echo| {
            let is_open = |client: &Option<Client>| {
                client.as_ref().is_some_and(|client| client.decoder.is_some())
            };
            echo.report.lost > 0 || echo.clients.iter().all(is_open) || now() > deadline
        })?;
        let opened = echo.clients.iter().flatten().filter(|client| client.decoder.is_some());
        if opened.count() < plan.connections {
            return Err(io::Error::other("the server does not open every WebSocket"));
        }
        Ok(echo)
    }

    fn turn_until(&mut self, done: impl Fn(&Self) -> bool) -> io::Result<()> {
        let mut ready = Vec::<Ready>::with_capacity(1024);
        let mut buffer = vec![0; 64 * 1024];
        while !done(self) {
            ready.clear();
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut ready), Some(&WAIT))?;
            for event in &ready {
                let place = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
                self.act(place, event.flags, &mut buffer);
            }
        }
        Ok(())
    }

    /// One connection is ready.
    fn act(&mut self, place: usize, flags: EventFlags, buffer: &mut [u8]) {
        let Some(client) = self.clients.get_mut(place).and_then(Option::as_mut) else { return };
        if client.sent == 0 && flags.contains(EventFlags::OUT) {
            client.sent = now();
            let Target { path, authority, .. } = &self.plan.target;
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\n\
                 Connection: Upgrade\r\nSec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            );
            if socket::transmit(&client.socket, request.as_bytes()) != Ok(request.len()) {
                return self.lose(place);
            }
        }
        loop {
            let Some(client) = self.clients.get_mut(place).and_then(Option::as_mut) else { return };
            match socket::receive(&client.socket, buffer) {
                Received::Bytes(count) => {
                    self.take(place, &buffer[..count]);
                    if count < buffer.len() {
                        return;
                    }
                }
                Received::Blocked => return,
                Received::Closed | Received::Broken => return self.lose(place),
            }
        }
    }

    fn take(&mut self, place: usize, mut bytes: &[u8]) {
        let Some(client) = self.clients.get_mut(place).and_then(Option::as_mut) else { return };
        let Some(decoder) = &mut client.decoder else {
            client.input.extend_from_slice(bytes);
            return self.finish_opening(place);
        };
        while !bytes.is_empty() {
            match decoder.decode(bytes, &mut client.input) {
                Ok((taken, None | Some(Event::Control(_)))) => bytes = &bytes[taken..],
                Ok((taken, Some(Event::Message(kind)))) => {
                    bytes = &bytes[taken..];
                    let right = kind == Kind::Text && client.input == client.message;
                    client.input.clear();
                    if right {
                        self.report.ok += 1;
                        self.latencies.saturating_record(now() - client.sent);
                    } else {
                        self.report.wrong += 1;
                    }
                    if !bytes.is_empty() {
                        // Nothing but the echo was asked for.
                        self.report.wrong += 1;
                    }
                    return self.send(place);
                }
                Ok((_, Some(Event::Close(_)))) | Err(_) => return self.lose(place),
            }
        }
    }

    fn finish_opening(&mut self, place: usize) {
        let Some(client) = self.clients.get_mut(place).and_then(Option::as_mut) else { return };
        let text = String::from_utf8_lossy(&client.input).into_owned();
        if !text.ends_with("\r\n\r\n") {
            return;
        }
        if !text.starts_with("HTTP/1.1 101 ") || !text.contains(ACCEPT) {
            return self.lose(place);
        }
        client.input.clear();
        client.decoder = Some(Decoder::new(Role::Client, self.plan.size));
    }

    /// The next message of a connection.
    fn send(&mut self, place: usize) {
        let Some(client) = self.clients.get_mut(place).and_then(Option::as_mut) else { return };
        self.number += 1;
        client.message.clear();
        client.message.extend_from_slice(self.number.to_string().as_bytes());
        client.message.resize(self.plan.size, b'.');
        let [.., a, b, c, d] = self.number.wrapping_mul(0x9e37_79b9).to_be_bytes();
        self.wire.clear();
        encode_masked(&mut self.wire, 0x80 | Opcode::Text as u8, &client.message, [a, b, c, d]);
        client.sent = now();
        // One message in flight always fits into an empty socket.
        if socket::transmit(&client.socket, &self.wire) != Ok(self.wire.len()) {
            self.lose(place);
        }
    }

    fn lose(&mut self, place: usize) {
        self.clients[place] = None;
        self.report.lost += 1;
    }
}
