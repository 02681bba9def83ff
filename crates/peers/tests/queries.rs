//! Queries on a link: replies in any order, the cap, lost and late ones, and the schema.

mod support;

use peers::Failure;
use peers::tarantool::State;
use support::store::{Outcome, Store};
use support::wire::{ERROR, OK, VERSION, WRONG_SCHEMA, framed, reply};

fn waiters(outcomes: &[(u32, Outcome)]) -> Vec<u32> {
    outcomes.iter().map(|(waiter, _)| *waiter).collect()
}

#[test]
fn replies_in_any_order_find_their_waiters() {
    let mut store = Store::ready(|_| {});
    let writes = store.hub.stats().writes;
    let now = store.hub.update_time();
    for waiter in 1..=5 {
        store.deadlines.insert(waiter, now + 60_000);
    }
    for waiter in 1..=5 {
        store.query(waiter, None);
    }
    store.settle();
    assert!(store.hub.stats().writes - writes <= 5);
    let syncs = store.pings();
    let order = [3, 0, 4, 1, 2];
    let bytes: Vec<u8> = order.iter().flat_map(|&place| reply(syncs[place], VERSION, OK)).collect();
    store.send(&bytes);
    assert_eq!(vec![4, 1, 5, 2, 3], waiters(&store.outcomes(5)));
}

#[test]
fn an_error_is_its_own_querys_alone() {
    let mut store = Store::ready(|_| {});
    store.query(1, None);
    store.query(2, None);
    let syncs = store.pings();
    store.reply(syncs[0], VERSION, ERROR + 3);
    let failure = store.failure();
    assert_eq!(Failure::Database { code: 3, message: "told so".into() }, failure);
    store.reply(syncs[1], VERSION, OK);
    assert_eq!(vec![2], waiters(&store.outcomes(1)));
}

#[test]
fn a_broken_packet_fails_the_connection_and_the_next_query_works() {
    let oversized = [0xce, 0x7f, 0xff, 0xff, 0xff];
    let rubbish = framed(&[0x93, 1, 2, 3]);
    let unknown_error = reply(0, VERSION, ERROR + 20);
    let unknown = reply(999_999, VERSION, OK);
    for (bytes, hint) in [
        (&oversized[..], "too large"),
        (&[0xc1][..], "length"),
        (&rubbish[..], "expected"),
        (&unknown_error[..], "told so"),
        (&unknown[..], "unknown query"),
    ] {
        let mut store = Store::ready(|_| {});
        store.query(1, None);
        store.query(2, None);
        store.send(bytes);
        for (_, outcome) in store.outcomes(2) {
            let Outcome::Failed(Failure::Protocol { message }) = outcome else {
                panic!("{outcome:?}")
            };
            assert!(message.contains(hint), "{message}");
        }
        store.query(3, None);
        store.come_up();
        let syncs = store.pings();
        store.reply(syncs[0], VERSION, OK);
        assert_eq!(vec![3], waiters(&store.outcomes(1)));
    }
}

#[test]
fn a_late_reply_reaches_nobody_and_keeps_its_place_until_then() {
    let mut store = Store::ready(|config| config.in_flight = 1);
    store.query(1, Some(30));
    store.query(2, None);
    let syncs = store.pings();
    assert_eq!(1, syncs.len());
    assert_eq!(Failure::Timeout { maybe_sent: true }, store.failure());
    assert_eq!(1, store.link(|link, _| link.in_flight()), "the server still works on it");
    assert!(store.pings().is_empty());
    store.reply(syncs[0], VERSION, OK);
    let next = store.pings();
    assert_eq!(1, next.len(), "now there is room");
    store.reply(next[0], VERSION, OK);
    assert_eq!(vec![2], waiters(&store.outcomes(1)));
}

#[test]
fn an_abandoned_query_is_skipped() {
    let mut store = Store::ready(|_| {});
    store.query(1, None);
    let syncs = store.pings();
    assert_eq!(Some(1), store.link(|link, _| link.abandon(syncs[0])));
    store.reply(syncs[0], VERSION, ERROR + 3);
    store.settle();
    assert!(store.outcomes.is_empty());
    assert_eq!((State::Ready, 0), (store.state(), store.link(|link, _| link.in_flight())));
}

#[test]
fn the_cap_lets_the_rest_go_in_order() {
    let mut store = Store::ready(|config| config.in_flight = 3);
    for waiter in 1..=9 {
        store.query(waiter, None);
    }
    for first in [1, 4, 7] {
        store.settle();
        assert_eq!(first + 2, u32::try_from(store.encoded.len()).expect("few"));
        let syncs = store.pings();
        assert_eq!(3, syncs.len());
        let bytes: Vec<u8> = syncs.iter().flat_map(|&sync| reply(sync, VERSION, OK)).collect();
        store.send(&bytes);
    }
    assert_eq!((1..=9).collect::<Vec<_>>(), store.encoded);
    assert_eq!(9, store.outcomes(9).len());
}

#[test]
fn the_cap_is_whole_again_after_every_kind_of_failure() {
    let mut store = Store::ready(|config| config.in_flight = 2);
    for round in 0..3 {
        let base = round * 10;
        for waiter in 1..=5 {
            store.query(base + waiter, Some(400));
        }
        match round {
            0 => store.hang_up(),
            1 => store.send(&[0xc1]),
            _ => {}
        }
        if round < 2 {
            store.outcomes(2);
            store.query(base + 9, None);
            store.come_up();
        }
        // Whoever is on the wire is answered, until all are.
        store.until("the rest", |store| {
            for sync in store.pings() {
                store.reply(sync, VERSION, OK);
            }
            store.link(|link, _| link.in_flight() + link.waiting()) == 0
        });
        store.outcomes.clear();
        for waiter in [base + 6, base + 7] {
            store.query(waiter, None);
        }
        let syncs = store.pings();
        assert_eq!(2, syncs.len(), "room for two in round {round}");
        for sync in syncs {
            store.reply(sync, VERSION, OK);
        }
        store.outcomes(2);
    }
}

#[test]
fn what_the_server_does_not_read_is_not_piled_up() {
    let mut store = Store::ready(|_| {});
    store.weight = 100_000;
    // The server's end is out of reach: nobody reads it.
    let socket = store.socket.take();
    for waiter in 1..=400 {
        store.query(waiter, None);
    }
    let queued = store.link(|_, io| io.queued());
    assert!(queued <= 1024 * 1024 + 110_000, "{queued} bytes wait");
    assert!(store.encoded.len() < 400);
    // It reads, and has not answered yet: there is room again, and nobody jumps the queue.
    store.socket = socket;
    store.until("the output is out", |store| store.link(|_, io| io.queued()) == 0);
    let before = store.encoded.len();
    store.query(401, None);
    store.until("the next", |store| store.encoded.len() > before);
    store.until("all of it", |store| {
        for packet in std::mem::take(&mut store.packets) {
            store.reply(packet.sync, VERSION, OK);
        }
        store.outcomes.len() == 401
    });
    assert_eq!((1..=401).collect::<Vec<_>>(), store.encoded);
}

#[test]
fn a_wrong_schema_version_is_read_again_and_the_query_sent_again() {
    let mut store = Store::ready(|_| {});
    store.query(1, None);
    store.settle();
    let versions: Vec<_> = store.packets.iter().map(|packet| packet.version).collect();
    assert_eq!(vec![Some(VERSION)], versions);
    let syncs = store.pings();
    store.reply(syncs[0], VERSION + 1, WRONG_SCHEMA);
    store.describe(VERSION + 1);
    assert_eq!(Some(VERSION + 1), store.link(|link, _| link.schema().map(|schema| schema.version)));
    store.until("the query", |store| store.packets.len() == 1);
    assert_eq!(Some(VERSION + 1), store.packets[0].version);
    let syncs = store.pings();
    store.reply(syncs[0], VERSION + 1, OK);
    assert_eq!(vec![1], waiters(&store.outcomes(1)));
    assert_eq!(vec![1, 1], store.encoded);
}

#[test]
fn a_change_under_200_queries_costs_one_fetch_and_keeps_the_cap() {
    let mut store = Store::ready(|config| config.in_flight = 200);
    for waiter in 1..=300 {
        store.query(waiter, None);
    }
    let syncs = store.pings();
    assert_eq!(200, syncs.len());
    let mut fetches = 0;
    for sync in syncs {
        store.reply(sync, VERSION + 1, WRONG_SCHEMA);
    }
    while store.outcomes.len() < 300 {
        while store.fetches() > 0 {
            store.describe(VERSION + 1);
            fetches += 1;
        }
        assert!(store.link(|link, _| link.in_flight()) <= 200 + 2, "two are the schema's");
        for sync in store.pings() {
            store.reply(sync, VERSION + 1, OK);
        }
    }
    assert_eq!(1, fetches, "one fetch serves all who came before its reply");
    assert_eq!(200, store.encoded.iter().filter(|&&waiter| waiter <= 200).count() - 200);
}

#[test]
fn who_was_sent_in_vain_goes_before_those_who_never_were() {
    let mut store = Store::ready(|config| config.in_flight = 1);
    for waiter in 1..=3 {
        store.query(waiter, None);
    }
    let first = store.pings();
    store.reply(first[0], VERSION + 1, WRONG_SCHEMA);
    store.describe(VERSION + 1);
    for _ in 0..3 {
        let sync = store.pings()[0];
        store.reply(sync, VERSION + 1, OK);
    }
    assert_eq!(vec![1, 1, 2, 3], store.encoded);
    assert_eq!(vec![1, 2, 3], waiters(&store.outcomes(3)));
}

#[test]
fn a_place_that_was_given_and_never_used_comes_back_with_the_next_connection() {
    let mut store = Store::ready(|config| config.in_flight = 1);
    store.link(|link, io| link.admit(9, u64::MAX, false, io));
    store.query(1, None);
    assert!(store.pings().is_empty());
    store.hang_up();
    store.come_up();
    assert_eq!(1, store.pings().len());
}

#[test]
fn a_schema_that_changes_while_it_is_read_is_read_again() {
    let mut store = Store::ready(|_| {});
    store.query(1, None);
    let syncs = store.pings();
    store.reply(syncs[0], VERSION + 1, WRONG_SCHEMA);
    store.until("a fetch", |store| store.fetches() == 1);
    let halves = std::mem::take(&mut store.packets);
    store.reply(halves[0].sync, VERSION + 1, OK);
    store.reply(halves[1].sync, VERSION + 2, OK);
    store.describe(VERSION + 2);
    store.until("the query", |store| store.packets.len() == 1);
    assert_eq!(Some(VERSION + 2), store.packets[0].version);
}

#[test]
fn who_misses_a_name_waits_for_a_fetch_that_started_after() {
    let mut store = Store::ready(|_| {});
    store.deadlines.extend([(1, u64::MAX), (2, u64::MAX)]);
    store.link(|link, io| link.reread(1, io));
    store.until("a fetch", |store| store.fetches() == 1);
    store.link(|link, io| link.reread(2, io));
    store.describe(VERSION);
    store.until("the first", |store| !store.encoded.is_empty());
    assert_eq!(vec![1], store.encoded);
    store.describe(VERSION);
    store.until("the second", |store| store.encoded.len() == 2);
    store.settle();
    assert_eq!(0, store.fetches());
    assert_eq!(2, store.pings().len());
}

#[test]
fn who_waits_for_the_schema_does_not_wait_for_ever() {
    let mut store = Store::ready(|config| config.connect_timeout = 100);
    store.deadlines.insert(1, u64::MAX);
    store.link(|link, io| link.reread(1, io));
    assert_eq!(Failure::Timeout { maybe_sent: false }, store.failure());
    store.link(|link, io| link.reread(1, io));
    store.hang_up();
    assert!(matches!(store.failure(), Failure::Network { maybe_sent: false, .. }));
    // Without a connection there is nothing to read it from, and nothing to say before the greeting.
    store.link(|link, io| link.reread(1, io));
    store.accept();
    store.settle();
    assert!(store.packets.is_empty(), "{:?}", store.packets);
    store.greet();
    store.describe(VERSION);
    store.until("the query", |store| !store.encoded.is_empty());
}

#[test]
fn a_connection_lost_with_queries_on_the_wire_says_what_may_have_run() {
    let mut store = Store::ready(|config| config.in_flight = 1);
    store.query(1, None);
    store.query(2, None);
    assert_eq!(1, store.pings().len());
    store.hang_up();
    assert!(matches!(store.failure(), Failure::Network { maybe_sent: true, .. }));
    // The other one never left: it is sent on the next connection.
    store.come_up();
    let syncs = store.pings();
    store.reply(syncs[0], VERSION, OK);
    assert_eq!(vec![2], waiters(&store.outcomes(1)));
}

#[test]
fn who_waited_for_room_waits_for_a_new_connection_no_longer_than_others() {
    let mut store = Store::ready(|config| {
        (config.in_flight, config.connect_timeout) = (1, 150);
        (config.reconnect_min, config.reconnect_max) = (60_000, 60_000);
    });
    store.query(1, None);
    store.query(2, None);
    store.hang_up();
    assert!(matches!(store.failure(), Failure::Network { maybe_sent: true, .. }));
    assert_eq!(Failure::Timeout { maybe_sent: false }, store.failure());
    assert_eq!(State::Waiting, store.state());
}
