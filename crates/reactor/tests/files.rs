//! Files in the output: in their place among the bytes, in shares, and never falsely framed.

mod support;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use reactor::{Address, Budget, CloseReason, Io, Key};
use support::{Rig, World, receive};

/// A file with these bytes that nobody else can name.
fn file(bytes: &[u8]) -> (File, Arc<OwnedFd>) {
    let path = std::env::temp_dir().join(format!(
        "reactor-file-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .expect("a new file");
    std::fs::remove_file(&path).expect("its name goes");
    file.write_all(bytes).expect("room on the disk");
    file.seek(SeekFrom::Start(0)).expect("a file");
    let fd = Arc::new(OwnedFd::from(file.try_clone().expect("a descriptor")));
    (file, fd)
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| b'a' + u8::try_from(at * 7 % 26).expect("below 26")).collect()
}

fn with(rig: &mut Rig, key: Key, act: impl FnOnce(&mut Io<'_, String>)) {
    rig.reactor.with(key, |_, io, _| act(io)).expect("it is there");
}

#[test]
fn files_leave_in_their_place_among_the_bytes() {
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    let (_kept, fd) = file(b"0123456789");
    with(&mut rig, key, |io| {
        io.output.extend_from_slice(b"<");
        io.send_file(Arc::clone(&fd), 2, 3);
        io.output.extend_from_slice(b"|");
        io.send_file(Arc::clone(&fd), 0, 1);
        io.send_file(Arc::clone(&fd), 9, 1);
        io.send_file(Arc::clone(&fd), 4, 0);
        io.output.extend_from_slice(b">");
        assert_eq!(3 + 5, io.queued());
    });
    rig.reactor.end_turn();
    assert_eq!("<234|09>", receive(&mut client, 8));
    with(&mut rig, key, |io| {
        assert_eq!(0, io.queued());
        io.output.extend_from_slice(b"later");
    });
    rig.reactor.end_turn();
    assert_eq!("later", receive(&mut client, 5));
}

#[test]
fn a_large_file_leaves_in_shares_while_others_are_served() {
    const LENGTH: usize = 2 << 20;
    let budget = Budget { share: 10_000, ..Budget::default() };
    let mut rig = Rig::with_budget(World::default(), budget);
    let (mut client, key) = rig.client();
    let bytes = pattern(LENGTH);
    let (_kept, fd) = file(&bytes);
    with(&mut rig, key, |io| {
        io.output.extend_from_slice(b"head\n");
        io.send_file(fd, 0, LENGTH as u64);
        io.output.extend_from_slice(b"tail\n");
        assert_eq!(LENGTH + 10, io.queued());
    });
    rig.reactor.end_turn();
    for turn in 1..=3 {
        with(&mut rig, key, |io| assert_eq!(LENGTH + 10 - turn * 10_000, io.queued()));
        assert!(rig.readable(0), "the rest asks for a turn");
        rig.turn();
    }
    let reader = std::thread::spawn(move || receive(&mut client, LENGTH + 10));
    rig.until(|_| reader.is_finished());
    let text = reader.join().expect("it read");
    assert!(text.starts_with("head\n") && text.ends_with("tail\n"));
    assert!(bytes == text.as_bytes()[5..5 + LENGTH], "every byte in its place");
}

#[test]
fn closing_waits_for_the_file() {
    const LENGTH: usize = 2 << 20;
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    let (_kept, fd) = file(&pattern(LENGTH));
    with(&mut rig, key, |io| io.send_file(fd, 0, LENGTH as u64));
    rig.reactor.close(key, CloseReason::Finished);
    rig.reactor.end_turn();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        client.read_to_end(&mut all).expect("an orderly end");
        all.len()
    });
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::Finished), rig.end_of(key));
    assert_eq!(LENGTH, reader.join().expect("it read"));
}

#[test]
fn a_file_that_has_become_too_short_cuts_the_connection() {
    const LENGTH: usize = 4 << 20;
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    let (kept, fd) = file(&pattern(LENGTH));
    with(&mut rig, key, |io| {
        io.send_file(fd, 0, LENGTH as u64);
        io.output.extend_from_slice(b"THE NEXT ANSWER");
    });
    rig.reactor.end_turn();
    kept.set_len(1 << 20).expect("a file");
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        // Whether what is left of the socket ends in order or not.
        let _ = client.read_to_end(&mut all);
        all
    });
    rig.until(|rig| rig.end_of(key).is_some());
    assert_eq!(Some(CloseReason::Unreadable), rig.end_of(key));
    let all = reader.join().expect("it read");
    assert!(all.len() < LENGTH, "{} bytes", all.len());
    assert!(!all.ends_with(b"ANSWER"), "nothing comes in the place of what is missing");
}

#[test]
fn what_the_kernel_does_not_send_is_read() {
    // A file of the process file system has no pages that could be sent.
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    let known = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let name = known.lines().next().expect("a line").as_bytes().to_vec();
    let file = Arc::new(OwnedFd::from(File::open("/proc/self/status").expect("Linux")));
    let length = name.len();
    with(&mut rig, key, |io| {
        io.send_file(file, 0, length as u64);
        io.output.extend_from_slice(b"!");
    });
    rig.reactor.end_turn();
    assert_eq!(name, receive(&mut client, length).as_bytes());
    assert_eq!("!", receive(&mut client, 1));
    // A directory cannot be read at all.
    let folder = Arc::new(OwnedFd::from(File::open("/").expect("a folder")));
    with(&mut rig, key, |io| io.send_file(folder, 0, 10));
    rig.reactor.end_turn();
    assert_eq!(Some(CloseReason::Unreadable), rig.end_of(key));
}

#[test]
fn a_client_that_does_not_take_a_file_is_dropped_and_one_that_does_is_not() {
    const LENGTH: usize = 24 << 20;
    let mut rig = Rig::new(World { write_timeout: 150, ..World::default() });
    let (_client, stuck) = rig.client();
    let (mut reader, slow) = rig.client();
    let (_kept, fd) = file(&pattern(LENGTH));
    with(&mut rig, stuck, |io| io.send_file(Arc::clone(&fd), 0, LENGTH as u64));
    with(&mut rig, slow, |io| io.send_file(Arc::clone(&fd), 0, LENGTH as u64));
    reader.set_nonblocking(true).expect("a socket");
    rig.reactor.end_turn();
    let start = rig.reactor.update_time();
    let (mut taken, mut last) = (0, start);
    let mut piece = vec![0; 128 * 1024];
    // Longer than the patience with one that takes nothing.
    while rig.reactor.update_time() < start + 600 || rig.end_of(stuck).is_none() {
        if rig.reactor.now() >= last + 10 {
            last = rig.reactor.now();
            taken += reader.read(&mut piece).unwrap_or(0);
        }
        if rig.readable(20) {
            rig.turn();
        }
        assert!(rig.reactor.now() < start + 15_000, "it is never dropped");
    }
    assert_eq!(Some(CloseReason::SlowReader), rig.end_of(stuck));
    assert_eq!(None, rig.end_of(slow));
    assert!(0 < taken && taken < LENGTH, "{taken} bytes");
}

#[test]
fn a_file_counts_as_backlog() {
    const LENGTH: usize = 4 << 20;
    let mut rig = Rig::new(World { echo: true, high_water: 1 << 20, ..World::default() });
    let (mut client, key) = rig.client();
    let (_kept, fd) = file(&pattern(LENGTH));
    with(&mut rig, key, |io| io.send_file(fd, 0, LENGTH as u64));
    client.write_all(b"hello\n").expect("room");
    for _ in 0..5 {
        rig.turn();
    }
    with(&mut rig, key, |io| assert_eq!(b"hello\n".to_vec(), io.input(), "not before the file"));
    let reader = std::thread::spawn(move || receive(&mut client, LENGTH + 6));
    rig.until(|_| reader.is_finished());
    assert!(reader.join().expect("it read").ends_with("hello\n"));
}

#[test]
fn an_output_that_is_never_empty_does_not_grow() {
    let mut rig = Rig::new(World::default());
    let (mut client, key) = rig.client();
    client.set_nonblocking(true).expect("a socket");
    let (_kept, fd) = file(b"[file]");
    let mut got = Vec::new();
    let mut put = 0;
    let piece = vec![b'.'; 64 * 1024];
    let mut room = 0;
    while put < 1000 {
        let queued = rig.reactor.with(key, |_, io, _| io.queued()).expect("it is there");
        if queued < 1 << 20 {
            put += 1;
            let fd = Arc::clone(&fd);
            with(&mut rig, key, |io| {
                io.output.extend_from_slice(&piece);
                io.send_file(fd, 0, 6);
                room = room.max(io.output.capacity());
            });
            rig.reactor.end_turn();
        } else {
            let mut some = vec![0; 200_000];
            if let Ok(count) = client.read(&mut some) {
                got.extend_from_slice(&some[..count]);
            }
            rig.turn();
        }
    }
    assert!(room <= 8 << 20, "the buffer grew to {room} bytes");
    client.set_nonblocking(false).expect("a socket");
    let whole = 1000 * (piece.len() + 6) - got.len();
    let reader = std::thread::spawn(move || receive(&mut client, whole));
    rig.until(|_| reader.is_finished());
    got.extend_from_slice(reader.join().expect("it read").as_bytes());
    let part = [piece.as_slice(), b"[file]"].concat();
    assert!(got.chunks(part.len()).all(|chunk| chunk == part), "every piece in its place");
}

#[test]
fn a_connection_without_a_socket_gets_files_too() {
    // Nobody tells when it has room for its next share: it has to get all it can take.
    let mut rig = Rig::with_budget(World::default(), Budget { share: 100, ..Budget::default() });
    let (key, far) = rig.reactor.open_memory(7, &Address::Unnamed, 1000).expect("accepted");
    let bytes = pattern(200_000);
    let (_kept, fd) = file(&bytes);
    with(&mut rig, key, |io| io.send_file(fd, 0, 200_000));
    let mut got = Vec::new();
    rig.reactor.end_turn();
    while got.len() < bytes.len() {
        let some = far.take();
        assert_eq!(1000, some.len());
        got.extend_from_slice(&some);
        rig.reactor.look_at(key);
        rig.turn();
    }
    assert!(bytes == got);
}
