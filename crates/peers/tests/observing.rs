//! What a server tells about its exchanges: counters, and a line for each in the log.

mod support;

use std::cell::Cell;

use http1::{Answer, Payload};
use peers::observe::{Observer, Template, names};
use peers::{Exchange, Server};
use reactor::{CloseReason, Key};
use support::site::{Site, get};

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

fn clock() -> u64 {
    NOW.get()
}

fn watched(server: &mut Server) {
    let template = Template::parse("{method} {target} {status} {bytes} {micros}", false);
    server.observer = Some(Box::new(Observer::new(clock, Some(template.expect("a template")))));
}

fn lines(site: &mut Site) -> String {
    let mut text = Vec::new();
    site.hub.shared.take_lines(|_, lines| text.append(lines));
    String::from_utf8(text).expect("text")
}

fn count(site: &mut Site, name: &str) -> u64 {
    let place = names().iter().position(|one| one == name).expect("a name");
    site.server().observer.as_ref().expect("it is there").metrics.numbers()[place]
}

fn exchange(site: &Site, number: usize) -> Exchange {
    site.seen[number].exchange
}

#[test]
fn every_answer_is_a_line_with_its_own_time_in_the_order_of_the_answers() {
    let mut site = Site::slow(watched);
    let mut client = site.client();
    NOW.set(100);
    client.send((get("/") + &get("/a")).as_bytes());
    site.until("both", |site| site.seen.len() == 2);
    NOW.set(350);
    site.answer(1);
    NOW.set(400);
    site.answer(0);
    assert_eq!("GET /a 200 2 250\nGET / 200 1 300\n", lines(&mut site));
    assert_eq!("", lines(&mut site), "lines are given once");
    let name = "tarmac_http_requests_total{method=\"GET\",status=\"2xx\"}";
    assert_eq!(2, count(&mut site, name));
}

#[test]
fn own_answers_and_refusals_are_lines_too() {
    let mut site = Site::new(|server| {
        watched(server);
        server.has_fallback = false;
    });
    let mut client = site.client();
    let wrong = "DELETE / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned() + &get("/a/b") + "b@d\r\n\r\n";
    site.say(&mut client, &wrong);
    assert_eq!("DELETE / 405 18 0\nGET /a/b 404 9 0\n- - 400", &lines(&mut site)[..42],);
    assert_eq!(1, count(&mut site, "tarmac_http_refused_total{reason=\"syntax\"}"));
}

#[test]
fn an_answer_in_pieces_is_one_line_with_all_its_bytes() {
    let mut site = Site::slow(watched);
    let mut client = site.client();
    client.send(get("/").as_bytes());
    site.until("it", |site| site.seen.len() == 1);
    let Exchange { key, number } = exchange(&site, 0);
    let answer = Answer { status: 206, content_type: None, fields: &[], payload: Payload::Chunked };
    with(&mut site, key, |connection, io, shared| {
        assert!(connection.begin(number, &answer, io, shared));
        connection.push(number, b"abc", io);
        connection.push(number, b"de", io);
    });
    assert_eq!("", lines(&mut site));
    with(&mut site, key, |connection, io, shared| {
        assert_eq!(None, connection.end(number, io, shared));
    });
    assert_eq!("GET / 206 5 0\n", lines(&mut site));
}

#[test]
fn a_client_that_leaves_is_told_of_as_such() {
    let mut site = Site::slow(watched);
    let mut client = site.client();
    client.send(get("/").as_bytes());
    site.until("it", |site| site.seen.len() == 1);
    let key = exchange(&site, 0).key;
    site.hub.abort(key, CloseReason::Finished);
    assert_eq!("GET / 499 0 0\n", lines(&mut site));
    assert_eq!(1, count(&mut site, "tarmac_http_clients_left_total"));
}

#[test]
fn a_head_is_answered_without_content() {
    let mut site = Site::new(watched);
    let mut client = site.client();
    site.say(&mut client, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(lines(&mut site).starts_with("HEAD / 200 0 "));
}

fn with(
    site: &mut Site,
    key: Key,
    act: impl FnOnce(
        &mut peers::http::Connection,
        &mut reactor::Io<'_, peers::Step<support::Waiter>>,
        &mut peers::Shared,
    ),
) {
    site.hub
        .with(key, |peer, io, shared| act(peer.http().expect("a client"), io, shared))
        .expect("it is there");
}
