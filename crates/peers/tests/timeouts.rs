//! What a client may take its time for, and what not.

mod support;

use peers::Timeouts;
use support::readable;
use support::site::{Client, Site, get};

const SHORT: u64 = 120;
const LONG: u64 = 60_000;

fn patient() -> Timeouts {
    Timeouts { handshake: LONG, header: LONG, body: LONG, body_rate: 0, idle: LONG, write: LONG }
}

/// Turns for so many milliseconds, or until the connection ends.
fn pass(site: &mut Site, client: &mut Client, milliseconds: u64) {
    let until = site.hub.update_time() + milliseconds;
    while site.hub.update_time() < until && !client.ended {
        if readable(&site.hub, 5) {
            site.turn();
        }
        client.read();
    }
}

/// Sends a byte now and then until the connection ends; tells how long that took.
fn trickle(site: &mut Site, client: &mut Client) -> u64 {
    let start = site.hub.update_time();
    while !client.ended {
        client.try_send(b"x");
        pass(site, client, 20);
        assert!(site.hub.now() < start + 10_000, "trickling keeps it open");
    }
    site.hub.update_time() - start
}

#[test]
fn the_time_for_a_head_runs_from_its_first_byte() {
    let mut site = Site::new(|server| {
        server.timeouts = Timeouts { handshake: LONG, header: SHORT, ..patient() }
    });
    let mut client = site.client();
    site.say(&mut client, &get("/a"));
    client.text.clear();
    // Without a byte of a head there is no hurry.
    pass(&mut site, &mut client, SHORT + 50);
    site.say(&mut client, "GET /");
    let took = trickle(&mut site, &mut client);
    assert!(client.text.starts_with("HTTP/1.1 408 "), "{:?}", client.text);
    assert!(took + 40 >= SHORT, "{took} ms");
}

#[test]
fn every_piece_of_a_body_gives_more_time() {
    let mut site = Site::new(|server| server.timeouts = Timeouts { body: SHORT, ..patient() });
    let mut client = site.client();
    site.say(&mut client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    for _ in 0..4 {
        pass(&mut site, &mut client, SHORT * 2 / 3);
        assert!(!client.ended, "{}", client.text);
        client.send(b"x");
    }
    let text = site.end(&mut client);
    assert!(text.starts_with("HTTP/1.1 408 "), "{text:?}");
    assert!(site.seen.is_empty());
}

#[test]
fn an_idle_connection_ends_without_a_word() {
    let mut site = Site::new(|server| server.timeouts = Timeouts { idle: SHORT, ..patient() });
    let mut client = site.client();
    site.say(&mut client, &get("/a"));
    let start = site.hub.update_time();
    site.end(&mut client);
    assert!(site.hub.update_time() >= start + SHORT - 20);
    assert_eq!(["/a"], *client.bodies());
    assert_eq!(0, site.server().connections);
}

#[test]
fn a_slow_handler_is_not_the_clients_fault() {
    let timeouts = Timeouts {
        handshake: LONG,
        header: SHORT,
        body: SHORT,
        body_rate: 0,
        idle: SHORT,
        write: LONG,
    };
    let mut site = Site::slow(|server| server.timeouts = timeouts);
    let mut client = site.client();
    // Half a head waits behind the request that takes so long.
    site.say(&mut client, &format!("{}GET /next", get("/slow")));
    pass(&mut site, &mut client, SHORT * 3);
    assert!(!client.ended, "{}", client.text);
    assert!(site.answer(0));
    site.settle();
    client.read();
    assert_eq!(["/slow"], *client.bodies());
    pass(&mut site, &mut client, SHORT / 2);
    assert!(!client.ended, "the time for the rest of the head starts with the answer");
    site.say(&mut client, " HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(2, site.seen.len());
    pass(&mut site, &mut client, SHORT * 2);
    assert!(site.answer(1));
    // No turn was given for a while: the idle time starts now all the same.
    pass(&mut site, &mut client, SHORT / 2);
    assert!(!client.ended);
    site.end(&mut client);
    assert_eq!(["/slow", "/next"], *client.bodies());
}

#[test]
fn a_client_that_still_reads_is_not_idle() {
    let timeouts = Timeouts { idle: SHORT, header: SHORT, ..patient() };
    let mut site = Site::new(|server| server.timeouts = timeouts);
    let mut client = site.client();
    let body = "x".repeat(4_000_000);
    let text = support::site::post(&body);
    for piece in text.as_bytes().chunks(100_000) {
        client.send(piece);
        site.settle();
    }
    // Half a head, which nobody reads while so much output waits.
    client.send(b"GET /b HTTP/1.1\r\n");
    let until = site.hub.update_time() + SHORT * 3;
    while site.hub.update_time() < until {
        if readable(&site.hub, 5) {
            site.turn();
        }
    }
    client.read();
    site.settle();
    site.expect(&mut client, &body);
    site.say(&mut client, "Host: x\r\n\r\n");
    site.expect(&mut client, "/b");
}

#[test]
fn a_client_that_never_reads_is_dropped() {
    let mut site = Site::new(|server| server.timeouts = Timeouts { write: SHORT, ..patient() });
    let mut client = site.client();
    let text = support::site::post(&"x".repeat(4_000_000));
    for piece in text.as_bytes().chunks(100_000) {
        client.send(piece);
        site.settle();
    }
    site.until("the end", |site| site.hub.keys().len() == 1);
    assert_eq!(0, site.server().connections);
}
