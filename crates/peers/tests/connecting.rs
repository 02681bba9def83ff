//! A link's way to its first query, and what ends it on the way.

mod support;

use peers::Failure;
use peers::tarantool::State;
use reactor::Address;
use support::store::{Outcome, Store};
use support::wire::{AUTH, ERROR, OK, greeting, reply};

fn network(failure: Failure) -> (String, bool) {
    match failure {
        Failure::Network { message, maybe_sent } => (message, maybe_sent),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_query_opens_the_connection() {
    let mut store = Store::new(|_| {});
    store.query(1, None);
    store.come_up();
    let syncs = store.pings();
    assert_eq!(1, syncs.len());
    store.reply(syncs[0], 71, OK);
    assert!(matches!(store.outcomes(1)[..], [(1, Outcome::Reply(_))]));
    assert_eq!(
        Some("2.6.0".to_owned()),
        store.link(|link, _| link.server_version().map(str::to_owned))
    );
}

#[test]
fn everything_may_come_byte_by_byte() {
    let mut store = Store::new(|_| {});
    store.query(1, None);
    store.accept();
    for byte in greeting() {
        store.send(&[byte]);
    }
    store.until("a fetch", |store| store.fetches() == 1);
    for packet in std::mem::take(&mut store.packets) {
        for byte in reply(packet.sync, 71, OK) {
            store.send(&[byte]);
        }
    }
    let syncs = store.pings();
    for byte in reply(syncs[0], 71, OK) {
        store.send(&[byte]);
    }
    assert!(matches!(store.outcomes(1)[..], [(1, Outcome::Reply(_))]));
}

#[test]
fn who_is_no_tarantool_is_told_from_one_at_once() {
    let console = b"Tarantool 2.6.0 (Lua console)\ntype 'help' for interactive help\n";
    for (text, hint) in [
        (&b"SSH-2.0-OpenSSH_9.2\r\n"[..], "Tarantool"),
        (&[b'x'; 128], "Tarantool"),
        (console, "console"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "Tarantool"),
    ] {
        let mut store = Store::new(|_| {});
        store.query(1, None);
        store.query(2, None);
        store.accept();
        store.send(text);
        for (_, outcome) in store.outcomes(2) {
            let Outcome::Failed(Failure::Protocol { message }) = outcome else {
                panic!("{outcome:?}")
            };
            assert!(message.contains(hint), "{message}");
        }
        // Nothing is tried again by itself, and whoever comes next may try.
        assert_eq!(State::Idle, store.state());
        store.query(3, None);
        store.come_up();
        assert_eq!(1, store.pings().len());
    }
}

#[test]
fn a_greeting_that_breaks_off_is_a_lost_connection() {
    for part in [0, 5, 127] {
        let mut store = Store::new(|_| {});
        store.open(0);
        store.accept();
        store.send(&greeting()[..part]);
        store.hang_up();
        let (message, maybe_sent) = network(store.failure());
        assert!(message.contains("closed"), "{message}");
        assert!(!maybe_sent);
        assert_ne!(State::Idle, store.state(), "it tries again");
    }
}

#[test]
fn refused_credentials_are_final() {
    let mut store = Store::new(|config| config.user = Some("app".into()));
    store.query(1, None);
    store.open(0);
    store.accept();
    store.greet();
    store.until("the credentials", |store| !store.packets.is_empty());
    let auth = store.packets.remove(0);
    assert_eq!(AUTH, auth.code);
    store.reply(auth.sync, 71, ERROR + 47);
    let outcomes = store.outcomes(2);
    for (_, outcome) in outcomes {
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        assert_eq!(Failure::Auth { code: 47, message: "told so".into() }, failure);
    }
    assert_eq!(State::Idle, store.state());
}

#[test]
fn a_lost_connection_on_the_way_is_made_again_and_who_waits_is_served() {
    for stage in 0..4 {
        let mut store = Store::new(|config| config.user = Some("app".into()));
        store.query(1, None);
        store.accept();
        if stage > 0 {
            store.greet();
            store.until("the credentials", |store| !store.packets.is_empty());
        }
        if stage > 1 {
            let auth = store.packets.remove(0);
            store.reply(auth.sync, 71, OK);
            store.until("a fetch", |store| store.fetches() == 1);
        }
        if stage > 2 {
            let half = store.packets.remove(0);
            store.reply(half.sync, 71, OK);
        }
        store.hang_up();
        store.accept();
        store.greet();
        store.until("the credentials", |store| !store.packets.is_empty());
        let auth = store.packets.remove(0);
        store.reply(auth.sync, 71, OK);
        store.describe(71);
        store.until("the query", |store| store.packets.len() == 1);
        let syncs = store.pings();
        store.reply(syncs[0], 71, OK);
        assert!(matches!(store.outcomes(1)[..], [(1, Outcome::Reply(_))]), "stage {stage}");
        assert_eq!(0, store.link(|link, _| link.in_flight()));
    }
}

#[test]
fn an_attempt_has_its_own_time_whatever_the_patience_of_queries() {
    let mut store = Store::new(|config| config.connect_timeout = 600);
    let start = store.hub.update_time();
    store.open(0);
    for waiter in 1..5 {
        store.query(waiter, Some(20 * u64::from(waiter)));
    }
    store.accept();
    for (_, outcome) in store.outcomes(4) {
        assert!(
            matches!(outcome, Outcome::Failed(Failure::Timeout { maybe_sent: false })),
            "{outcome:?}"
        );
    }
    assert!(store.hub.update_time() < start + 500);
    assert_eq!(State::Greeting, store.state(), "an impatient query does not end the attempt");
    let (message, _) = network(store.failure());
    assert!(message.contains("in time"), "{message}");
    assert!(store.hub.update_time() >= start + 600);
}

#[test]
fn a_pause_is_not_cut_short_by_a_query_that_gives_up() {
    let mut store = Store::new(|config| {
        (config.reconnect_min, config.reconnect_max) = (1000, 1000);
        config.addresses = vec![Address::Unix("/nonexistent/socket".into())];
    });
    store.open(0);
    network(store.failure());
    assert_eq!(State::Waiting, store.state());
    store.query(1, Some(30));
    let start = store.hub.update_time();
    assert_eq!(Failure::Timeout { maybe_sent: false }, store.failure());
    assert!(store.hub.update_time() < start + 400, "its alarm is not lost in the pause");
    assert_eq!(State::Waiting, store.state());
}

#[test]
fn an_opener_hears_of_a_failure_when_every_address_has_failed() {
    let live = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let dead = live.local_addr().expect("bound");
    drop(live);
    let mut store = Store::new(|config| config.addresses = vec![Address::Tcp(dead); 3]);
    store.open(0);
    store.query(1, Some(200));
    let (message, maybe_sent) = network(store.failure());
    assert!(message.contains("refused"), "{message}");
    assert!(!maybe_sent);
    // The query waits on, up to its own patience.
    assert_eq!(Failure::Timeout { maybe_sent: false }, store.failure());
}

#[test]
fn the_next_address_is_tried() {
    let mut store = Store::new(|config| {
        config.addresses.insert(0, Address::Unix("/nonexistent/socket".into()));
    });
    store.open(0);
    store.come_up();
    assert!(matches!(store.outcomes(1)[..], [(0, Outcome::Reply(_))]));
}

#[test]
fn fail_fast_fails_while_there_is_no_connection_and_only_then() {
    let mut store = Store::new(|config| {
        config.fail_fast = true;
        (config.reconnect_min, config.reconnect_max) = (100, 100);
    });
    store.query(1, None);
    store.accept();
    store.hang_up();
    network(store.failure());
    assert_eq!(State::Waiting, store.state());
    store.query(2, None);
    assert!(network(store.failure()).0.contains("fail_fast"));
    // After another end than the network's nothing tries again by itself: then a query does.
    store.accept();
    store.send(b"SSH-2.0");
    assert_eq!(State::Idle, store.state());
    store.query(2, None);
    store.come_up();
    assert_eq!(1, store.pings().len());
}

#[test]
fn without_a_connection_nobody_waits_longer_than_the_attempt() {
    let mut store = Store::new(|config| {
        config.connect_timeout = 150;
        config.addresses = vec![Address::Unix("/nonexistent/socket".into())];
    });
    let start = store.hub.update_time();
    store.query(1, None);
    assert_eq!(Failure::Timeout { maybe_sent: false }, store.failure());
    assert!(store.hub.update_time() >= start + 150);
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_longer_than_that() {
    let mut store = Store::new(|config| config.connect_timeout = 400);
    let start = store.hub.update_time();
    store.query(1, None);
    store.accept();
    store.failure();
    let took = store.hub.update_time() - start;
    assert!((400..750).contains(&took), "{took} ms");
}

#[test]
fn patience_is_kept_over_a_failed_attempt() {
    let mut store = Store::new(|config| {
        (config.reconnect_min, config.reconnect_max) = (5000, 5000);
    });
    let start = store.hub.update_time();
    store.query(1, Some(150));
    store.accept();
    store.hang_up();
    assert_eq!(State::Waiting, store.state());
    assert_eq!(Failure::Timeout { maybe_sent: false }, store.failure());
    assert!(store.hub.update_time() < start + 1000, "its alarm is not lost in the pause");
}

#[test]
fn a_closed_link_answers_everybody() {
    let mut store = Store::ready(|config| config.in_flight = 1);
    store.query(1, None);
    store.query(2, None);
    let key = store.key;
    store.link(peers::tarantool::Link::shut);
    store.query(3, None);
    store.hub.abort(key, reactor::CloseReason::Stopped);
    let mut outcomes = store.outcomes(3);
    outcomes.sort_by_key(|(waiter, _)| *waiter);
    let failures: Vec<String> =
        outcomes.iter().map(|(_, outcome)| format!("{outcome:?}")).collect();
    assert!(failures[0].contains("maybe_sent: true"), "{failures:?}");
    assert!(failures[1].contains("maybe_sent: false"), "{failures:?}");
    assert!(failures[2].contains("Closed"), "{failures:?}");
    assert!(store.hub.with(key, |_, _, _| ()).is_none());
}
