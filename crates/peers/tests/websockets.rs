//! `WebSocket` at the level of one connection: who is told what, and what outlives the socket.

mod support;

use http1::{Answer, Payload};
use peers::http::{Received, Sent, SocketSettings, WebSocket};
use peers::{News, Step};
use reactor::Io;
use support::site::{Client, Site};
use websocket::{Kind, Opcode, encode_masked};

const OPENING: &str =
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const TEXT: u8 = 0x80 | Opcode::Text as u8;

/// A site and a client whose request was upgraded.
fn upgraded(settings: SocketSettings) -> (Site, Client) {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, OPENING);
    assert!(upgrade(&mut site, settings), "nothing is in the way");
    site.settle();
    client.read();
    assert!(client.text.starts_with("HTTP/1.1 101 "), "{}", client.text);
    (site, client)
}

fn upgrade(site: &mut Site, settings: SocketSettings) -> bool {
    let exchange = site.seen[0].exchange;
    let answer =
        Answer { status: 101, content_type: None, fields: b"", payload: Payload::Bytes(b"") };
    let upgraded = site.hub.with(exchange.key, |peer, io, shared| {
        let connection = peer.http().expect("a client of the server");
        connection.upgrade(exchange.number, &answer, settings, None, io, shared)
    });
    upgraded.expect("it is there")
}

/// Let the WebSocket act.
fn act<R>(
    site: &mut Site,
    act: impl FnOnce(&mut WebSocket, &mut Io<'_, Step<u32>>) -> R,
) -> Option<R> {
    let key = site.seen[0].exchange.key;
    site.hub.with(key, |peer, io, _| Some(act(peer.http()?.socket()?, io))).flatten()
}

fn receive(socket: &mut WebSocket) -> Received<Vec<u8>> {
    socket.receive(|kind, bytes| {
        assert_eq!(Kind::Text, kind);
        bytes.to_vec()
    })
}

fn message(text: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    encode_masked(&mut wire, TEXT, text.as_bytes(), [1, 2, 3, 4]);
    wire
}

/// Bytes as the client sends them, and turns until there is nothing to do.
fn send(site: &mut Site, client: &mut Client, bytes: &[u8]) {
    client.send(bytes);
    site.settle();
    client.read();
}

#[test]
fn whoever_wants_a_message_is_told_once() {
    let (mut site, mut client) = upgraded(SocketSettings::default());
    assert_eq!(Some(Received::Nothing), act(&mut site, |socket, _| receive(socket)));
    send(&mut site, &mut client, &message("unasked"));
    assert!(site.sockets.is_empty(), "nobody has asked");
    let first = act(&mut site, |socket, _| {
        let first = receive(socket);
        socket.want();
        first
    });
    assert_eq!(Some(Received::Message(b"unasked".to_vec())), first);
    send(&mut site, &mut client, &[message("one"), message("two")].concat());
    assert!(matches!(site.sockets[..], [News::Readable]), "{:?}", site.sockets);
    for expected in ["one", "two"] {
        let received = act(&mut site, |socket, _| receive(socket));
        assert_eq!(Some(Received::Message(expected.into())), received);
    }
}

#[test]
fn a_full_inbox_holds_the_connection_until_something_is_taken() {
    let settings = SocketSettings { inbox_bytes: 10, ..SocketSettings::default() };
    let (mut site, mut client) = upgraded(settings);
    let before = site.hub.stats().reads;
    for _ in 0..20 {
        send(&mut site, &mut client, &message("12345"));
    }
    assert!(site.hub.stats().reads - before <= 3, "it is read on");
    for _ in 0..20 {
        let received = act(&mut site, |socket, _| receive(socket));
        assert_eq!(Some(Received::Message(b"12345".to_vec())), received);
        site.settle();
    }
    assert_eq!(Some(Received::Nothing), act(&mut site, |socket, _| receive(socket)));
}

#[test]
fn what_came_before_the_end_travels_with_it() {
    let (mut site, mut client) = upgraded(SocketSettings::default());
    send(&mut site, &mut client, &[message("last words"), message("")].concat());
    drop(client);
    site.settle();
    let Some(News::Ended(mut left)) = site.sockets.pop() else { panic!("{:?}", site.sockets) };
    assert_eq!(Received::Message(b"last words".to_vec()), receive(&mut left));
    assert_eq!(Received::Message(Vec::new()), receive(&mut left));
    assert_eq!(Received::Ended, receive(&mut left));
    assert_eq!(Some(1006), left.end().map(|end| end.code));
    assert_eq!(0, site.server().connections);
}

#[test]
fn whoever_sends_too_much_waits_for_room_and_is_told() {
    let (mut site, mut client) = upgraded(SocketSettings::default());
    let large = vec![b'x'; 300_000];
    let sent = act(&mut site, |socket, io| {
        let sent = socket.send(Kind::Text, &large, io);
        socket.want_room(io);
        sent
    });
    assert_eq!(Some(Sent::Full), sent);
    site.hub.end_turn();
    site.turn();
    assert!(site.sockets.is_empty(), "the client has read nothing yet");
    while site.sockets.is_empty() {
        client.read();
        site.turn();
    }
    assert!(matches!(site.sockets[..], [News::Writable]), "{:?}", site.sockets);
    assert_eq!(Some(Sent::Room), act(&mut site, |socket, io| socket.send(Kind::Text, b"x", io)));
}

#[test]
fn nothing_is_sent_or_received_after_a_goodbye() {
    let (mut site, mut client) = upgraded(SocketSettings::default());
    send(&mut site, &mut client, &message("unread"));
    act(&mut site, |socket, io| socket.close(1000, "done", io));
    site.settle();
    client.read();
    assert!(client.text.ends_with("done"), "{}", client.text);
    let after = act(&mut site, |socket, io| {
        (receive(socket), socket.send(Kind::Text, b"late", io), socket.ping(b"", io))
    });
    assert_eq!(Some((Received::Ended, Sent::Ended, false)), after);
    send(&mut site, &mut client, &[0x88, 0x80, 0, 0, 0, 0]);
    assert!(matches!(site.sockets[..], [News::Ended(_)]), "{:?}", site.sockets);
}

#[test]
fn a_server_that_stops_upgrades_nobody() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, OPENING);
    site.server().draining = true;
    assert!(!upgrade(&mut site, SocketSettings::default()));
}
