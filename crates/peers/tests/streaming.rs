//! Bodies and answers in pieces, at the level of one connection.

mod support;

use http1::{Answer, Payload};
use peers::http::{BodyState, Connection, Pushed};
use peers::{Shared, Step};
use reactor::Io;
use support::Watch;
use support::site::{Site, Told, get};

const POST: &str = "POST / HTTP/1.1\r\nHost: x\r\n";

fn streaming() -> Site {
    Site::slow(|server| server.streamed_routes = vec![true; 3])
}

/// Let the connection of the nth request act.
fn act<R>(
    site: &mut Site,
    nth: usize,
    act: impl FnOnce(&mut Connection, u64, &mut Io<'_, Step<u32>>, &mut Shared) -> R,
) -> R {
    let exchange = site.seen[nth].exchange;
    let outcome = site.hub.with(exchange.key, |peer, io, shared| {
        act(peer.http().expect("a client of the server"), exchange.number, io, shared)
    });
    outcome.expect("it is there")
}

fn take(site: &mut Site, nth: usize) -> (Option<BodyState>, Vec<u8>) {
    let mut bytes = Vec::new();
    let state = act(site, nth, |connection, number, _, _| connection.take_body(number, &mut bytes));
    (state, bytes)
}

fn begin(site: &mut Site, nth: usize, payload: Payload<'_>) -> bool {
    let answer = Answer { status: 200, content_type: None, fields: &[], payload };
    act(site, nth, |connection, number, io, shared| connection.begin(number, &answer, io, shared))
}

fn push(site: &mut Site, nth: usize, data: &[u8]) -> Pushed {
    act(site, nth, |connection, number, io, _| connection.push(number, data, io))
}

#[test]
fn nobody_is_told_of_bytes_that_nobody_asked_for() {
    let mut site = streaming();
    let mut client = site.client();
    site.say(&mut client, &format!("{POST}Content-Length: 4\r\n\r\nab"));
    assert_eq!((1, 0), (site.seen.len(), site.told.len()));
    assert_eq!((Some(BodyState::More), b"ab".to_vec()), take(&mut site, 0));
    act(&mut site, 0, |connection, number, io, shared| connection.want_body(number, io, shared));
    site.settle();
    assert!(site.told.is_empty(), "nothing came");
    site.say(&mut client, "cd");
    assert_eq!([Told::Readable(0)], *site.told);
    assert_eq!((Some(BodyState::Done), b"cd".to_vec()), take(&mut site, 0));
    site.answer(0);
    site.settle();
    assert_eq!(None, take(&mut site, 0).0, "the exchange is over");
}

#[test]
fn what_is_there_already_is_told_at_once() {
    let mut site = streaming();
    let mut client = site.client();
    site.say(&mut client, &format!("{POST}Content-Length: 2\r\n\r\nab"));
    act(&mut site, 0, |connection, number, io, shared| connection.want_body(number, io, shared));
    site.settle();
    assert_eq!([Told::Readable(0)], *site.told);
}

#[test]
fn a_full_window_stops_the_reading() {
    let mut site = Site::slow(|server| {
        server.streamed_routes = vec![true; 3];
        server.body_window = 1000;
    });
    let mut client = site.client();
    site.say(&mut client, &format!("{POST}Content-Length: 300000\r\n\r\n"));
    client.send(&vec![b'x'; 150_000]);
    site.settle();
    let (state, first) = take(&mut site, 0);
    assert_eq!(Some(BodyState::More), state);
    assert!((1000..=64 * 1024).contains(&first.len()), "{} bytes", first.len());
    let mut all = first.len();
    while all < 150_000 {
        site.settle();
        let (_, bytes) = take(&mut site, 0);
        assert!(!bytes.is_empty() && bytes.len() <= 64 * 1024);
        all += bytes.len();
    }
    assert_eq!(150_000, all);
}

#[test]
fn a_fault_in_the_middle_is_handed_to_the_reader() {
    let mut site = streaming();
    let mut client = site.client();
    site.say(&mut client, &format!("{POST}Transfer-Encoding: chunked\r\n\r\n"));
    act(&mut site, 0, |connection, number, io, shared| connection.want_body(number, io, shared));
    site.say(&mut client, "zz\r\n");
    assert_eq!([Told::Readable(0)], *site.told);
    let Some(BodyState::Refused(refusal)) = take(&mut site, 0).0 else { panic!("it is no size") };
    assert_eq!(400, refusal.status);
    site.answer(0);
    assert!(site.end(&mut client).contains("200 OK"), "whoever reads it decides what to answer");
}

#[test]
fn a_writer_is_told_when_a_full_connection_has_room() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &get("/a"));
    assert!(begin(&mut site, 0, Payload::Chunked));
    let mut sent = 0;
    while push(&mut site, 0, &vec![b'x'; 65536]) == Pushed::Room {
        sent += 1;
        assert!(sent < 1000, "it is never full");
    }
    act(&mut site, 0, |connection, number, io, _| connection.want_room(number, io));
    site.hub.end_turn();
    let watch = Watch::start();
    while site.told.is_empty() {
        watch.check("room");
        client.read();
        if support::readable(&site.hub, 10) {
            site.turn();
        }
    }
    assert_eq!([Told::Writable(0)], *site.told);
    assert_eq!(Pushed::Room, push(&mut site, 0, b"more"));
}

#[test]
fn a_parked_writer_waits_for_its_turn() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &[get("/a"), get("/b")].concat());
    assert!(begin(&mut site, 1, Payload::Chunked));
    assert_eq!(Pushed::Room, push(&mut site, 1, b"early"));
    assert_eq!(Pushed::Full, push(&mut site, 1, &vec![b'x'; 200_000]));
    act(&mut site, 1, |connection, number, io, _| connection.want_room(number, io));
    site.settle();
    client.read();
    assert!(site.told.is_empty() && client.text.is_empty());
    site.answer(0);
    let watch = Watch::start();
    while site.told.is_empty() {
        watch.check("room");
        site.settle();
        client.read();
    }
    assert_eq!([Told::Writable(1)], *site.told);
}

#[test]
fn nothing_is_sent_beyond_the_announced_length() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &get("/a"));
    assert!(begin(&mut site, 0, Payload::Length(3)));
    assert!(!begin(&mut site, 0, Payload::Length(3)), "an answer is begun once");
    assert_eq!(Pushed::Room, push(&mut site, 0, b"ab"));
    assert_eq!(Pushed::TooLong, push(&mut site, 0, b"cd"));
    assert!(act(&mut site, 0, Connection::end).is_some(), "too short");
    site.settle();
    client.read();
    assert!(client.text.ends_with("\r\n\r\nab"));
}

#[test]
fn a_close_that_ends_an_answer_drops_what_was_asked_for_after_it() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    let old = "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    site.say(&mut client, &[old, old].concat());
    assert_eq!((2, 2), (site.seen.len(), site.server().running));
    assert!(begin(&mut site, 0, Payload::Chunked));
    assert_eq!(1, site.server().running);
    assert!(!site.answer(1), "nobody could tell where it begins");
    push(&mut site, 0, b"all");
    act(&mut site, 0, Connection::end);
    let key = site.seen[0].exchange.key;
    site.hub.close(key, reactor::CloseReason::Finished);
    assert!(site.end(&mut client).ends_with("\r\n\r\nall"));
}

#[test]
fn who_watches_is_told_that_the_client_left() {
    for method in ["GET", "POST"] {
        let mut site = Site::slow(|_| {});
        let mut client = site.client();
        site.say(
            &mut client,
            &format!("{method} / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"),
        );
        act(&mut site, 0, |connection, number, io, _| connection.watch(number, io));
        site.settle();
        assert!(site.told.is_empty());
        client.finish();
        site.until("the news", |site| site.told == [Told::Gone(0)]);
        act(&mut site, 0, |connection, number, io, _| connection.watch(number, io));
        site.settle();
        assert_eq!([Told::Gone(0); 2], *site.told, "late watchers are told at once");
        assert!(site.answer(0), "it may still read");
        assert!(site.end(&mut client).starts_with("HTTP/1.1 200"));
    }
}
