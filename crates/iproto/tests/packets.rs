//! The reply vectors: each whole, cut in two at every byte, and byte by byte.

mod support;

use iproto::{Body, Framed, ProtocolError, Reply, Status, codes, frame};
use serde::Deserialize;
use support::{bytes, vectors};

#[derive(Deserialize)]
struct Vectors<T> {
    vector: Vec<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    name: String,
    packet: String,
    status: String,
    #[serde(default)]
    sync: u64,
    #[serde(default)]
    schema_version: u64,
    data: Option<String>,
    metadata: Option<String>,
    bind_metadata: Option<String>,
    sql_info: Option<String>,
    statement_id: Option<u64>,
    message: Option<String>,
    stack: Option<String>,
    version: Option<u64>,
    features: Option<String>,
    auth_type: Option<String>,
    event_key: Option<String>,
    event_data: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    name: String,
    packet: String,
    at: String,
    kind: String,
    expected: String,
    offset: usize,
}

const MAX: usize = 1 << 20;

fn replies() -> Vec<Accepted> {
    vectors::<Vectors<Accepted>>("replies.toml").vector
}

#[test]
fn replies_are_read() {
    for vector in replies() {
        let packet = bytes(&vector.packet);
        let framed = frame(&packet, MAX).unwrap();
        let Framed::Complete { len, prefix } = framed else { panic!("{}", vector.name) };
        assert_eq!(packet.len(), len, "{}", vector.name);
        let reply = Reply::parse(&packet[prefix..len]).expect(&vector.name);
        assert_eq!(vector.status, status(reply.status), "{}", vector.name);
        assert_eq!(vector.sync, reply.sync, "{}", vector.name);
        assert_eq!(vector.schema_version, reply.schema_version, "{}", vector.name);
        assert_body(&vector, &reply.body);
    }
}

fn status(status: Status) -> String {
    match status {
        Status::Ok => "ok".into(),
        Status::Chunk => "chunk".into(),
        Status::Event => "event".into(),
        Status::Error(code) => format!("error {code} {}", codes::name(code)),
    }
}

fn assert_body(vector: &Accepted, body: &Body<'_>) {
    let raw = [
        ("data", &vector.data, body.data),
        ("metadata", &vector.metadata, body.metadata),
        ("bind_metadata", &vector.bind_metadata, body.bind_metadata),
        ("sql_info", &vector.sql_info, body.sql_info),
        ("stack", &vector.stack, body.stack),
        ("features", &vector.features, body.features),
        ("event_data", &vector.event_data, body.event_data),
        ("position", &None, body.position),
        ("tuple_formats", &None, body.tuple_formats),
    ];
    for (part, expected, actual) in raw {
        let expected = expected.as_ref().map(|hex| bytes(hex));
        assert_eq!(expected.as_deref(), actual, "{}: {part}", vector.name);
    }
    let texts = [
        ("message", &vector.message, body.message),
        ("auth_type", &vector.auth_type, body.auth_type),
        ("event_key", &vector.event_key, body.event_key),
    ];
    for (part, expected, actual) in texts {
        assert_eq!(expected.as_deref(), actual, "{}: {part}", vector.name);
    }
    assert_eq!(vector.statement_id, body.statement_id, "{}", vector.name);
    assert_eq!(vector.version, body.version, "{}", vector.name);
}

#[test]
fn faults_say_what_was_expected_where() {
    for vector in vectors::<Vectors<Refused>>("refuse.toml").vector {
        let packet = bytes(&vector.packet);
        let error = match (vector.at.as_str(), frame(&packet, MAX)) {
            ("frame", framed) => framed.expect_err(&vector.name),
            (_, Ok(Framed::Complete { len, prefix })) => {
                Reply::parse(&packet[prefix..len]).expect_err(&vector.name)
            }
            (_, other) => panic!("{}: {other:?}", vector.name),
        };
        let actual = (error.kind.as_str(), error.expected, error.offset);
        let expected = (vector.kind.as_str(), vector.expected.as_str(), vector.offset);
        assert_eq!(expected, actual, "{}", vector.name);
    }
}

#[test]
fn every_part_of_a_packet_is_partial() {
    for vector in replies() {
        let packet = bytes(&vector.packet);
        for length in 0..packet.len() {
            let framed = frame(&packet[..length], MAX);
            assert_eq!(Ok(Framed::Partial), framed, "{}: {length} bytes", vector.name);
        }
    }
}

#[test]
fn a_stream_gives_the_same_packets_however_it_is_cut() {
    let packets: Vec<_> = replies().iter().map(|vector| bytes(&vector.packet)).collect();
    let stream = packets.concat();
    assert_eq!(Ok(packets.clone()), read(&[&stream]));
    for cut in 0..stream.len() {
        let (first, second) = stream.split_at(cut);
        assert_eq!(Ok(packets.clone()), read(&[first, second]), "cut at {cut}");
    }
    let single: Vec<_> = stream.chunks(1).collect();
    assert_eq!(Ok(packets), read(&single));
}

/// The packets of a stream that arrives in pieces.
fn read(pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, ProtocolError> {
    let (mut input, mut packets) = (Vec::new(), Vec::new());
    for piece in pieces {
        input.extend_from_slice(piece);
        while let Framed::Complete { len, .. } = frame(&input, MAX)? {
            packets.push(input.drain(..len).collect());
        }
    }
    assert!(input.is_empty());
    Ok(packets)
}

#[test]
fn a_damaged_packet_is_refused_or_read_but_never_read_past() {
    for vector in replies() {
        let packet = bytes(&vector.packet);
        for place in 5..packet.len() {
            for byte in [0x00, 0x30, 0x7f, 0x81, 0x93, 0xbf, 0xc1, 0xc6, 0xdb, 0xdd, 0xdf, 0xff] {
                let mut damaged = packet[5..].to_vec();
                damaged[place - 5] = byte;
                if let Ok(reply) = Reply::parse(&damaged) {
                    let data = reply.body.data.unwrap_or_default();
                    assert!(data.len() < damaged.len(), "{}", vector.name);
                }
            }
        }
    }
}
