//! A scripted server: each test says what is sent for which request.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clap::Parser;
use load::cli::Cli;
use load::plan::{Plan, PlanError};
use load::run::{Share, run};
use load::tally::Tally;

/// One request as the server saw it.
pub struct Request {
    /// Over all connections, from 0.
    pub number: u64,
    /// Request line and fields.
    pub head: String,
    /// Body.
    pub body: String,
}

/// A running server; it ends with the test's process.
pub struct Server {
    pub address: SocketAddr,
    requests: Arc<AtomicU64>,
}

impl Server {
    /// `script` answers each request; `Err` ends the connection.
    pub fn start(
        script: impl Fn(&mut TcpStream, Request) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicU64::new(0));
        let (counter, script) = (Arc::clone(&requests), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counter, script) = (Arc::clone(&counter), Arc::clone(&script));
                thread::spawn(move || converse(stream, &counter, &*script));
            }
        });
        Self { address, requests }
    }

    /// How many requests it has read.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Loads it: a short closed loop on three connections unless the options say otherwise.
    pub fn load(&self, options: &[&str]) -> Share {
        let plan = self.plan(options).unwrap();
        run(&plan, |_| {}).unwrap()
    }

    pub fn plan(&self, options: &[&str]) -> Result<Plan, PlanError> {
        let url = self.url();
        let mut line = vec!["tarmac-load"];
        for default in [["-c", "3"], ["-d", "0.2"], ["--warmup", "0"], ["--timeout", "2"]] {
            if !options.contains(&default[0]) {
                line.extend(default);
            }
        }
        line.extend(options);
        line.push(&url);
        Cli::try_parse_from(line).unwrap().load.plan()
    }
}

/// `HTTP/1.1 200 OK` with a length.
pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Answers over every phase.
pub fn total(share: &Share, count: impl Fn(&Tally) -> u64) -> u64 {
    share.tallies.iter().map(count).sum()
}

pub fn all_ok(share: &Share) -> u64 {
    total(share, |tally| tally.ok)
}

pub fn all_errors(share: &Share) -> u64 {
    total(share, |tally| tally.errors.total())
}

pub fn all_wrong(share: &Share) -> u64 {
    total(share, |tally| tally.wrong.total())
}

fn converse(
    mut stream: TcpStream,
    counter: &AtomicU64,
    script: &dyn Fn(&mut TcpStream, Request) -> io::Result<()>,
) {
    stream.set_nodelay(true).unwrap();
    let mut input = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        while let Some((head, body)) = take_request(&mut input) {
            let number = counter.fetch_add(1, Ordering::SeqCst);
            if script(&mut stream, Request { number, head, body }).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(len) => input.extend_from_slice(&buffer[..len]),
        }
    }
}

fn take_request(input: &mut Vec<u8>) -> Option<(String, String)> {
    let text = String::from_utf8(input.clone()).unwrap();
    let end = text.find("\r\n\r\n")? + 4;
    let head = &text[..end];
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |digits| digits.parse().unwrap());
    let body = text.get(end..end + length)?;
    let request = (head.to_owned(), body.to_owned());
    input.drain(..end + length);
    Some(request)
}

/// Writes each byte by itself.
pub fn write_bytewise(stream: &mut TcpStream, bytes: &str) -> io::Result<()> {
    bytes.as_bytes().iter().try_for_each(|byte| stream.write_all(&[*byte]))
}
