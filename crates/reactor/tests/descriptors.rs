//! Accepting when descriptors run out. Alone in its process: the limit is the whole process's.

mod support;

use std::fs::File;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::{Rig, World, receive, send};

#[test]
fn a_listener_rests_when_descriptors_run_out_and_goes_on_after() {
    let mut rig = Rig::new(World::default());
    let mut first = UnixStream::connect_addr(&rig.address).expect("the listener listens");
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..before }).expect("a lower limit");
    let mut hoard = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    // The connection waits in the kernel and cannot be taken.
    let start = rig.reactor.update_time();
    let mut turns = 0;
    while rig.reactor.update_time() < start + 500 {
        if rig.readable(50) {
            rig.turn();
            turns += 1;
        }
    }
    assert_eq!(0, rig.reactor.stats().accepts);
    assert!((2..=20).contains(&turns), "{turns} turns in half a second");
    drop(hoard);
    rig.until(|rig| rig.reactor.stats().accepts == 1);
    setrlimit(Resource::Nofile, before).expect("the old limit");
    send(&mut first, b"at last\n");
    rig.until(|rig| rig.reactor.stats().writes == 1);
    assert_eq!("at last\n", receive(&mut first, 8));
}
