//! What comes before the first request: the word of a proxy, TLS, and the cap on connections.

mod support;

use std::sync::Arc;

use peers::Timeouts;
use reactor::Address;
use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use support::site::{Client, Site, get};

const LINE: &str = "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";

fn from(site: &Site, nth: usize) -> String {
    format!("{:?}", site.seen[nth].data.from)
}

fn ended(client: &mut Client) -> bool {
    client.read();
    client.ended
}

#[test]
fn a_proxy_names_the_client_of_every_request() {
    for size in [1000, 7, 1] {
        let mut site = Site::new(|server| server.proxy_protocol = true);
        let mut client = site.client();
        for piece in format!("{LINE}{}{}", get("/a"), get("/b")).as_bytes().chunks(size) {
            client.send(piece);
            site.settle();
        }
        client.read();
        assert_eq!(vec!["/a", "/b"], client.bodies());
        assert_eq!("Tcp(192.0.2.1:56324)", from(&site, 0));
        assert_eq!("Tcp(192.0.2.1:56324)", from(&site, 1));
        assert!(!site.seen[0].data.secure);
    }
}

#[test]
fn who_sends_no_header_of_a_proxy_is_cut_off() {
    let mut site = Site::new(|server| server.proxy_protocol = true);
    for wrong in [get("/"), "PROXY TCP4 1.2.3.4\r\n".into(), "\u{16}".into()] {
        let mut client = site.client();
        site.say(&mut client, &wrong);
        assert!(ended(&mut client));
        assert_eq!("", client.text);
    }
    assert_eq!(0, site.server().connections);
    assert!(site.seen.is_empty());
}

#[test]
fn the_header_of_a_proxy_has_its_own_patience() {
    let timeouts = Timeouts { handshake: 80, header: 60_000, ..Timeouts::default() };
    let mut site = Site::new(|server| {
        server.proxy_protocol = true;
        server.timeouts = timeouts;
    });
    let mut slow = site.client();
    site.say(&mut slow, &LINE[..20]);
    let mut quick = site.client();
    site.say(&mut quick, LINE);
    assert_eq!("", site.end(&mut slow));
    site.say(&mut quick, &get("/"));
    assert_eq!(vec!["/"], quick.bodies());
}

#[test]
fn a_plain_request_where_tls_is_due_is_told_so() {
    let acceptor = acceptor();
    let mut site = Site::new(|server| server.tls = Some(Arc::clone(&acceptor)));
    let mut client = site.client();
    site.say(&mut client, &get("/"));
    let text = site.end(&mut client);
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
    assert!(text.ends_with("this port speaks TLS\n"), "{text}");
    assert!(site.seen.is_empty());
}

#[test]
fn a_handshake_that_is_not_finished_is_cut_off() {
    let acceptor = acceptor();
    let mut site = Site::new(|server| {
        server.tls = Some(Arc::clone(&acceptor));
        server.timeouts = Timeouts { handshake: 80, ..Timeouts::default() };
    });
    let mut silent = site.client();
    let mut begun = site.client();
    begun.send(b"\x16\x03\x01\x02\x00\x01\x00");
    assert_eq!("", site.end(&mut silent));
    assert_eq!("", site.end(&mut begun));
    assert_eq!(0, site.server().connections);
}

#[test]
fn a_client_that_does_not_take_its_part_of_the_handshake_is_cut_off_in_time() {
    let mut site = Site::new(|server| {
        server.tls = Some(acceptor());
        server.timeouts = Timeouts { handshake: 80, ..Timeouts::default() };
    });
    let (key, far) = site.hub.open_memory(0, &Address::Unnamed, 10).expect("accepted");
    far.send(&client_hello());
    site.hub.look_at(key);
    site.until("an answer", |_| far.has_news());
    let queued = site.hub.with(key, |_, io, _| io.queued()).expect("it is there");
    assert!(queued > 0, "it has no room for the answer");
    site.until("the end", |_| far.is_closed());
}

/// How a client of TLS begins.
fn client_hello() -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = "a.example".try_into().expect("a name");
    let mut client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut hello = Vec::new();
    client.write_tls(&mut hello).expect("memory");
    hello
}

#[test]
fn a_handshake_under_way_is_no_idle_connection() {
    let acceptor = acceptor();
    let mut site = Site::new(|server| server.tls = Some(Arc::clone(&acceptor)));
    let idle = |site: &mut Site| {
        let keys = site.hub.keys();
        let is_idle =
            |key| site.hub.with(key, |peer, _, _| peer.http().is_some_and(|http| http.is_idle()));
        keys.into_iter().filter_map(is_idle).filter(|idle| *idle).count()
    };
    let mut client = site.client();
    assert_eq!(1, idle(&mut site), "it has said nothing yet");
    client.send(b"\x16\x03\x01\x02\x00\x01\x00");
    site.settle();
    assert_eq!(0, idle(&mut site));
}

#[test]
fn the_first_beyond_the_cap_are_told_and_the_others_cut_off() {
    let mut site = Site::new(|server| server.most_connections = 1);
    let mut inside = site.client();
    site.say(&mut inside, &get("/"));
    let mut outside: Vec<_> = (0..40).map(|_| connect(&site)).collect();
    site.until("all are dealt with", |site| site.hub.stats().accepts == 41);
    site.settle();
    outside.iter_mut().for_each(Client::read);
    let told = outside.iter().filter(|client| {
        assert!(client.ended, "nobody beyond the cap stays");
        client.text.starts_with("HTTP/1.1 503 ") && client.text.contains("\r\nRetry-After: 1\r\n")
    });
    assert_eq!(32, told.count());
    assert_eq!(1, site.server().connections);
    site.say(&mut inside, &get("/x"));
    assert_eq!(vec!["/", "/x"], inside.bodies());
}

fn connect(site: &Site) -> Client {
    let socket = std::os::unix::net::UnixStream::connect_addr(&site.address).expect("it listens");
    socket.set_nonblocking(true).expect("a socket");
    Client { socket, text: String::new(), ended: false }
}

/// Certificates of its own, which nobody trusts: no handshake is finished here.
fn acceptor() -> Arc<tls::Acceptor> {
    let issued = rcgen::generate_simple_self_signed(vec!["a.example".into()]).expect("a key");
    let name = support::free_name();
    let path = |end: &str| std::env::temp_dir().join(format!("{name}{end}"));
    let pair = tls::Pair { certificate: path(".pem"), key: path(".key") };
    std::fs::write(&pair.certificate, issued.cert.pem()).expect("room on the disk");
    std::fs::write(&pair.key, issued.signing_key.serialize_pem()).expect("room on the disk");
    let acceptor = tls::Acceptor::new(tls::Settings {
        pairs: vec![pair.clone()],
        clients: tls::Clients::Anyone,
        protocols: Vec::new(),
        minimum: tls::Minimum::Tls12,
    });
    std::fs::remove_file(&pair.certificate).expect("just written");
    std::fs::remove_file(&pair.key).expect("just written");
    Arc::new(acceptor.expect("good files"))
}
