//! A connection that was upgraded: messages in and out, pings, the end.
//!
//! ```text
//!          close, or the server stops            their close frame, or a deadline
//!   Open ─────────────────────────────► Closing ──────────────────────────────► Over
//!     └──────────── their close frame, a fault, an end without a word ────────────┘
//! ```
//!
//! Messages wait here, up to a bound, for whoever receives them; then the socket is not read any
//! more. When the socket has gone, the whole state travels to the driver in a last step, so that
//! what came before the end can still be received.

use reactor::{Advance, CloseReason, Io, Millis};
use websocket::{
    Close, Control, Decoder, Deflate, Deflater, Event, Fault, Kind, Opcode, Role, encode,
    encode_close, encode_deflated,
};

use super::inbox::Inbox;
use crate::step::{Exchange, News, Step};

/// Messages that may wait; many empty ones have no bytes to count.
const MOST_MESSAGES: usize = 1024;
/// With so many unsent bytes, whoever sends is asked to wait.
const FULL: usize = 64 * 1024;
/// Whoever does not wait when asked to may go on up to here.
const MOST_QUEUED: usize = 16 * 1024 * 1024;
/// Shorter messages are not worth compressing.
const COMPRESS_FROM: usize = 64;
const LEVEL: u32 = 6;

/// Limits and timeouts of one WebSocket.
#[derive(Clone, Debug)]
pub struct SocketSettings {
    /// Bytes of one message, decompressed.
    pub message_bytes: usize,
    /// Bytes of whole messages that may wait to be received.
    pub inbox_bytes: usize,
    /// Without a sign of life, ping after so long; 0 for never.
    pub ping_interval: Millis,
    /// How long the answer to that ping may take.
    pub ping_timeout: Millis,
    /// How long the other side may take to answer a close frame.
    pub close_timeout: Millis,
}

impl Default for SocketSettings {
    fn default() -> Self {
        Self {
            message_bytes: 1024 * 1024,
            inbox_bytes: 64 * 1024,
            ping_interval: 20_000,
            ping_timeout: 20_000,
            close_timeout: 5_000,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    Closing,
    Over(CloseReason),
}

/// What there is to receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received<R> {
    /// The oldest message.
    Message(R),
    /// Nothing yet.
    Nothing,
    /// Nothing more, see [`WebSocket::end`].
    Ended,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    /// There is room for more.
    Room,
    /// Taken; wait for [`News::Writable`] before the next one.
    Full,
    /// It does not leave: the connection closes, or is closed.
    Ended,
    /// So much waits unsent that the connection is given up.
    Flooded,
}

/// One WebSocket.
#[derive(Debug)]
pub struct WebSocket {
    number: u64,
    settings: SocketSettings,
    decoder: Decoder,
    agreed: Option<Deflate>,
    /// Made when the first message is compressed.
    deflater: Option<Deflater>,
    inbox: Inbox,
    phase: Phase,
    end: Option<Close>,
    /// Somebody wants to know of the next message, or of the end.
    wanted: bool,
    /// Somebody waits for room.
    blocked: bool,
    /// When bytes came last.
    heard: Millis,
    /// Our ping is not answered yet.
    pinged: bool,
}

impl WebSocket {
    pub(super) fn new(
        number: u64,
        settings: SocketSettings,
        agreed: Option<Deflate>,
        now: Millis,
    ) -> Self {
        let mut decoder = Decoder::new(Role::Server, settings.message_bytes);
        if let Some(agreed) = &agreed {
            decoder.allow_deflate(agreed.inflater());
        }
        Self {
            number,
            settings,
            decoder,
            agreed,
            deflater: None,
            inbox: Inbox::default(),
            phase: Phase::Open,
            end: None,
            wanted: false,
            blocked: false,
            heard: now,
            pinged: false,
        }
    }

    /// Why nothing more is sent or received, once that is so.
    pub fn end(&self) -> Option<&Close> {
        self.end.as_ref()
    }

    /// Take the oldest message.
    #[inline]
    pub fn receive<R>(&mut self, take: impl FnOnce(Kind, &[u8]) -> R) -> Received<R> {
        match self.inbox.pop(take) {
            Some(taken) => Received::Message(taken),
            None if self.end.is_some() => Received::Ended,
            None => Received::Nothing,
        }
    }

    /// Tell by [`News::Readable`] when there is something to receive.
    #[inline]
    pub fn want(&mut self) {
        self.wanted = true;
    }

    /// Send a message.
    #[inline]
    pub fn send<W>(&mut self, kind: Kind, message: &[u8], io: &mut Io<'_, Step<W>>) -> Sent {
        if self.end.is_some() {
            return Sent::Ended;
        }
        if io.queued() > MOST_QUEUED {
            self.finish(Close::ABNORMAL, "too much was sent to a slow reader", io);
            return Sent::Flooded;
        }
        match &self.agreed {
            Some(agreed) if message.len() >= COMPRESS_FROM => {
                let deflater = self.deflater.get_or_insert_with(|| agreed.deflater(LEVEL));
                encode_deflated(io.output, kind.into(), message, deflater);
            }
            _ => encode(io.output, kind.into(), message),
        }
        if io.queued() > FULL { Sent::Full } else { Sent::Room }
    }

    /// Tell by [`News::Writable`] when there is room for the next message.
    pub fn want_room<W>(&mut self, io: &mut Io<'_, Step<W>>) {
        self.blocked = true;
        io.tell_when_drained();
    }

    /// Send a ping of at most 125 bytes; [`News::Pong`] tells of its answer. False: it does not
    /// leave.
    pub fn ping<W>(&mut self, data: &[u8], io: &mut Io<'_, Step<W>>) -> bool {
        if self.end.is_none() {
            encode(io.output, Opcode::Ping, data);
        }
        self.end.is_none()
    }

    /// Say goodbye, unless that was done before; what has come and was not received is dropped.
    pub fn close<W>(&mut self, code: u16, reason: &str, io: &mut Io<'_, Step<W>>) {
        if self.end.is_some() {
            return;
        }
        self.inbox.drop_messages();
        encode_close(io.output, code, reason);
        self.phase = Phase::Closing;
        io.set_deadline(Some(io.now.saturating_add(self.settings.close_timeout)));
        self.finish(code, reason, io);
    }

    /// Take what has come.
    #[inline]
    pub(super) fn advance<W>(&mut self, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
        if !io.input().is_empty() {
            self.heard = io.now;
            self.pinged = false;
        }
        loop {
            if let Phase::Over(reason) = self.phase {
                io.consume(io.input().len());
                return Advance::Close(reason);
            }
            if self.wanted && !self.inbox.is_empty() {
                self.wanted = false;
                return Advance::Step(self.step(News::Readable, io));
            }
            if self.is_full() {
                return Advance::Held;
            }
            if io.input().is_empty() {
                if io.ended {
                    self.over(CloseReason::Finished);
                    self.finish(Close::ABNORMAL, "", io);
                    continue;
                }
                return if self.inbox.is_empty() { Advance::Settled } else { Advance::Starved };
            }
            match self.decoder.decode(io.input(), &mut self.inbox.bytes) {
                Ok((taken, event)) => {
                    io.consume(taken);
                    if let Some(event) = event {
                        self.take(event, io);
                    }
                }
                Err(fault) => self.fail(fault, io),
            }
        }
    }

    #[inline]
    fn take<W>(&mut self, event: Event, io: &mut Io<'_, Step<W>>) {
        match event {
            Event::Message(kind) => {
                self.inbox.push(kind, self.decoder.message_bytes());
                if self.end.is_some() {
                    self.inbox.drop_messages();
                }
            }
            Event::Control(Control::Ping) => {
                if self.end.is_none() {
                    encode(io.output, Opcode::Pong, self.decoder.control());
                }
            }
            Event::Control(Control::Pong) => {
                let step = self.step(News::Pong, io);
                io.emit(step);
            }
            Event::Close(close) => {
                if self.end.is_none() {
                    encode_close(io.output, close.code, "");
                }
                self.over(CloseReason::Finished);
                self.finish(close.code, &close.reason, io);
            }
        }
    }

    /// The other side broke the protocol: tell it so, and read no more.
    #[cold]
    fn fail<W>(&mut self, fault: Fault, io: &mut Io<'_, Step<W>>) {
        if self.end.is_none() {
            encode_close(io.output, fault.code, fault.reason);
        }
        self.over(CloseReason::Refused);
        self.finish(fault.code, fault.reason, io);
    }

    fn over(&mut self, reason: CloseReason) {
        self.phase = Phase::Over(reason);
    }

    /// Nothing more is sent or received; the first reason counts.
    fn finish<W>(&mut self, code: u16, reason: &str, io: &mut Io<'_, Step<W>>) {
        self.end.get_or_insert_with(|| Close { code, reason: reason.to_owned() });
        if std::mem::take(&mut self.wanted) {
            let step = self.step(News::Readable, io);
            io.emit(step);
        }
    }

    fn is_full(&self) -> bool {
        let count = self.inbox.len();
        count > 0 && (self.inbox.queued() >= self.settings.inbox_bytes || count >= MOST_MESSAGES)
    }

    #[inline]
    fn step<W>(&self, news: News, io: &Io<'_, Step<W>>) -> Step<W> {
        Step::Socket { exchange: Exchange { key: io.key, number: self.number }, news }
    }

    /// Set the deadline for the next sign of life.
    pub(super) fn be_patient<W>(&self, io: &mut Io<'_, Step<W>>) {
        let SocketSettings { ping_interval, .. } = self.settings;
        let due = self.heard.saturating_add(ping_interval);
        io.set_deadline((ping_interval > 0).then_some(due));
    }

    pub(super) fn timer<W>(&mut self, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
        match self.phase {
            Phase::Closing | Phase::Over(_) => return Advance::Abort(CloseReason::TimedOut),
            Phase::Open => {}
        }
        if io.queued() > 0 || self.is_full() {
            // It reads slowly, which is the write timeout's business, or is not read itself.
            self.heard = io.now;
            self.pinged = false;
        }
        if self.pinged {
            self.finish(Close::ABNORMAL, "no answer to a ping", io);
            return Advance::Abort(CloseReason::TimedOut);
        }
        if self.heard.saturating_add(self.settings.ping_interval) > io.now {
            self.be_patient(io);
            return Advance::Starved;
        }
        encode(io.output, Opcode::Ping, b"");
        self.pinged = true;
        io.set_deadline(Some(io.now.saturating_add(self.settings.ping_timeout)));
        Advance::Starved
    }

    /// The output has left.
    pub(super) fn drained<W>(&mut self, io: &mut Io<'_, Step<W>>) {
        if std::mem::take(&mut self.blocked) {
            let step = self.step(News::Writable, io);
            io.emit(step);
        }
    }

    /// The socket has gone: all that is left goes to the driver.
    pub(super) fn closed<W>(mut self: Box<Self>, io: &mut Io<'_, Step<W>>) {
        self.finish(Close::ABNORMAL, "", io);
        let exchange = Exchange { key: io.key, number: self.number };
        io.emit(Step::Socket { exchange, news: News::Ended(self) });
    }
}
