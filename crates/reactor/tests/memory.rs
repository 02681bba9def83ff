//! Connections without a socket behave as those with one.

mod support;

use reactor::{Address, CloseReason, Key, Memory};
use support::{Rig, World, answer};

fn open(rig: &mut Rig, room: usize) -> (Key, Memory) {
    rig.reactor.open_memory(7, &Address::Unnamed, room).expect("it is accepted")
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

#[test]
fn lines_are_answered_and_the_end_is_told() {
    let mut rig = Rig::new(World::default());
    let (key, far) = open(&mut rig, 1000);
    assert!(!far.has_news());
    far.send(b"a\nb");
    rig.reactor.look_at(key);
    assert!(rig.readable(0), "the descriptor tells of it");
    rig.turn();
    assert!(far.has_news() && !far.has_news());
    assert_eq!("a\n", text(far.take()));
    far.send(b"\nbye\nnever\n");
    rig.reactor.look_at(key);
    rig.until(|_| far.is_closed());
    assert!(far.has_news());
    assert_eq!("b\n", text(far.take()));
    assert_eq!(Some(CloseReason::Finished), rig.end_of(key));
}

#[test]
fn half_a_connection_can_end() {
    let mut rig = Rig::new(World::default());
    let (key, far) = open(&mut rig, 1000);
    far.send(b"a\n");
    far.end();
    rig.reactor.look_at(key);
    let mut lines = Vec::new();
    while rig.readable(0) {
        rig.turn_with(|_, _, line| lines.push(line));
    }
    assert_eq!(vec!["a"], lines);
    assert!(!far.is_closed(), "an answer is owed");
    assert!(answer(&mut rig.reactor, key, "late"));
    rig.reactor.end_turn();
    rig.until(|_| far.is_closed());
    assert_eq!("late\n", text(far.take()));
}

#[test]
fn a_reset_is_an_error_of_the_network() {
    let mut rig = Rig::new(World::default());
    let (key, far) = open(&mut rig, 1000);
    far.send(b"lost\n");
    far.reset();
    rig.reactor.look_at(key);
    rig.until(|_| far.is_closed());
    assert!(matches!(rig.end_of(key), Some(CloseReason::Network(code)) if code != 0));
    assert_eq!("", text(far.take()));
}

#[test]
fn output_waits_for_room_and_a_refusal_is_sent_whole() {
    let mut rig = Rig::new(World { echo: true, ..World::default() });
    let (key, far) = open(&mut rig, 4);
    far.send(b"123456789\nno\n");
    rig.reactor.look_at(key);
    let mut came = String::new();
    while !far.is_closed() || came.len() < 18 {
        rig.until(|_| far.has_news());
        let piece = text(far.take());
        assert!(piece.len() <= 4);
        came += &piece;
        rig.reactor.look_at(key);
    }
    assert_eq!("123456789\nrefused\n", came);
    assert_eq!(Some(CloseReason::Refused), rig.end_of(key));
}

#[test]
fn more_input_than_one_read_takes_is_read_to_its_end() {
    let mut rig = Rig::new(World { in_flight: 1, ..World::default() });
    let (key, far) = open(&mut rig, usize::MAX);
    let sent = format!("{}\n", "x".repeat(99)).repeat(10_000);
    far.send(sent.as_bytes());
    rig.reactor.look_at(key);
    let mut came = String::new();
    while came.len() < sent.len() {
        rig.until(|_| far.has_news());
        came += &text(far.take());
        rig.reactor.look_at(key);
    }
    assert_eq!(sent, came);
}

#[test]
fn a_server_may_refuse_a_connection_without_a_socket() {
    let mut rig = Rig::new(World { accepts: false, ..World::default() });
    assert!(rig.reactor.open_memory(7, &Address::Unnamed, 10).is_none());
}
