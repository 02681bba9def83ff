//! Back-pressure: held peers, clients that do not read, clients that send without end.

mod support;

use std::io::Write;
use std::time::Instant;

use reactor::{Address, CloseReason, Fate};
use support::{Lines, PATIENCE, Rig, World, answer, receive, send};

#[test]
fn a_held_peer_is_not_read_until_it_is_answered() {
    let mut rig = Rig::new(World { in_flight: 1, ..World::default() });
    let (mut client, key) = rig.client();
    send(&mut client, b"a\nb\n");
    assert!(rig.readable(1000));
    let mut lines = Vec::new();
    rig.turn_with(|_, _, line| lines.push(line));
    let reads = rig.reactor.stats().reads;
    send(&mut client, b"c\n");
    assert!(!rig.readable(50), "what arrives for a held peer wakes nobody");
    assert!(answer(&mut rig.reactor, key, "a"));
    rig.reactor.end_turn();
    assert!(rig.readable(0), "an answer lets it go on");
    rig.turn_with(|_, _, line| lines.push(line));
    assert_eq!(vec!["a", "b"], lines);
    assert_eq!(reads, rig.reactor.stats().reads);
    // Something else than output may let it go on too.
    rig.reactor.with(key, |peer, _, _| peer.owed -= 1);
    rig.reactor.end_turn();
    while lines.len() < 3 {
        assert!(rig.readable(1000));
        rig.turn_with(|_, _, line| lines.push(line));
    }
    assert_eq!(vec!["a", "b", "c"], lines);
    assert_eq!("a\n", receive(&mut client, 2));
}

#[test]
fn a_client_that_does_not_read_is_not_read() {
    const LINES: usize = 400_000;
    let world = World { echo: true, high_water: 10_000, ..World::default() };
    let mut rig = Rig::new(world);
    let (mut client, key) = rig.client();
    let line = format!("{}\n", "x".repeat(99));
    client.set_nonblocking(true).expect("a socket");
    let mut sent = 0;
    let mut quiet = 0;
    let start = Instant::now();
    // Until neither side can move: everything in between is the kernel's.
    while quiet < 50 {
        assert!(start.elapsed() < PATIENCE && sent < LINES * line.len(), "nothing holds it back");
        let chunk = &line.as_bytes()[sent % line.len()..];
        match client.write(chunk) {
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
    // And when it reads again, everything comes.
    client.set_nonblocking(false).expect("a socket");
    let whole = sent - sent % line.len();
    let reader = std::thread::spawn(move || receive(&mut client, whole));
    rig.until(|_| reader.is_finished());
    assert_eq!(whole, reader.join().expect("it read").len());
}

#[test]
fn a_connection_of_our_own_opens() {
    let mut rig = Rig::new(World::default());
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let key = rig.reactor.insert(Lines::default());
    let address = Address::Tcp(server.local_addr().expect("bound"));
    rig.reactor.connect(key, &address);
    rig.reactor.connect(key, &address);
    let (mut other, _) = server.accept().expect("it connects");
    rig.until(|rig| rig.reactor.shared.opened == [key]);
    other.write_all(b"hello\n").expect("open");
    let writes = rig.reactor.stats().writes;
    rig.until(|rig| rig.reactor.stats().writes > writes);
    assert_eq!("hello\n", receive(&mut other, 6));
    server.set_nonblocking(true).expect("a socket");
    assert!(server.accept().is_err(), "a second connect opens no second socket");
}

#[test]
fn a_refused_connection_tells_why() {
    let refusing = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = Address::Tcp(refusing.local_addr().expect("bound"));
    drop(refusing);
    let missing = Address::Unix("/nonexistent/socket".into());
    for (address, errno) in
        [(address, rustix::io::Errno::CONNREFUSED), (missing, rustix::io::Errno::NOENT)]
    {
        let mut rig = Rig::new(World { fate: Fate::Keep, ..World::default() });
        let key = rig.reactor.insert(Lines::default());
        rig.reactor.connect(key, &address);
        rig.until(|rig| rig.end_of(key).is_some());
        assert_eq!(Some(CloseReason::Network(errno.raw_os_error())), rig.end_of(key));
        assert!(rig.reactor.shared.opened.is_empty());
        assert!(rig.reactor.with(key, |_, _, _| ()).is_some());
    }
}

#[test]
fn a_peer_that_is_not_wanted_is_not_kept() {
    let mut rig = Rig::new(World { accepts: false, ..World::default() });
    let mut client =
        std::os::unix::net::UnixStream::connect_addr(&rig.address).expect("the listener listens");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    rig.until(|rig| rig.reactor.stats().accepts == 1);
    assert_eq!(0, std::io::Read::read(&mut client, &mut [0]).expect("closed"));
    assert_eq!(vec![rig.listener], rig.reactor.keys());
}

#[test]
fn a_connection_that_has_said_much_holds_no_big_buffer() {
    let mut rig = Rig::new(World { echo: true, ..World::default() });
    let (mut client, key) = rig.client();
    let line = format!("{}\n", "x".repeat(150_000));
    // In pieces, so that what came is kept until the end of the line comes.
    for piece in line.as_bytes().chunks(50_000) {
        send(&mut client, piece);
        rig.until(|rig| !rig.readable(0));
    }
    let mut reader = client.try_clone().expect("a socket");
    let whole = line.len();
    let reader = std::thread::spawn(move || receive(&mut reader, whole));
    rig.until(|_| reader.is_finished());
    assert_eq!(line, reader.join().expect("it read"));
    let held = rig.reactor.with(key, |_, io, _| io.output.capacity()).expect("it is there");
    assert!(held <= 4096, "{held} bytes");
}
