//! A server that does only what the kernel forces: the ceiling of what can be measured.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};

use crate::run::raise_file_limit;
use crate::socket::{self, Broken, Received};

const BLANK_LINE: &[u8; 4] = b"\r\n\r\n";
const BACKLOG: i32 = 4096;
const LISTENER: u64 = u64::MAX;

/// Answers every blank line with one constant; single-threaded.
pub struct NullServer {
    listener: TcpListener,
    epoll: OwnedFd,
    clients: HashMap<u64, Client>,
    // The answer many times over, so that a burst is answered by one write.
    answers: Vec<u8>,
    answer_len: usize,
    blank_line: Finder<'static>,
}

struct Client {
    socket: OwnedFd,
    counter: BlankLines,
    // Answers owed that the system did not take yet, in bytes.
    owed: usize,
}

/// Counts blank lines in a stream, however it is sliced.
#[derive(Debug, Default)]
struct BlankLines {
    matched: usize,
}

impl NullServer {
    /// Binds to 127.0.0.1; port 0 takes a free one.
    pub fn bind(port: u16, body: &str) -> io::Result<Self> {
        const REPEAT: usize = 4096;
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nServer: null\r\n\
             Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n{body}",
            body.len()
        );
        raise_file_limit();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        // The standard library's backlog of 128 would drop connections made all at once.
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        Ok(Self {
            listener,
            epoll,
            clients: HashMap::new(),
            answers: answer.as_bytes().repeat(REPEAT),
            answer_len: answer.len(),
            blank_line: Finder::new(BLANK_LINE),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `duration` is over, or for ever.
    pub fn serve(mut self, duration: Option<Duration>) -> io::Result<()> {
        let until = duration.map(|duration| Instant::now() + duration);
        let mut events: Vec<Event> = Vec::with_capacity(1024);
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(());
            }
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            let spare = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, spare, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in events.drain(..) {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    token => self.serve_client(token, &mut buffer),
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        while let Ok(socket) = accept_with(&self.listener, flags) {
            sockopt::set_tcp_nodelay(&socket, true)?;
            let token = u64::from(socket.as_raw_fd().unsigned_abs());
            let interest = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
            epoll::add(&self.epoll, &socket, EventData::new_u64(token), interest)?;
            self.clients.insert(token, Client { socket, counter: BlankLines::default(), owed: 0 });
        }
        Ok(())
    }

    fn serve_client(&mut self, token: u64, buffer: &mut [u8]) {
        let Some(client) = self.clients.get_mut(&token) else { return };
        loop {
            let done = match socket::receive(&client.socket, buffer) {
                Received::Bytes(len) => {
                    let requests = client.counter.count(&buffer[..len], &self.blank_line);
                    client.owed += requests * self.answer_len;
                    len < buffer.len()
                }
                Received::Blocked => true,
                Received::Closed | Received::Broken => {
                    self.clients.remove(&token);
                    return;
                }
            };
            if client.pay(&self.answers, self.answer_len).is_err() {
                self.clients.remove(&token);
                return;
            }
            if done {
                return;
            }
        }
    }
}

impl Client {
    // `owed` counted modulo the answer's length says where in an answer the last write stopped.
    fn pay(&mut self, answers: &[u8], answer_len: usize) -> Result<(), Broken> {
        while self.owed > 0 {
            let start = (answer_len - self.owed % answer_len) % answer_len;
            let end = answers.len().min(start + self.owed);
            let sent = socket::transmit(&self.socket, &answers[start..end])?;
            if sent == 0 {
                break;
            }
            self.owed -= sent;
        }
        Ok(())
    }
}

impl BlankLines {
    fn count(&mut self, mut bytes: &[u8], finder: &Finder<'_>) -> usize {
        let mut count = 0;
        while self.matched > 0 && !bytes.is_empty() {
            count += usize::from(self.step(bytes[0]));
            bytes = &bytes[1..];
        }
        let mut rest = 0;
        for at in finder.find_iter(bytes) {
            count += 1;
            rest = at + BLANK_LINE.len();
        }
        for &byte in &bytes[rest.max(bytes.len().saturating_sub(BLANK_LINE.len() - 1))..] {
            count += usize::from(self.step(byte));
        }
        count
    }

    fn step(&mut self, byte: u8) -> bool {
        self.matched = match (byte == BLANK_LINE[self.matched], byte) {
            (true, _) => self.matched + 1,
            (false, b'\r') => 1,
            (false, _) => 0,
        };
        if self.matched == BLANK_LINE.len() {
            self.matched = 0;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_blank_lines_however_sliced() {
        let stream = b"GET / HTTP/1.1\r\nA: b\r\n\r\nGET\r\n\r\r\n\r\nx\r\n\r\n\r\n\r\n";
        let finder = Finder::new(BLANK_LINE);
        for size in 1..=stream.len() {
            let mut counter = BlankLines::default();
            let found: usize = stream.chunks(size).map(|slice| counter.count(slice, &finder)).sum();
            assert_eq!(4, found, "slices of {size}");
        }
    }
}
