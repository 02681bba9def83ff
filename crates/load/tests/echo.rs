//! The echo load against servers that echo rightly, wrongly and not at all.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use load::echo::{EchoPlan, EchoReport, run};
use load::target::Target;
use websocket::{Decoder, Event, Kind, Role, accept_value, encode};

const KEY: &str = "Sec-WebSocket-Key: ";

/// How a server treats the nth message of a connection.
type Answer = fn(usize, &[u8], &mut Vec<u8>);

fn echo(_: usize, message: &[u8], wire: &mut Vec<u8>) {
    encode(wire, Kind::Text.into(), message);
}

fn open(stream: &mut TcpStream) {
    let mut request = String::new();
    let mut byte = [0];
    while !request.ends_with("\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a request");
        request.push(char::from(byte[0]));
    }
    let key = request.lines().find_map(|line| line.strip_prefix(KEY)).expect("a key");
    let accept = accept_value(key.as_bytes());
    let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    write!(stream, "{head}Sec-WebSocket-Accept: {accept}\r\n\r\n").expect("a client");
}

fn serve(mut stream: TcpStream, answer: Answer) {
    open(&mut stream);
    let mut decoder = Decoder::new(Role::Server, 1 << 20);
    let (mut message, mut buffer, mut count) = (Vec::new(), [0; 4096], 0);
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        let mut bytes = &buffer[..length];
        while !bytes.is_empty() {
            let (taken, event) = decoder.decode(bytes, &mut message).expect("sound frames");
            bytes = &bytes[taken..];
            if event == Some(Event::Message(Kind::Text)) {
                let mut wire = Vec::new();
                answer(count, &message, &mut wire);
                message.clear();
                count += 1;
                if wire.is_empty() || stream.write_all(&wire).is_err() {
                    return;
                }
            }
        }
    }
}

/// Loads a server that answers like that; none of its threads outlives the load's connections.
fn loaded(answer: Answer, size: usize) -> EchoReport {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for stream in listener.incoming().take(3).flatten() {
            thread::spawn(move || serve(stream, answer));
        }
    });
    let target = Target::parse(&url).expect("a URL");
    run(&EchoPlan { target, connections: 3, size, nanoseconds: 200_000_000 }).expect("it opens")
}

#[test]
fn right_echoes_are_counted() {
    for size in [1, 64, 5000] {
        let report = loaded(echo, size);
        assert_eq!((0, 0), (report.wrong, report.lost), "{report:?}");
        assert!(report.ok > 3 && report.p50 > 0 && report.p50 <= report.p99, "{report:?}");
    }
}

#[test]
fn a_wrong_byte_a_stale_echo_and_one_too_many_are_wrong() {
    let flipped: Answer = |count, message, wire| {
        let mut message = message.to_vec();
        if count == 2 {
            *message.last_mut().expect("not empty") ^= 1;
        }
        encode(wire, Kind::Text.into(), &message);
    };
    assert_eq!(3, loaded(flipped, 64).wrong);
    let always_the_same: Answer = |_, message, wire| {
        encode(wire, Kind::Text.into(), &vec![b'7'; message.len()]);
    };
    let report = loaded(always_the_same, 64);
    assert!(report.wrong > 3 && report.ok == 0, "{report:?}");
    let binary: Answer = |_, message, wire| encode(wire, Kind::Binary.into(), message);
    assert_eq!(0, loaded(binary, 64).ok);
    let twice: Answer = |_, message, wire| {
        encode(wire, Kind::Text.into(), message);
        encode(wire, Kind::Text.into(), message);
    };
    assert!(loaded(twice, 64).wrong > 0);
}

#[test]
fn a_connection_that_ends_is_lost() {
    let leaves: Answer = |count, message, wire| {
        if count < 5 {
            echo(count, message, wire);
        }
    };
    let report = loaded(leaves, 64);
    assert_eq!((15, 0, 3), (report.ok, report.wrong, report.lost));
}

#[test]
fn a_server_that_opens_no_websocket_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut buffer = [0; 1024];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    let target = Target::parse(&url).expect("a URL");
    let plan = EchoPlan { target, connections: 1, size: 64, nanoseconds: 1 };
    let error = run(&plan).expect_err("it is none");
    assert!(error.to_string().contains("does not open"), "{error}");
}
