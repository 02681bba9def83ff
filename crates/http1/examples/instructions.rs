//! Instructions per request of the hot path, for a counter to measure.
//!
//! ```sh
//! cargo build --release -p http1 --example instructions
//! perf stat -x, -e instructions:u target/release/examples/instructions hello 1000000
//! ```
//!
//! Subtract a run of 0 rounds, divide by the rounds. Works: `hello`, `browser` (parse heads),
//! `write` (a response of twelve bytes), `both` (parse hello and write).

use std::hint::black_box;

use http1::{Answer, Head, Limits, Owed, Payload, Prelude, Version, write};

const HELLO: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n";
const BROWSER: &[u8] = b"GET /stickers/42?sort=new HTTP/1.1\r\n\
    Host: stickers.example.com\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
    Accept-Language: en-US,en;q=0.5\r\n\
    Accept-Encoding: gzip, deflate, br, zstd\r\n\
    Connection: keep-alive\r\n\
    Cookie: session=0123456789abcdef0123456789abcdef\r\n\
    Upgrade-Insecure-Requests: 1\r\n\r\n";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let work = arguments.next().unwrap_or_else(|| "hello".into());
    let rounds = arguments.next().map_or(1_000_000, |text| text.parse().expect("a number"));
    match work.as_str() {
        "hello" => parse(HELLO, rounds),
        "browser" => parse(BROWSER, rounds),
        "write" => answer(rounds),
        "both" => serve(rounds),
        other => panic!("no such work: {other}"),
    }
}

fn parse(input: &[u8], rounds: u64) {
    let limits = Limits::default();
    let mut head = Head::default();
    for _ in 0..rounds {
        head.parse(black_box(input), &limits).expect("a good head");
        black_box(&head);
    }
}

fn answer(rounds: u64) {
    let owed = Owed { version: Version::Http11, keep_alive: true, head_only: false };
    let prelude = Prelude::new(Some("tarmac"), true);
    let mut out = Vec::with_capacity(64 * 1024);
    for _ in 0..rounds {
        out.clear();
        write(&mut out, &prelude, black_box(owed), &hello());
        black_box(&out);
    }
}

fn serve(rounds: u64) {
    let limits = Limits::default();
    let prelude = Prelude::new(Some("tarmac"), true);
    let mut head = Head::default();
    let mut out = Vec::with_capacity(64 * 1024);
    for _ in 0..rounds {
        out.clear();
        head.parse(black_box(HELLO), &limits).expect("a good head");
        black_box(&head);
        write(&mut out, &prelude, Owed::to(&head), &hello());
        black_box(&out);
    }
}

fn hello() -> Answer<'static> {
    black_box(Answer {
        status: 200,
        content_type: Some(b"text/plain; charset=utf-8"),
        fields: b"",
        payload: Payload::Bytes(b"Hello world!"),
    })
}
