//! Pipelining: order always, safe methods together, all others alone, and bounded memory.

mod support;

use support::site::{Site, get, post, respond_with};
use support::{Watch, readable};

fn paths(site: &Site) -> Vec<String> {
    site.seen.iter().map(support::site::Seen::path).collect()
}

#[test]
fn answers_leave_in_the_order_of_requests_whatever_the_order_they_come_in() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &[get("/a"), get("/b"), get("/c")].concat());
    assert_eq!(["/a", "/b", "/c"], *paths(&site), "safe requests run together");
    for (nth, expected) in [(2, vec![]), (1, vec![]), (0, vec!["/a", "/b", "/c"])] {
        assert!(site.answer(nth));
        site.settle();
        client.read();
        assert_eq!(expected, client.bodies());
    }
    assert!(!site.answer(1), "an answer is given once");
    assert_eq!(0, site.server().running);
}

#[test]
fn an_unsafe_request_runs_alone() {
    let mut site = Site::slow(|server| server.has_fallback = false);
    let mut client = site.client();
    let options = "OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned();
    let delete = "DELETE /d HTTP/1.1\r\nHost: x\r\n\r\n".to_owned();
    let all = [get("/a"), get("/b"), post("body"), get("/c"), options, delete, get("/e")].concat();
    site.say(&mut client, &all);
    assert_eq!(["/a", "/b"], *paths(&site), "the barrier waits");
    site.answer(1);
    site.settle();
    assert_eq!(2, site.seen.len(), "for all before it");
    site.answer(0);
    site.settle();
    assert_eq!(["/a", "/b", "/"], *paths(&site));
    assert_eq!(b"body", &*site.seen[2].data.body);
    site.answer(2);
    site.settle();
    // The site answers OPTIONS and the 405 of DELETE itself, in their places.
    assert_eq!(["/c"], paths(&site)[3..]);
    site.answer(3);
    site.settle();
    assert_eq!(["/c", "/e"], paths(&site)[3..]);
    site.answer(4);
    site.settle();
    client.read();
    let bodies = client.bodies();
    assert_eq!(["/b", "/body", "/c", "204 ", "405 Method Not Allowed", "/e"], bodies[1..]);
}

#[test]
fn a_body_makes_a_safe_request_wait_too() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    let with_body = "GET /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    site.say(&mut client, &[&get("/a"), with_body].concat());
    assert_eq!(["/a"], *paths(&site));
    site.answer(0);
    site.settle();
    assert_eq!(["/a", "/b"], *paths(&site));
}

#[test]
fn no_more_than_the_cap_run_at_once() {
    let mut site = Site::slow(|server| server.in_flight = 3);
    let mut client = site.client();
    site.say(&mut client, &get("/x").repeat(10));
    assert_eq!(3, site.seen.len());
    assert!(!readable(&site.hub, 0), "a full connection asks for nothing");
    for nth in 0..10 {
        assert_eq!((nth + 3).min(10), site.seen.len());
        assert!(site.server().running <= 3);
        assert!(site.answer(nth));
        site.settle();
    }
    client.read();
    assert_eq!(10, client.bodies().len());
}

#[test]
fn parked_answers_stop_the_reading_when_they_are_too_large() {
    let mut site = Site::slow(|server| server.queued_bytes = 10_000);
    let mut client = site.client();
    site.say(&mut client, &get("/x").repeat(4));
    assert_eq!(4, site.seen.len());
    // The fourth answer waits for three others, and is too large to let more come.
    let exchange = site.seen[3].exchange;
    assert!(respond_with(&mut site.hub, exchange, &vec![b'x'; 20_000]));
    site.settle();
    site.say(&mut client, &get("/more"));
    assert_eq!(4, site.seen.len());
    for nth in 0..3 {
        site.answer(nth);
    }
    site.until("the next request", |site| site.seen.len() == 5);
    assert_eq!("/more", site.seen[4].path());
}

#[test]
fn depth_1000_works_within_bounds() {
    let mut site = Site::slow(|server| (server.in_flight, server.queued_bytes) = (64, 10_000));
    let mut client = site.client();
    client.send(get("/x").repeat(1000).as_bytes());
    let mut answered = 0;
    let watch = Watch::start();
    while answered < 1000 {
        watch.check("1000 answers");
        site.until("a request", |site| site.seen.len() > answered);
        assert!(site.seen.len() - answered <= 64);
        let exchange = site.seen[answered].exchange;
        assert!(respond_with(&mut site.hub, exchange, &[b'y'; 1000]));
        answered += 1;
        let queued = site.hub.with(exchange.key, |_, io, _| (io.queued(), io.input().len()));
        let (output, input) = queued.expect("it is there");
        assert!(output < 12_000 && input <= 64 * 1024, "{output} and {input} bytes are held");
        site.settle();
        client.read();
    }
    assert_eq!(1000, client.bodies().len());
}

#[test]
fn nothing_runs_after_connection_close() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    let last = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    site.say(&mut client, &[&get("/a"), last, &get("/never"), &post("never")].concat());
    assert_eq!(["/a", "/last"], *paths(&site));
    site.say(&mut client, &get("/not/even/later"));
    assert_eq!(2, site.seen.len());
    site.answer(1);
    site.answer(0);
    let text = site.end(&mut client);
    assert_eq!(1, text.matches("Connection: close").count());
    assert_eq!(["/a", "/last"], *client.bodies());
    assert_eq!(0, site.server().connections);
}

#[test]
fn a_refusal_comes_after_the_answers_that_are_owed() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &[&get("/a"), &get("/b"), "BAD\r\n\r\n", &get("/never")].concat());
    assert_eq!(["/a", "/b"], *paths(&site));
    assert_eq!("", client.text);
    site.answer(1);
    site.answer(0);
    site.end(&mut client);
    let bodies = client.bodies();
    assert_eq!(["/a", "/b"], bodies[..2]);
    assert!(bodies[2].starts_with("400 "), "{bodies:?}");
    assert_eq!(3, bodies.len());
    assert_eq!((0, 0), (site.server().running, site.server().connections));
}

#[test]
fn an_unfinished_body_ends_the_pipeline_and_does_not_run() {
    for body in ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"] {
        let mut site = Site::new(|_| {});
        let mut client = site.client();
        let head = "POST / HTTP/1.1\r\nHost: x\r\n";
        site.say(&mut client, &[&get("/a"), head, body].concat());
        client.finish();
        site.end(&mut client);
        assert_eq!(["/a"], *client.bodies());
        assert_eq!(1, site.seen.len());
        assert_eq!((0, 0), (site.server().running, site.server().connections));
    }
}

#[test]
fn a_client_that_sent_all_and_ended_its_half_gets_all_answers() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &[get("/a"), post("b")].concat());
    client.finish();
    site.settle();
    site.answer(0);
    site.until("the second", |site| site.seen.len() == 2);
    site.answer(1);
    site.end(&mut client);
    assert_eq!(["/a", "/b"], *client.bodies());
}

#[test]
fn answers_to_a_client_that_has_gone_are_owed_no_more() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &get("/a").repeat(3));
    let key = site.seen[0].exchange.key;
    assert_eq!(3, site.server().running);
    site.hub.abort(key, reactor::CloseReason::Stopped);
    assert_eq!((0, 0), (site.server().running, site.server().connections));
    let mut other = site.client();
    site.say(&mut other, &get("/b"));
    assert!(!site.answer(0), "the place is somebody else's now");
    assert_eq!(1, site.server().running);
    assert!(site.answer(3));
}

#[test]
fn draining_answers_what_runs_and_closes() {
    for (order, served) in [([0, 1], 3), ([1, 0], 2)] {
        let mut site = Site::slow(|_| {});
        let mut client = site.client();
        site.say(&mut client, &get("/a").repeat(2));
        site.server().draining = true;
        // A request that comes before the last answer was given is served, and is the last.
        site.answer(order[0]);
        site.say(&mut client, &get("/late").repeat(2));
        site.answer(order[1]);
        for nth in 2..site.seen.len() {
            site.answer(nth);
        }
        assert_eq!(served, site.seen.len());
        let text = site.end(&mut client).to_owned();
        assert_eq!(1, text.matches("Connection: close").count(), "{text}");
        assert!(text.rfind("HTTP/1.1") < text.find("Connection: close"), "the last one: {text}");
        assert_eq!(0, site.server().connections);
        let mut refused = site.client();
        assert_eq!("", site.end(&mut refused));
    }
}

#[test]
fn draining_closes_though_the_newest_answer_was_given_before() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    site.say(&mut client, &get("/a").repeat(2));
    site.answer(1);
    site.server().draining = true;
    site.answer(0);
    site.end(&mut client);
    assert_eq!(["/a", "/a"], *client.bodies());
}
