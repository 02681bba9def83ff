//! The open loop: a schedule that no slow server can bend.

mod common;

use std::io::Write;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use common::{Server, all_errors, all_ok, all_wrong, ok};
use hdrhistogram::Histogram;

const MILLISECOND: u64 = 1_000_000;

fn slower_than(histogram: &Histogram<u64>, nanoseconds: u64) -> u64 {
    histogram.len() - histogram.count_between(0, nanoseconds)
}

#[test]
fn the_schedule_is_kept() {
    let server = Server::start(|stream, _| stream.write_all(ok("hello").as_bytes()));
    let share = server.load(&["-R", "500", "-d", "0.6", "--warmup", "0.2"]);
    assert_eq!(100, share.tallies[0].ok, "warm-up");
    assert_eq!(300, share.measured().ok);
    assert_eq!((400, 0), (server.requests(), all_errors(&share)));
    assert!((share.rate() - 500.0).abs() < 25.0, "{}", share.rate());
}

/// While the server stalls for 400 ms, 80 more requests fall due: each of them waits, and each
/// of these waits must be in the histogram although only one request saw the stall happen.
#[test]
fn a_stall_is_charged_to_every_request_that_was_due() {
    let stall = Mutex::new(());
    let server = Server::start(move |stream, request| {
        let _one_at_a_time = stall.lock().unwrap();
        if request.number == 60 {
            thread::sleep(Duration::from_millis(400));
        }
        stream.write_all(ok("hello").as_bytes())
    });
    let share = server.load(&["-R", "200", "-d", "1.2", "-c", "1"]);
    let measured = share.measured();
    assert_eq!((240, 0, 0), (measured.ok, all_wrong(&share), all_errors(&share)));
    let charged = slower_than(&measured.latency, 100 * MILLISECOND);
    assert!((50..=90).contains(&charged), "{charged} answers later than 100 ms");
    assert!(measured.latency.max() >= 390 * MILLISECOND);
    let service = measured.service.as_ref().unwrap();
    assert_eq!(240, service.len());
    assert!(slower_than(service, 100 * MILLISECOND) <= 3, "one request saw the stall itself");
}

#[test]
fn a_stall_at_the_end_cannot_hide_behind_the_end() {
    let stall = Mutex::new(());
    let server = Server::start(move |stream, request| {
        let _one_at_a_time = stall.lock().unwrap();
        if request.number == 80 {
            thread::sleep(Duration::from_millis(400));
        }
        stream.write_all(ok("hello").as_bytes())
    });
    let share = server.load(&["-R", "200", "-d", "0.5", "-c", "1"]);
    assert_eq!((100, 100), (share.measured().ok, all_ok(&share)));
    assert!(share.series.iter().map(|second| second.ok).sum::<u64>() < 90);
    assert!(slower_than(&share.measured().latency, 300 * MILLISECOND) >= 15);
}

#[test]
fn what_could_not_be_sent_is_reported() {
    let server = Server::start(|_, _| Ok(()));
    let share = server.load(&["-R", "100", "-d", "0.5", "-c", "1", "-p", "4", "--timeout", "0.3"]);
    let lost: u64 = share.tallies.iter().map(|it| it.errors.timeout + it.errors.unsent).sum();
    assert_eq!((50, 0), (lost, all_ok(&share)));
    assert!(share.measured().errors.unsent > 0);
}

#[test]
fn requests_that_are_due_together_are_pipelined() {
    let server = Server::start(|stream, _| stream.write_all(ok("hello").as_bytes()));
    let share = server.load(&["-R", "20000", "-d", "0.5", "-c", "2", "-p", "16"]);
    assert_eq!((10_000, 0), (share.measured().ok, all_errors(&share)));
    assert_eq!(10_000, server.requests());
}
