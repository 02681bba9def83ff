//! Invariant: any bytes are no packet yet, a packet or a fault; a packet is within the input, and
//! so are all its parts; every fault lies within the input; the header's template reads what the
//! general way reads.

#![no_main]

use iproto::ext::ErrorStack;
use iproto::msgpack::Reader;
use iproto::schema::Schema;
use iproto::{Framed, ProtocolError, Reply, frame};
use libfuzzer_sys::fuzz_target;

const MAX: usize = 1 << 16;

fuzz_target!(|input: &[u8]| {
    match frame(input, MAX) {
        Ok(Framed::Partial) => assert!(input.len() < MAX + 9),
        Ok(Framed::Complete { len, prefix }) => {
            assert!(prefix < len && len <= input.len() && len - prefix <= MAX);
            parse(&input[prefix..len]);
        }
        Err(error) => assert!(error.offset <= input.len()),
    }
    // Lengths are rare luck: the packet by itself, too.
    parse(input);
});

fn parse(packet: &[u8]) {
    let reply = match Reply::parse(packet) {
        Ok(reply) => reply,
        Err(error) => return check(error, packet),
    };
    let body = &reply.body;
    let raw = [body.data, body.metadata, body.bind_metadata, body.sql_info, body.stack];
    let more = [body.position, body.tuple_formats, body.features, body.event_data];
    for part in raw.into_iter().chain(more).flatten() {
        assert!(within(packet, part));
    }
    for part in [body.message, body.auth_type, body.event_key].into_iter().flatten() {
        assert!(within(packet, part.as_bytes()));
    }
    if let Some(stack) = body.stack
        && let Err(error) = ErrorStack::decode(stack)
    {
        check(error, stack);
    }
    if let Some(data) = body.data
        && let Err(error) = Schema::read(reply.schema_version, data, data)
    {
        check(error, data);
    }
    same_without_template(packet, &reply);
}

/// The same header with its pairs in another order has to be read the general way.
fn same_without_template(packet: &[u8], reply: &Reply<'_>) {
    let mut reader = Reader::new(packet);
    let Ok(3) = reader.map() else { return };
    let mut pairs = Vec::new();
    for _ in 0..3 {
        let start = reader.position();
        if reader.skip_many(2).is_err() {
            return;
        }
        pairs.push(&packet[start..reader.position()]);
    }
    // Of a key that is there twice, in whatever form, the last one counts: that must stay last.
    let twice = |pair: &&&[u8]| pairs.iter().filter(|other| other[0] == pair[0]).count() > 1;
    if pairs.iter().any(|pair| pair[0] > 0x7f || twice(&pair)) {
        return;
    }
    let turned = [&[0x83], pairs[2], pairs[1], pairs[0], reader.rest()].concat();
    let again = Reply::parse(&turned).expect("the order of a header's pairs means nothing");
    assert_eq!(*reply, again);
}

fn check(error: ProtocolError, input: &[u8]) {
    assert!(error.offset <= input.len());
    assert!(!error.expected.is_empty());
}

fn within(outer: &[u8], inner: &[u8]) -> bool {
    let (outer, inner) = (outer.as_ptr_range(), inner.as_ptr_range());
    outer.start <= inner.start && inner.end <= outer.end
}
