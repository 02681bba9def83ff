//! Headers of the PROXY protocol, each whole, cut in two at every byte, and byte by byte.

mod support;

use std::net::IpAddr;

use http1::{LONGEST_PROXY_HEADER, NotProxied, Proxied, proxy_header};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// What comes of input that arrives in every possible way.
fn read(input: &[u8]) -> Result<Option<Proxied>, NotProxied> {
    let whole = proxy_header(input);
    for pieces in support::cuts(input) {
        let mut got = Vec::new();
        let mut outcome = Ok(None);
        for piece in pieces {
            got.extend_from_slice(piece);
            outcome = proxy_header(&got);
            if outcome != Ok(None) {
                break;
            }
        }
        assert_eq!(whole.is_ok(), outcome.is_ok(), "{input:?}");
        if let Ok(outcome) = outcome {
            assert_eq!(whole, Ok(outcome), "{input:?}");
        }
    }
    whole
}

fn source(input: &[u8]) -> (String, u16) {
    let proxied = read(input).expect("good").expect("whole");
    let (address, port) = proxied.source.expect("told");
    (address.to_string(), port)
}

/// A header of version 2.
fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).expect("short").to_be_bytes();
    [SIGNATURE, &[command, family], &length, rest].concat()
}

const FOUR: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0x01, 0xbb];

#[test]
fn lines_of_version_1() {
    let line = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\nGET / HTTP/1.1\r\n";
    assert_eq!(("192.0.2.1".into(), 56324), source(line));
    assert_eq!(45, read(line).expect("good").expect("whole").len);
    let six = b"PROXY TCP6 2001:db8::1 ::1 0 65535\r\n";
    assert_eq!(("2001:db8::1".into(), 0), source(six));
    let longest = b"PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff \
        ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n";
    assert_eq!(107, longest.len());
    let proxied = read(longest).expect("good").expect("whole");
    assert_eq!(Proxied { len: 107, source: None, secure: false }, proxied);
    assert_eq!(Ok(Some(Proxied { len: 15, ..Proxied::default() })), read(b"PROXY UNKNOWN\r\n"));
    for partial in ["", "P", "PROXY", "PROXY ", "PROXY TCP4 1.2.3.4 ", "PROXY UNKNOWN\r"] {
        assert_eq!(Ok(None), read(partial.as_bytes()), "{partial}");
    }
}

#[test]
fn wrong_lines_are_refused() {
    let wrong = [
        ("GET / HTTP/1.1\r\n", "no header of the PROXY protocol"),
        ("\u{16}\u{3}\u{1}", "no header of the PROXY protocol"),
        ("proxy TCP4 1.2.3.4 1.2.3.4 1 1\r\n", "no header of the PROXY protocol"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n", "the line does not end as it must"),
        ("PROXY \r\n", "the line has too few words"),
        ("PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n", "the protocol is neither TCP4 nor TCP6 nor UNKNOWN"),
        ("PROXY TCP4\r\n", "the line has too few words"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "the line has too few words"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n", "the line has too many words"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n", "the line has too many words"),
        ("PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n", "an address is wrong"),
        ("PROXY TCP4 ::1 ::1 1 1\r\n", "an address is wrong"),
        ("PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n", "an address is wrong"),
        ("PROXY TCP4 1.2.3.4 1.2.3 1 1\r\n", "an address is wrong"),
        ("PROXY TCP4 01.2.3.4 1.2.3.4 1 1\r\n", "an address is wrong"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n", "a port is wrong"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n", "a port is wrong"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n", "a port is wrong"),
        ("PROXY TCP4 1.2.3.4 1.2.3.4 1 -1\r\n", "a port is wrong"),
    ];
    for (line, reason) in wrong {
        assert_eq!(Err(NotProxied(reason)), read(line.as_bytes()), "{line:?}");
    }
    let endless = format!("PROXY UNKNOWN {}", "x".repeat(93));
    assert_eq!(Err(NotProxied("the line is too long")), read(endless.as_bytes()));
    assert_eq!(Ok(None), read(&endless.as_bytes()[..106]));
    let late = format!("PROXY UNKNOWN {}\r\n", "x".repeat(92));
    assert_eq!(Err(NotProxied("the line is too long")), read(late.as_bytes()));
}

#[test]
fn headers_of_version_2() {
    let four = [binary(0x21, 0x11, &FOUR), b"GET".to_vec()].concat();
    assert_eq!(("192.0.2.1".into(), 56324), source(&four));
    assert_eq!(28, read(&four).expect("good").expect("whole").len);
    let mut six = [0; 36];
    six[15] = 1;
    six[33] = 80;
    assert_eq!(("::1".into(), 80), source(&binary(0x21, 0x21, &six)));
    for header in [
        binary(0x20, 0x00, &[]),
        binary(0x20, 0x11, &FOUR),
        binary(0x20, 0x11, &FOUR[..3]),
        binary(0x21, 0x00, b"whatever"),
        binary(0x21, 0x31, &[0; 216]),
    ] {
        let known = Proxied { len: header.len(), source: None, secure: false };
        assert_eq!(Ok(Some(known)), read(&header), "{header:?}");
    }
    let address: IpAddr = "192.0.2.1".parse().expect("an address");
    for (client, secure) in [(0, false), (1, true), (6, false), (7, true)] {
        let told = [0x20, 0, 5, client, 0, 0, 0, 0];
        let header = binary(0x21, 0x11, &[&FOUR[..], &[4, 0, 1, 0], &told].concat());
        let known = Proxied { len: header.len(), source: Some((address, 56324)), secure };
        assert_eq!(Ok(Some(known)), read(&header), "{client}");
    }
}

#[test]
fn the_checksum_is_checked() {
    // CRC-32C with the generator 0x1edc6f41, computed apart from this code.
    let facts = [&FOUR[..], &[3, 0, 4, 0, 0, 0, 0]].concat();
    let mut header = binary(0x21, 0x11, &facts);
    let value = reference(&header).to_be_bytes();
    let end = header.len();
    header[end - 4..].copy_from_slice(&value);
    assert_eq!(("192.0.2.1".into(), 56324), source(&header));
    header[17] ^= 1;
    assert_eq!(Err(NotProxied("the checksum is wrong")), read(&header));
    let short = [&FOUR[..], &[3, 0, 3, 0, 0, 0]].concat();
    assert_eq!(Err(NotProxied("the checksum is cut off")), read(&binary(0x21, 0x11, &short)));
}

/// Most significant bit first, with both ends turned: nothing in common with what is tested.
fn reference(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(byte.reverse_bits()) << 24;
        for _ in 0..8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ 0x1edc_6f41 } else { crc << 1 };
        }
    }
    !crc.reverse_bits()
}

#[test]
fn the_reference_knows_its_check_value() {
    assert_eq!(0xe306_9283, reference(b"123456789"));
}

#[test]
fn wrong_headers_of_version_2_are_refused() {
    let wrong = [
        (binary(0x11, 0x11, &FOUR), "the version is not 2"),
        (binary(0x22, 0x11, &FOUR), "the command is neither LOCAL nor PROXY"),
        (binary(0x21, 0x12, &FOUR), "the family is not that of a stream"),
        (binary(0x21, 0x01, &FOUR), "the family is not that of a stream"),
        (binary(0x21, 0x11, &FOUR[..11]), "the addresses are cut off"),
        (binary(0x21, 0x21, &[0; 35]), "the addresses are cut off"),
        (binary(0x21, 0x31, &[0; 215]), "the addresses are cut off"),
        (binary(0x21, 0x11, &[&FOUR[..], &[4]].concat()), "a fact is cut off"),
        (binary(0x21, 0x11, &[&FOUR[..], &[4, 0, 2, 0]].concat()), "a fact is cut off"),
        (binary(0x20, 0, &vec![0; LONGEST_PROXY_HEADER - 15]), "the header is too long"),
    ];
    for (header, reason) in wrong {
        assert_eq!(Err(NotProxied(reason)), read(&header), "{:?}", &header[..16]);
    }
    let mut almost = binary(0x21, 0x11, &FOUR);
    almost[11] = b'\r';
    assert_eq!(Err(NotProxied("no header of the PROXY protocol")), read(&almost));
    let longest = binary(0x20, 0, &vec![0; LONGEST_PROXY_HEADER - 16]);
    assert_eq!(LONGEST_PROXY_HEADER, read(&longest).expect("good").expect("whole").len);
}
