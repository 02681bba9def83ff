//! The closed loop against scripted servers: what is counted, and as what.

mod common;

use std::io::{self, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use common::{Request, Server, all_errors, all_ok, all_wrong, ok, total, write_bytewise};
use load::run::Share;

/// A server that answers the request with `number` in its own way and all others right.
fn once(
    number: u64,
    script: impl Fn(&mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> Server {
    Server::start(move |stream, request| {
        if request.number == number {
            return script(stream);
        }
        stream.write_all(ok("hello").as_bytes())
    })
}

fn hang_up<T>() -> io::Result<T> {
    Err(ErrorKind::Other.into())
}

/// Everything the server read is accounted for: as an answer or as an error.
fn assert_balanced(server: &Server, share: &Share) {
    let booked = all_ok(share) + all_wrong(share) + all_errors(share);
    assert_eq!(server.requests(), booked);
}

#[test]
fn every_right_answer_is_counted_once() {
    let server = once(u64::MAX, |_| Ok(()));
    let share = server.load(&["--warmup", "0.1"]);
    assert_eq!(server.requests(), all_ok(&share));
    assert_eq!((0, 0, 0), (all_wrong(&share), all_errors(&share), share.reconnects()));
    assert!(share.tallies.iter().all(|tally| tally.ok > 0), "every phase has answers");
    let measured = share.measured();
    assert_eq!(measured.ok, measured.latency.len());
    assert_eq!(measured.ok, share.series.iter().map(|second| second.ok).sum::<u64>());
    assert_eq!(ok("hello").len() as u64 * all_ok(&share), total(&share, |tally| tally.bytes_in));
}

#[test]
fn a_wrong_body_in_the_middle_is_found() {
    let server = once(20, |stream| stream.write_all(ok("hallo").as_bytes()));
    let share = server.load(&[]);
    assert_eq!(1, total(&share, |tally| tally.wrong.body));
    assert_eq!((1, 0), (all_wrong(&share), all_errors(&share)));
    let first = share.first_wrong.as_ref().unwrap();
    assert_eq!("body differs from byte 1", first.reason);
    assert_eq!(("hallo", 200), (first.excerpt.as_str(), first.status));
    assert_balanced(&server, &share);
}

#[test]
fn a_wrong_length_is_found() {
    let server = once(20, |stream| stream.write_all(ok("hello!").as_bytes()));
    let share = server.load(&["--check", "length"]);
    assert_eq!((1, 1), (total(&share, |tally| tally.wrong.length), all_wrong(&share)));
    let share = server.load(&["--check", "given", "--expect-length", "4"]);
    assert_eq!(0, all_ok(&share));
    assert_eq!(all_wrong(&share), total(&share, |tally| tally.wrong.length));
}

#[test]
fn a_wrong_status_is_found() {
    let sorry = "HTTP/1.1 503 Sorry\r\nContent-Length: 5\r\n\r\nhello";
    let server = once(20, move |stream| stream.write_all(sorry.as_bytes()));
    let share = server.load(&["--check", "given"]);
    assert_eq!((1, 1), (total(&share, |tally| tally.wrong.status), all_wrong(&share)));
    assert_eq!("status 503, expected 200", share.first_wrong.unwrap().reason);
}

#[test]
fn a_short_body_is_an_error() {
    let server = once(20, |stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")?;
        hang_up()
    });
    let share = server.load(&[]);
    assert_eq!((1, 1), (total(&share, |tally| tally.errors.short), all_errors(&share)));
    assert_eq!((1, 0), (share.reconnects(), all_wrong(&share)));
    assert_balanced(&server, &share);
}

#[test]
fn a_reset_is_an_error() {
    let server = once(20, |stream| {
        rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
        hang_up()
    });
    let share = server.load(&[]);
    assert_eq!((1, 1), (total(&share, |tally| tally.errors.reset), all_errors(&share)));
    assert_eq!(1, share.reconnects());
    assert_balanced(&server, &share);
}

#[test]
fn a_silent_server_times_out() {
    let server = once(20, |_| Ok(()));
    let share = server.load(&["--timeout", "0.2", "-d", "0.6"]);
    assert_eq!((1, 1), (total(&share, |tally| tally.errors.timeout), all_errors(&share)));
    assert_eq!(1, share.reconnects());
    assert_balanced(&server, &share);
}

#[test]
fn rubbish_is_an_error() {
    let server = once(20, |stream| stream.write_all(b"220 smtp ready\r\n\r\n"));
    let share = server.load(&[]);
    assert_eq!((1, 1), (total(&share, |tally| tally.errors.parse), all_errors(&share)));
    assert!(share.first_unreadable.unwrap().contains("220 smtp"));
}

#[test]
fn bytes_nobody_asked_for_are_an_error() {
    let server = once(20, |stream| stream.write_all((ok("hello") + "HTTP/1.1 2").as_bytes()));
    let share = server.load(&[]);
    assert_eq!((1, 1), (total(&share, |tally| tally.errors.parse), all_errors(&share)));
    assert_eq!(server.requests(), all_ok(&share));
}

#[test]
fn nobody_listening_is_an_error() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut server = Server::start(|_, _| Ok(()));
    server.address = address;
    let share = server.load(&[]);
    assert!(total(&share, |tally| tally.errors.connect) >= 3);
    assert_eq!((0, 0), (all_ok(&share), share.opened));
}

#[test]
fn chunked_answers_are_decoded_and_compared() {
    let chunks = |number: u64| match number % 3 {
        0 => "5\r\nhello\r\n0\r\n\r\n",
        1 => "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nChecksum: t\r\n\r\n",
        _ => "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n",
    };
    let server = Server::start(move |stream, Request { number, .. }| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = if number == 30 { "5\r\nhallo\r\n0\r\n\r\n" } else { chunks(number) };
        write_bytewise(stream, &format!("{head}{body}"))
    });
    let share = server.load(&["--expect-length", "5"]);
    assert_eq!((1, 1), (total(&share, |tally| tally.wrong.body), all_wrong(&share)));
    assert_eq!(0, all_errors(&share), "{:?}", share.first_unreadable);
    assert_eq!(server.requests(), all_ok(&share) + 1);
    assert!(server.requests() > 30);
}

#[test]
fn pipelined_answers_arrive_byte_by_byte() {
    let server = Server::start(|stream, Request { number, .. }| {
        let body = if number == 50 { "hallo" } else { "hello" };
        write_bytewise(stream, &ok(body))
    });
    let share = server.load(&["-p", "7"]);
    assert_eq!((1, 0), (all_wrong(&share), all_errors(&share)));
    assert_eq!(server.requests(), all_ok(&share) + 1);
    assert_eq!(0, server.requests() % 7, "whole rounds");
}

#[test]
fn a_pipelined_round_lost_is_lost_whole() {
    let server = once(30, |_| hang_up());
    let share = server.load(&["-p", "5", "-c", "1"]);
    // 30 is the first of its round of five on the only connection.
    assert_eq!(5, all_errors(&share));
    assert_eq!(server.requests(), all_ok(&share) + 1);
}

#[test]
fn a_connection_that_the_server_ends_is_opened_again() {
    let server = Server::start(|stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi")?;
        hang_up()
    });
    let share = server.load(&[]);
    assert_eq!((0, 0), (all_wrong(&share), all_errors(&share)));
    assert_eq!(server.requests(), all_ok(&share));
    assert!(share.reconnects() > 3);
}

#[test]
fn one_request_per_connection_when_asked() {
    let server = Server::start(|stream, request| {
        assert!(request.head.contains("\r\nConnection: close\r\n"));
        stream.write_all(ok("hello").as_bytes())
    });
    let share = server.load(&["--no-keepalive"]);
    assert_eq!(0, all_errors(&share));
    // The last answers of the run open nothing new.
    assert!(share.opened >= all_ok(&share) && share.opened <= all_ok(&share) + 3);
}

#[test]
fn a_body_may_end_with_the_connection() {
    let server = Server::start(|stream, request| {
        let body = if request.number == 9 { "hallo" } else { "hello" };
        stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{body}").as_bytes())?;
        hang_up()
    });
    let share = server.load(&[]);
    assert_eq!((1, 0), (all_wrong(&share), all_errors(&share)));
    assert_eq!(server.requests(), all_ok(&share) + 1);
}

#[test]
fn an_answer_to_head_has_no_body() {
    let server = Server::start(|stream, request| {
        assert!(request.head.starts_with("HEAD / HTTP/1.1\r\n"));
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
    });
    let share = server.load(&["-m", "HEAD", "-p", "2"]);
    assert_eq!((0, 0), (all_wrong(&share), all_errors(&share)));
    assert_eq!(server.requests(), all_ok(&share));
}

#[test]
fn fields_and_body_are_sent_as_given() {
    let server = Server::start(|stream, Request { head, body, .. }| {
        let right = head.starts_with("POST / HTTP/1.1\r\nHost: 127.0.0.1:")
            && head.contains("\r\nX-A: b c\r\n")
            && body == "a=1&b=2";
        stream.write_all(ok(if right { "right" } else { "wrong" }).as_bytes())
    });
    let share = server.load(&["-m", "POST", "-H", "X-A: b c", "-b", "a=1&b=2"]);
    assert!(all_ok(&share) > 0);
    assert_eq!(5, share_learned(&server, b"right"));
}

/// The learned template, checked by running again with the body given.
fn share_learned(server: &Server, body: &[u8]) -> usize {
    let plan = server.plan(&["-m", "POST", "-H", "X-A: b c", "-b", "a=1&b=2"]).unwrap();
    load::run::run(&plan, |_| {}).unwrap();
    let learned = plan.steps[0].expect.learned().unwrap();
    assert_eq!(Ok(()), learned.template.matches(body, &[]));
    learned.length
}

#[test]
fn holes_may_differ_and_nothing_else() {
    let server = Server::start(|stream, Request { number, .. }| {
        let end = if number == 25 { "!" } else { "." };
        stream.write_all(ok(&format!("<i value='{number}'>{end}")).as_bytes())
    });
    let share = server.load(&["--hole", "value='", "'"]);
    assert_eq!((1, 1), (total(&share, |tally| tally.wrong.body), all_wrong(&share)));
    assert_eq!(server.requests(), all_ok(&share) + 1);
    assert!(all_wrong(&server.load(&[])) > 0, "without holes every token is a difference");
}

#[test]
fn threads_share_the_connections_and_the_truth() {
    let server = once(u64::MAX, |_| Ok(()));
    let share = server.load(&["-t", "2", "-c", "4"]);
    assert_eq!((server.requests(), 0), (all_ok(&share), all_wrong(&share)));
    assert_eq!((4, 4), (share.connections, share.opened));
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let server = once(u64::MAX, |_| Ok(()));
    for options in [
        &["-c", "0"][..],
        &["-p", "0"],
        &["-d", "0"],
        &["-R", "0"],
        &["-t", "4"],
        &["-p", "2", "--no-keepalive"],
        &["-H", "no colon"],
        &["-H", "A: b\r\nC: d"],
        &["--hole", "", "x"],
        &["--expect-hash", "pqr"],
        &["--timeout", "0"],
    ] {
        assert!(server.plan(options).is_err(), "{options:?}");
    }
}
