//! Requests of every form on one connection: bodies, expectations, limits, methods, versions.

mod support;

use peers::Routed;
use support::site::{Client, Site, get, post};

/// All that a fresh connection answers to this.
fn answers(site: &mut Site, text: &str) -> Client {
    let mut client = site.client();
    site.say(&mut client, text);
    client
}

fn status(client: &Client) -> &str {
    client.text.split(' ').nth(1).unwrap_or("nothing")
}

#[test]
fn bodies_may_come_in_any_pieces() {
    let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n";
    for text in [post("hello world"), chunked.to_owned()] {
        let both = [text.clone(), get("/after")].concat();
        for size in [1, 2, 7, both.len()] {
            let mut site = Site::new(|_| {});
            let mut client = site.client();
            for piece in both.as_bytes().chunks(size) {
                client.send(piece);
                site.settle();
            }
            client.read();
            assert_eq!(["/hello world", "/after"], *client.bodies(), "pieces of {size}");
        }
    }
}

#[test]
fn a_large_body_arrives_whole() {
    let mut site = Site::new(|_| {});
    let mut client = site.client();
    let body = "0123456789".repeat(300_000);
    let text = post(&body);
    for piece in text.as_bytes().chunks(50_000) {
        client.send(piece);
        site.settle();
    }
    assert_eq!(body.as_bytes(), &*site.seen[0].data.body);
    // What is answered is as large: the socket takes it in pieces.
    site.expect(&mut client, &body[body.len() - 100..]);
    site.until("all of it", |site| !support::readable(&site.hub, 0));
    client.read();
}

#[test]
fn a_client_that_waits_for_leave_gets_it_once() {
    let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    let mut site = Site::new(|_| {});
    let mut client = answers(&mut site, head);
    assert_eq!("HTTP/1.1 100 Continue\r\n\r\n", client.text);
    site.say(&mut client, "h");
    site.say(&mut client, "i");
    assert_eq!(1, client.text.matches("100 Continue").count());
    assert!(client.text.ends_with("/hi"), "{}", client.text);
    // Who did not wait needs no leave.
    let client = answers(&mut site, &format!("{head}hi"));
    assert_eq!(["/hi"], *client.bodies());
    // Behind another request the leave comes after that one's answer.
    let client = answers(&mut site, &format!("{}{head}", get("/first")));
    assert!(client.text.find("/first") < client.text.find("100 Continue"), "{}", client.text);
    // And nobody gets leave for what is refused anyway.
    let too_large = head.replace("Content-Length: 2", "Content-Length: 99999999999");
    let mut client = answers(&mut site, &too_large);
    assert_eq!("413", status(&client));
    client.finish();
    site.end(&mut client);
}

#[test]
fn every_limit_has_its_status() {
    let long = |count: usize| "x".repeat(count);
    let many = "A: b\r\n".repeat(101);
    let length = "Content-Length: 1001\r\n\r\n";
    let chunks = format!("Transfer-Encoding: chunked\r\n\r\n3e9\r\n{}\r\n0\r\n\r\n", long(1001));
    for (text, expected) in [
        (format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", long(9000)), "414"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"), "431"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", long(40_000)), "431"),
        (format!("POST / HTTP/1.1\r\nHost: x\r\n{length}"), "413"),
        (format!("POST / HTTP/1.1\r\nHost: x\r\n{chunks}"), "413"),
    ] {
        let mut site = Site::new(|server| server.limits.body_bytes = 1000);
        let mut client = answers(&mut site, &text);
        assert_eq!(expected, status(&client));
        client.finish();
        let text = site.end(&mut client);
        assert!(text.contains("Connection: close"), "{text}");
        assert!(site.seen.is_empty());
        assert_eq!(0, site.server().connections);
    }
}

#[test]
fn http_1_0_closes_unless_it_asks_to_stay() {
    let mut site = Site::new(|_| {});
    let mut client = answers(&mut site, "GET /a HTTP/1.0\r\n\r\n");
    assert!(site.end(&mut client).ends_with("/a"));
    let stay = "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    let mut client = answers(&mut site, stay);
    assert!(!client.ended);
    assert!(client.text.contains("Connection: keep-alive\r\n"), "{}", client.text);
    site.say(&mut client, "GET /b HTTP/1.0\r\n\r\n");
    site.end(&mut client);
    assert_eq!(["/a", "/b"], *client.bodies());
}

#[test]
fn a_head_request_gets_a_head() {
    let mut site = Site::new(|server| server.has_fallback = false);
    for (path, status) in [("/a", "200"), ("/a/b", "404")] {
        let head = get(path).replace("GET", "HEAD");
        let client = answers(&mut site, &[head, get("/next")].concat());
        let (first, rest) = client.text.split_once("\r\n\r\n").expect("a head");
        assert!(first.contains(status), "{first}");
        assert!(rest.starts_with("HTTP/1.1 200"), "no body: {rest}");
        assert!(!first.contains("Content-Length: 0"), "the length is the other answer's: {first}");
    }
}

#[test]
fn what_no_route_takes_is_handed_over_where_the_driver_answers_it() {
    let mut site = Site::slow(|server| server.has_fallback = true);
    let mut client = site.client();
    for method in ["GET", "PUT", "OPTIONS"] {
        let path = if method == "GET" { "/no/where" } else { "/" };
        site.say(&mut client, &get(path).replace("GET", method));
        let routed = &site.seen.last().expect("it is handed over").data.routed;
        match (method, routed) {
            ("GET", Routed::NotFound) => {}
            ("PUT", Routed::NotAllowed(allow)) | ("OPTIONS", Routed::Options(allow)) => {
                assert_eq!("GET, POST, HEAD, OPTIONS", allow);
            }
            _ => panic!("{method}: {routed:?}"),
        }
        assert!(site.answer(site.seen.len() - 1));
        site.settle();
    }
}

#[test]
fn what_no_route_takes_is_answered_here() {
    let mut site = Site::new(|server| server.has_fallback = false);
    let mut client = site.client();
    for (method, path, expected) in [
        ("GET", "/no/where", "404"),
        ("PUT", "/", "405"),
        ("BREW", "/", "405"),
        ("OPTIONS", "/", "204"),
    ] {
        client.text.clear();
        site.say(&mut client, &get(path).replace("GET", method));
        assert_eq!(expected, status(&client), "{method} {path}");
        let allow = client.text.contains("Allow: GET, POST, HEAD, OPTIONS\r\n");
        assert_eq!(expected != "404", allow, "{}", client.text);
        assert!(!client.ended);
    }
    assert!(site.seen.is_empty());
    assert_eq!(0, site.server().running);
}

#[test]
fn more_connections_than_allowed_are_turned_away() {
    let mut site = Site::new(|server| server.most_connections = 1);
    let mut first = site.client();
    let mut second = site.client();
    site.end(&mut second);
    site.say(&mut first, &get("/a"));
    assert_eq!(["/a"], *first.bodies());
    first.finish();
    site.end(&mut first);
    assert_eq!(0, site.server().connections);
    let mut third = site.client();
    site.say(&mut third, &get("/b"));
    assert_eq!(["/b"], *third.bodies());
}

#[test]
fn a_server_that_is_gone_ends_its_connections() {
    let mut site = Site::slow(|_| {});
    let mut client = site.client();
    let mut idle = site.client();
    site.say(&mut client, &get("/a"));
    site.hub.shared.servers[0] = None;
    // A new one never gets the number of one whose connections are still about.
    assert_eq!(1, site.hub.shared.add_server(support::site::server()));
    assert!(!site.answer(0));
    idle.send(get("/b").as_bytes());
    site.end(&mut idle);
    assert_eq!(1, site.seen.len());
}

#[test]
fn a_head_that_comes_slowly_is_looked_at_once_for_each_line() {
    let mut site = Site::new(|_| {});
    let mut client = answers(&mut site, "GET / HTTP/1.1\r\n");
    site.say(&mut client, "Fault : here");
    assert_eq!("", client.text, "the line is not there yet");
    site.say(&mut client, "\r\n");
    assert_eq!("400", status(&client));
    // A first piece is read to its end: a client that speaks something else waits for no line.
    let client = answers(&mut site, "\u{16}\u{3}\u{1}");
    assert_eq!("400", status(&client));
}
