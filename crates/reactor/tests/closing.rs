//! How connections end: deadlines, slow readers, refusals, stale keys, actions of a step.

mod support;

use std::io::Read;

use reactor::{CloseReason, Fate};
use support::{Rig, World, answer, receive, send};

#[test]
fn a_deadline_wakes_the_descriptor_and_closes() {
    let mut rig = Rig::new(World { idle: Some(60), ..World::default() });
    let (mut client, key) = rig.client();
    let opened = rig.reactor.now();
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::TimedOut), rig.end_of(key));
    let fired = rig.reactor.shared.timers[0];
    assert!(fired >= opened + 60, "fired {} ms after", fired - opened);
    assert_eq!(0, client.read(&mut [0]).expect("an orderly end"));
}

#[test]
fn a_deadline_does_not_disturb_a_peer_that_is_closing() {
    const BYTES: usize = 4 << 20;
    let mut rig = Rig::new(World { idle: Some(40), ..World::default() });
    let (mut client, key) = rig.client();
    rig.reactor.with(key, |_, io, _| io.output.resize(BYTES, b'x'));
    rig.reactor.close(key, CloseReason::Finished);
    rig.reactor.end_turn();
    let start = rig.reactor.update_time();
    while rig.reactor.update_time() < start + 150 {
        if rig.readable(10) {
            rig.turn();
        }
    }
    let reader = std::thread::spawn(move || receive(&mut client, BYTES));
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(BYTES, reader.join().expect("it read").len());
    assert!(rig.reactor.shared.timers.is_empty());
    assert_eq!(Some(CloseReason::Finished), rig.end_of(key));
}

#[test]
fn a_deadline_that_moved_is_kept_where_it_is_now() {
    let mut rig = Rig::new(World { idle: Some(5000), ..World::default() });
    let (_client, key) = rig.client();
    rig.reactor.with(key, |_, io, _| io.set_deadline(Some(io.now + 30)));
    rig.reactor.with(key, |_, io, _| io.set_deadline(Some(io.now + 120)));
    let start = rig.reactor.update_time();
    rig.reactor.end_turn();
    rig.until(|rig| rig.end_of(key).is_some());
    assert!(rig.reactor.now() >= start + 115);
    assert_eq!(1, rig.reactor.shared.timers.len());
}

#[test]
fn time_goes_on_between_turns() {
    let mut rig = Rig::new(World::default());
    let (_client, key) = rig.client();
    let then = rig.reactor.now();
    // What is waited for here is time itself.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let now = rig.reactor.with(key, |_, io, _| io.now).expect("it is there");
    assert!(now >= then + 30, "{now} is {then}, which has passed");
}

#[test]
fn a_slow_reader_is_dropped_though_more_is_queued_all_the_time() {
    let mut rig = Rig::new(World { write_timeout: 150, ..World::default() });
    let (_client, key) = rig.client();
    let start = rig.reactor.update_time();
    rig.reactor.with(key, |_, io, _| io.output.resize(16 << 20, b'x'));
    rig.reactor.end_turn();
    while rig.end_of(key).is_none() {
        rig.readable(10);
        // Were this a sign of life, the reader would never be late.
        rig.reactor.with(key, |_, io, _| io.output.push(b'x'));
        rig.turn();
        assert!(rig.reactor.now() < start + 10_000, "nobody reads, and nobody minds");
    }
    assert_eq!(Some(CloseReason::SlowReader), rig.end_of(key));
    assert!(rig.reactor.now() >= start + 150);
}

#[test]
fn a_refused_client_that_still_sends_can_read_why() {
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    send(&mut client, b"no\n");
    send(&mut client, &vec![b'x'; 100_000]);
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::Refused), rig.end_of(key));
    send(&mut client, &vec![b'x'; 100_000]);
    rig.until(|rig| !rig.readable(0));
    assert_eq!("refused\n", receive(&mut client, 8));
    assert_eq!(0, client.read(&mut [0]).expect("an orderly end"));
    drop(client);
    rig.until(|rig| rig.reactor.keys().len() == 1);
}

#[test]
fn a_refused_client_that_stays_does_not_stay_for_ever() {
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    send(&mut client, b"no\n");
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(2, rig.reactor.keys().len());
    rig.until(|rig| rig.reactor.keys().len() == 1);
    assert_eq!("refused\n", receive(&mut client, 8));
}

#[test]
fn an_answer_survives_input_that_nobody_will_read() {
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    send(&mut client, b"a\n");
    assert!(rig.readable(1000));
    let mut rest = Some(&mut client);
    rig.turn_with(|reactor, key, line| {
        answer(reactor, key, &line);
        // More arrives after the last read; closing now would reset the connection.
        send(rest.take().expect("one line"), &[b'x'; 5000]);
        reactor.close(key, CloseReason::Finished);
    });
    assert_eq!(Some(CloseReason::Finished), rig.end_of(key));
    assert_eq!("a\n", receive(&mut client, 2));
    assert_eq!(0, client.read(&mut [0]).expect("an orderly end, not a reset"));
}

#[test]
fn a_stale_key_reaches_nobody() {
    let mut rig = Rig::new(World::default());
    let (mut first, old) = rig.client();
    send(&mut first, b"bye\n");
    rig.until(|rig| rig.end_of(old).is_some());
    let (mut second, new) = rig.client();
    assert_eq!(old.to_bits() << 32, new.to_bits() << 32, "the place is used again");
    assert_ne!(old, new);
    assert!(rig.reactor.with(old, |_, _, _| ()).is_none());
    rig.reactor.close(old, CloseReason::Stopped);
    rig.reactor.abort(old, CloseReason::Stopped);
    send(&mut second, b"still here\n");
    let writes = rig.reactor.stats().writes;
    rig.until(|rig| rig.reactor.stats().writes > writes);
    assert_eq!("still here\n", receive(&mut second, 11));
}

#[test]
fn a_step_may_close_its_own_peer() {
    for abort in [false, true] {
        let mut rig = Rig::new(World::default());
        let (mut client, key) = rig.client();
        send(&mut client, b"a\nb\nc\n");
        assert!(rig.readable(1000));
        let mut lines = Vec::new();
        rig.turn_with(|reactor, key, line| {
            answer(reactor, key, &line);
            lines.push(line);
            if abort {
                reactor.abort(key, CloseReason::Stopped);
            } else {
                reactor.close(key, CloseReason::Stopped);
            }
        });
        assert_eq!(vec!["a"], lines, "nothing is handed out after the end");
        assert_eq!(Some(CloseReason::Stopped), rig.end_of(key));
        let mut text = String::new();
        let end = client.read_to_string(&mut text);
        assert_eq!(if abort { "" } else { "a\n" }, text);
        assert!(abort || end.is_ok());
    }
}

#[test]
fn a_step_may_close_and_answer_others() {
    let mut rig = Rig::new(World { in_flight: 1, ..World::default() });
    let (mut first, first_key) = rig.client();
    let (mut second, second_key) = rig.client();
    let (mut third, third_key) = rig.client();
    send(&mut second, b"parked\n");
    let held = std::cell::RefCell::new(None);
    rig.until_with(|_| held.borrow().is_some(), |_, _, line| *held.borrow_mut() = Some(line));
    send(&mut third, b"never\n");
    send(&mut first, b"go\n");
    assert!(rig.readable(1000));
    let mut seen = Vec::new();
    rig.turn_with(|reactor, key, line| {
        seen.push(line.clone());
        if line == "go" {
            answer(reactor, key, &line);
            answer(reactor, second_key, "parked");
            reactor.abort(third_key, CloseReason::Stopped);
        } else {
            // Served before: its answer comes to a peer that is gone by then, or is not.
            answer(reactor, key, &line);
        }
    });
    assert_eq!("go\n", receive(&mut first, 3));
    assert_eq!("parked\n", receive(&mut second, 7));
    assert_eq!(Some(CloseReason::Stopped), rig.end_of(third_key));
    assert_eq!(None, rig.end_of(first_key));
    assert!(seen.contains(&"go".to_owned()));
}

#[test]
fn a_kept_peer_outlives_its_socket() {
    let mut rig = Rig::new(World { fate: Fate::Keep, ..World::default() });
    let (client, key) = rig.client();
    drop(client);
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(0), rig.reactor.with(key, |peer, _, _| peer.owed));
    // What it writes now has no socket to go to, and asks for no turn.
    rig.reactor.with(key, |_, io, _| io.output.extend_from_slice(b"lost"));
    rig.reactor.end_turn();
    rig.turn();
    assert!(!rig.readable(0));
    rig.reactor.shared.fate = Fate::Remove;
    rig.reactor.abort(key, CloseReason::Stopped);
    assert!(rig.reactor.with(key, |_, _, _| ()).is_none());
}

#[test]
fn many_short_connections_leave_no_timers_behind() {
    let mut rig = Rig::new(World { idle: Some(5000), ..World::default() });
    for _ in 0..500 {
        let (client, key) = rig.client();
        drop(client);
        rig.until(|rig| rig.end_of(key).is_some());
    }
    assert!(rig.reactor.stats().timers <= 2, "{} timers", rig.reactor.stats().timers);
}

#[test]
fn a_slot_used_again_has_the_deadline_of_its_new_peer() {
    let mut rig = Rig::new(World { idle: Some(60), ..World::default() });
    let (client, first) = rig.client();
    drop(client);
    rig.until(|rig| rig.end_of(first).is_some());
    let opened = rig.reactor.update_time();
    let (_client, second) = rig.client();
    rig.until(|rig| rig.end_of(second).is_some());
    assert_eq!(Some(CloseReason::TimedOut), rig.end_of(second));
    assert!(rig.reactor.now() >= opened + 60);
}
