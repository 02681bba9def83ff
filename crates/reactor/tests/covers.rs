//! A cover between peers and their sockets: a toy with a handshake, a good-bye and a fault.

mod support;

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use reactor::{Address, CloseReason, Cover, Opened, Torn};
use support::{Lines, Rig, World, receive, send};

/// Every byte is turned over. `?` asks for the handshake, `!` ends it, 0 is good-bye, 1 a fault.
struct Toy {
    client: bool,
    asked: bool,
    ready: bool,
}

impl Toy {
    fn server() -> Box<dyn Cover> {
        Box::new(Self { client: false, asked: false, ready: false })
    }

    fn client() -> Box<dyn Cover> {
        Box::new(Self { client: true, asked: false, ready: false })
    }
}

const GOOD_BYE: u8 = 0;
const FAULT: u8 = 1;

impl Cover for Toy {
    fn open(
        &mut self,
        received: &[u8],
        plain: &mut Vec<u8>,
        sealed: &mut Vec<u8>,
    ) -> Result<Opened, Torn> {
        if self.client && !self.asked {
            self.asked = true;
            sealed.push(b'?');
        }
        let mut ended = false;
        for &byte in received {
            match byte {
                GOOD_BYE => ended = true,
                b'?' if !self.client && !self.ready => {
                    self.ready = true;
                    sealed.push(b'!');
                }
                b'!' if self.client && !self.ready => self.ready = true,
                _ if !self.ready || byte == FAULT => {
                    sealed.push(FAULT);
                    return Err(Torn);
                }
                byte => plain.push(!byte),
            }
        }
        Ok(Opened { ready: self.ready, ended })
    }

    fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Torn> {
        assert!(self.ready, "asked to seal before the handshake");
        sealed.extend(plain.iter().map(|byte| !byte));
        Ok(())
    }

    fn finish(&mut self, sealed: &mut Vec<u8>) {
        sealed.push(GOOD_BYE);
    }
}

fn turned(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| !byte).collect()
}

fn world() -> World {
    World { cover: Some(Toy::server), ..World::default() }
}

/// Read exactly so much of what is turned over.
fn opened(client: &mut impl Read, count: usize) -> String {
    let mut bytes = vec![0; count];
    client.read_exact(&mut bytes).expect("the server answers");
    String::from_utf8(bytes.iter().map(|byte| !byte).collect()).expect("text")
}

#[test]
fn bytes_go_through_the_cover_both_ways_whole_and_byte_by_byte() {
    let talk = [b"?".as_slice(), &turned("hello\nworld\n")].concat();
    for size in [talk.len(), 1] {
        let mut rig = Rig::new(world());
        let (mut client, key) = rig.client();
        for piece in talk.chunks(size) {
            send(&mut client, piece);
            rig.turn();
        }
        rig.until(|rig| rig.reactor.stats().writes > 0);
        assert_eq!(vec![key], rig.reactor.shared.covered, "told once");
        assert_eq!("!", receive(&mut client, 1));
        assert_eq!("hello\nworld\n", opened(&mut client, 12));
        send(&mut client, &[GOOD_BYE]);
        rig.until(|rig| rig.end_of(key).is_some());
        assert_eq!(Some(CloseReason::Finished), rig.end_of(key));
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).expect("an orderly end");
        assert_eq!(vec![GOOD_BYE], rest);
    }
}

#[test]
fn plain_bytes_may_come_before_the_cover() {
    let mut rig =
        Rig::new(World { cover_after: Some((Toy::server, "cover\n")), ..World::default() });
    let (mut client, _) = rig.client();
    send(&mut client, &[b"one\ncover\n?".as_slice(), &turned("two\n")].concat());
    rig.until(|rig| rig.reactor.stats().writes > 0);
    assert_eq!("one\n", receive(&mut client, 4), "what was answered before left as it was");
    assert_eq!("!", receive(&mut client, 1));
    assert_eq!("two\n", opened(&mut client, 4));
}

#[test]
fn nothing_is_sealed_before_the_handshake() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut rig = Rig::new(World { cover: Some(Toy::client), ..World::default() });
    let key = rig.reactor.insert(Lines::default());
    rig.reactor.connect(key, &Address::Tcp(server.local_addr().expect("bound")));
    let (mut other, _) = server.accept().expect("it connects");
    other.set_read_timeout(Some(support::PATIENCE)).expect("a timeout");
    rig.until(|rig| rig.reactor.stats().writes > 0);
    rig.reactor.with(key, |_, io, _| io.output.extend_from_slice(b"early\n"));
    rig.reactor.end_turn();
    assert!(!rig.readable(20), "it waits for the other side");
    assert_eq!("?", receive(&mut other, 1));
    send(&mut other, b"!");
    rig.until(|rig| rig.reactor.stats().writes > 1);
    assert_eq!("early\n", opened(&mut other, 6));
    // One that is closed before it has agreed says nothing more.
    let key = rig.reactor.insert(Lines::default());
    rig.reactor.connect(key, &Address::Tcp(server.local_addr().expect("bound")));
    let (mut other, _) = server.accept().expect("it connects");
    rig.until(|rig| rig.reactor.stats().writes > 2);
    rig.reactor.with(key, |_, io, _| io.output.extend_from_slice(b"early\n"));
    rig.reactor.close(key, CloseReason::Stopped);
    rig.reactor.end_turn();
    assert_eq!(Some(CloseReason::Stopped), rig.end_of(key));
    let mut all = Vec::new();
    other.read_to_end(&mut all).expect("an orderly end");
    assert_eq!(b"?".to_vec(), all);
}

#[test]
fn files_and_much_output_go_through_the_cover_in_order() {
    const LENGTH: usize = 3 << 20;
    let mut rig = Rig::new(world());
    let (mut client, key) = rig.client();
    send(&mut client, b"?");
    rig.until(|rig| !rig.reactor.shared.covered.is_empty());
    assert_eq!("!", receive(&mut client, 1));
    let text = "0123456789abcdef".repeat(LENGTH / 16);
    let path = std::env::temp_dir().join(format!("reactor-cover-{}", std::process::id()));
    std::fs::write(&path, &text).expect("a new file");
    let file = Arc::new(OwnedFd::from(std::fs::File::open(&path).expect("it is there")));
    std::fs::remove_file(&path).expect("its name goes");
    rig.reactor.with(key, |_, io, _| {
        io.output.extend_from_slice(text.as_bytes());
        io.send_file(file, 16, (LENGTH - 16) as u64);
        io.output.extend_from_slice(b"end\n");
        assert_eq!(2 * LENGTH - 16 + 4, io.queued());
    });
    rig.reactor.close(key, CloseReason::Finished);
    rig.reactor.end_turn();
    let reader = std::thread::spawn(move || {
        let got = opened(&mut client, 2 * LENGTH - 16 + 4);
        (got, receive(&mut client, 1))
    });
    rig.until(|rig| rig.end_of(key).is_some());
    let (got, last) = reader.join().expect("it read");
    assert!(got == [&text, &text[16..], "end\n"].concat(), "every byte in its place");
    assert_eq!("\0", last);
}

#[test]
fn a_fault_is_told_and_ends_the_connection() {
    let mut rig = Rig::new(world());
    let (mut client, key) = rig.client();
    send(&mut client, b"GET / HTTP/1.1\r\n");
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::Refused), rig.end_of(key));
    assert_eq!("\u{1}", receive(&mut client, 1));
    assert!(rig.reactor.shared.covered.is_empty());
    // After the handshake as well, with an answer on its way: that cannot be sealed any more.
    let mut rig = Rig::new(world());
    let (mut client, key) = rig.client();
    send(&mut client, &[b"?".as_slice(), &turned("hello\n"), &[FAULT]].concat());
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::Refused), rig.end_of(key));
    assert_eq!("!\u{1}", receive(&mut client, 2));
}

#[test]
fn a_client_that_does_not_read_is_not_read_through_a_cover_either() {
    let mut rig = Rig::new(World { echo: true, high_water: 10_000, ..world() });
    let (mut client, key) = rig.client();
    send(&mut client, b"?");
    client.set_nonblocking(true).expect("a socket");
    let line = turned(&format!("{}\n", "x".repeat(99)));
    let (mut sent, mut quiet) = (0, 0);
    while quiet < 50 {
        assert!(sent < 40_000_000, "nothing holds it back");
        match client.write(&line[sent % line.len()..]) {
            Ok(count) => (sent, quiet) = (sent + count, 0),
            Err(_) => quiet += 1,
        }
        if rig.readable(i64::from(quiet > 0)) {
            rig.turn();
        }
        let queued = rig.reactor.with(key, |_, io, _| (io.queued(), io.input().len()));
        let (output, input) = queued.expect("it is there");
        assert!(output <= 10_000 + 64 * 1024, "{output} bytes of output are queued");
        assert!(input <= 64 * 1024, "{input} bytes of input are buffered");
    }
    client.set_nonblocking(false).expect("a socket");
    let whole = sent - sent % line.len();
    let reader = std::thread::spawn(move || {
        receive(&mut client, 1);
        opened(&mut client, whole)
    });
    rig.until(|_| reader.is_finished());
    assert_eq!(whole, reader.join().expect("it read").len());
}

#[test]
fn a_client_of_ours_speaks_first() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut rig = Rig::new(World { cover: Some(Toy::client), ..World::default() });
    let key = rig.reactor.insert(Lines::default());
    rig.reactor.connect(key, &Address::Tcp(server.local_addr().expect("bound")));
    let (mut other, _) = server.accept().expect("it connects");
    other.set_read_timeout(Some(support::PATIENCE)).expect("a timeout");
    rig.until(|rig| rig.reactor.stats().writes > 0);
    assert_eq!("?", receive(&mut other, 1));
    send(&mut other, &[b"!".as_slice(), &turned("hello\n")].concat());
    rig.until(|rig| rig.reactor.stats().writes > 1);
    assert_eq!("hello\n", opened(&mut other, 6));
    assert_eq!(vec![key], rig.reactor.shared.covered);
}

#[test]
fn a_file_that_is_too_short_cuts_a_covered_connection_too() {
    let mut rig = Rig::new(world());
    let (mut client, key) = rig.client();
    send(&mut client, b"?");
    rig.until(|rig| !rig.reactor.shared.covered.is_empty());
    let file = Arc::new(OwnedFd::from(std::fs::File::open("/proc/self/status").expect("Linux")));
    rig.reactor.with(key, |_, io, _| {
        io.send_file(file, 0, 10_000_000);
        io.output.extend_from_slice(b"THE NEXT ANSWER");
    });
    rig.reactor.end_turn();
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::Unreadable), rig.end_of(key));
    let mut all = Vec::new();
    client.read_to_end(&mut all).expect("an end");
    assert!(!all.ends_with(&turned("ANSWER")), "nothing comes in the place of what is missing");
}
