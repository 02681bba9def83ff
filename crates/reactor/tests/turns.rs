//! What one turn does: pieces, leftovers, one write, budgets, and the descriptor that tells.

mod support;

use reactor::{Budget, CloseReason};
use support::{Rig, World, answer, is_silent, receive, send};

#[test]
fn a_line_in_pieces_is_one_step() {
    let mut rig = Rig::new(World::default());
    let (mut client, _) = rig.client();
    for piece in ["he", "l", "lo"] {
        send(&mut client, piece.as_bytes());
        let reads = rig.reactor.stats().reads;
        rig.until(|rig| rig.reactor.stats().reads > reads);
        assert!(is_silent(&client));
    }
    send(&mut client, b"\nnext\nand");
    rig.until(|rig| rig.reactor.stats().writes > 0);
    assert_eq!("hello\nnext\n", receive(&mut client, 11));
    send(&mut client, b" more\n");
    rig.until(|rig| rig.reactor.stats().writes > 1);
    assert_eq!("and more\n", receive(&mut client, 9));
}

#[test]
fn all_answers_of_a_turn_leave_in_one_write_per_peer() {
    let mut rig = Rig::new(World::default());
    let (mut first, _) = rig.client();
    let (mut second, _) = rig.client();
    send(&mut first, "a\n".repeat(100).as_bytes());
    send(&mut second, b"b\n");
    let before = rig.reactor.stats();
    assert!(rig.readable(1000));
    rig.turn();
    let after = rig.reactor.stats();
    assert_eq!((2, 2), (after.reads - before.reads, after.writes - before.writes));
    assert_eq!("a\n".repeat(100), receive(&mut first, 200));
    assert_eq!("b\n", receive(&mut second, 2));
}

#[test]
fn a_settled_peer_is_written_before_the_next_is_served() {
    let mut rig = Rig::new(World { settles: true, echo: true, ..World::default() });
    let (mut client, _) = rig.client();
    send(&mut client, b"a\n");
    assert!(rig.readable(1000));
    rig.reactor.poll().expect("poll");
    assert!(rig.reactor.next().is_none());
    // No end_turn yet.
    assert_eq!("a\n", receive(&mut client, 2));
    rig.reactor.end_turn();
    assert_eq!(1, rig.reactor.stats().writes);
}

#[test]
fn a_budget_leaves_the_rest_for_later_and_the_descriptor_readable() {
    let budget = Budget { steps_per_peer: 3, ..Budget::default() };
    let mut rig = Rig::with_budget(World::default(), budget);
    let (mut greedy, greedy_key) = rig.client();
    let (mut modest, modest_key) = rig.client();
    send(&mut greedy, b"1\n2\n3\n4\n5\n6\n7\n");
    send(&mut modest, b"x\n");
    assert!(rig.readable(1000));
    rig.reactor.poll().expect("poll");
    let mut order = Vec::new();
    for _ in 0..5 {
        let (key, line) = rig.reactor.next().expect("a step");
        answer(&mut rig.reactor, key, &line);
        order.push(key);
    }
    let greedy_before = order.iter().position(|key| *key == modest_key).expect("it had its chance");
    assert!(greedy_before <= 3, "{greedy_before} steps of a greedy peer came first");
    // A driver that stops in the middle of a turn is asked to come back.
    rig.reactor.end_turn();
    assert!(rig.reactor.has_work());
    assert!(rig.readable(0));
    let count = order.iter().filter(|key| **key == greedy_key).count();
    assert_eq!(4, count);
    let answered = std::cell::Cell::new(count);
    rig.until_with(
        |_| answered.get() == 7,
        |reactor, key, line| {
            answer(reactor, key, &line);
            answered.set(answered.get() + 1);
        },
    );
    assert_eq!("1\n2\n3\n4\n5\n6\n7\n", receive(&mut greedy, 14));
    assert_eq!("x\n", receive(&mut modest, 2));
    rig.turn();
    assert!(!rig.readable(0), "nothing is left to do");
}

#[test]
fn more_is_not_read_while_a_peer_has_input_left() {
    let budget = Budget { steps_per_peer: 1, read: 1024, ..Budget::default() };
    let mut rig = Rig::with_budget(World::default(), budget);
    let (mut client, _) = rig.client();
    send(&mut client, "a\n".repeat(4096).as_bytes());
    let before = rig.reactor.stats().reads;
    // Every look at the descriptors finds the socket readable; 100 steps need but one read.
    for _ in 0..100 {
        rig.reactor.poll().expect("poll");
        let (key, line) = rig.reactor.next().expect("a step");
        answer(&mut rig.reactor, key, &line);
        rig.reactor.end_turn();
    }
    assert_eq!(1, rig.reactor.stats().reads - before);
}

#[test]
fn no_more_is_looked_for_while_enough_wait() {
    let mut rig = Rig::new(World { echo: true, ..World::default() });
    let mut clients: Vec<_> = (0..300).map(|_| rig.client().0).collect();
    for client in &mut clients {
        send(client, b"a\n");
    }
    let before = rig.reactor.stats();
    for _ in 0..10 {
        // A driver that is kept from its steps, as by other callbacks of the loop.
        rig.reactor.poll().expect("poll");
        rig.reactor.end_turn();
    }
    assert_eq!(1, rig.reactor.stats().polls - before.polls);
    rig.until(|rig| rig.reactor.stats().writes - before.writes == 300);
    for client in &mut clients {
        assert_eq!("a\n", receive(client, 2));
    }
}

#[test]
fn half_a_connection_still_gets_its_answers() {
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    send(&mut client, b"a\nb\n");
    client.shutdown(std::net::Shutdown::Write).expect("a socket");
    let mut lines = Vec::new();
    while lines.len() < 2 {
        assert!(rig.readable(1000));
        rig.turn_with(|_, key, line| lines.push((key, line)));
    }
    // The end has been seen, and two answers are owed: nothing asks for a turn meanwhile.
    rig.turn_with(|_, _, _| {});
    rig.turn_with(|_, _, _| {});
    assert!(!rig.readable(0));
    assert_eq!(None, rig.end_of(key));
    for (key, line) in lines {
        assert!(answer(&mut rig.reactor, key, &line));
    }
    rig.reactor.end_turn();
    assert_eq!("a\nb\n", receive(&mut client, 4));
    assert_eq!(Some(CloseReason::Finished), rig.end_of(key));
}

#[test]
fn the_descriptor_is_silent_without_work_and_tells_of_it_in_an_epoll_of_its_own() {
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
    let mut rig = Rig::new(World::default());
    let (mut client, _) = rig.client();
    let outer = epoll::create(CreateFlags::CLOEXEC).expect("epoll");
    let token = EventData::new_u64(1);
    epoll::add(&outer, rig.reactor.as_fd(), token, EventFlags::IN).expect("nesting");
    let found = |wait: i64| {
        let mut events = Vec::with_capacity(4);
        let timeout = rustix::time::Timespec { tv_sec: wait, tv_nsec: 0 };
        let spare = rustix::buffer::spare_capacity(&mut events);
        epoll::wait(&outer, spare, Some(&timeout)).expect("epoll")
    };
    assert_eq!(0, found(0));
    send(&mut client, b"a\n");
    assert_eq!(1, found(5));
    assert_eq!(1, found(0), "it tells again until a turn has been given");
    rig.turn();
    assert_eq!(0, found(0));
}
