//! What a server and a client of rustls agree on, through a cover in memory.

mod support;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use support::{Authority, Folder, Visit, Wire, settings};
use tls::{Acceptor, Clients, Minimum};

fn der(pem: &str) -> Vec<u8> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM").to_vec()
}

#[test]
fn bytes_come_and_go_whole_and_byte_by_byte() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let acceptor = Acceptor::new(settings(vec![authority.pair(&folder, "a.example")]));
    let acceptor = acceptor.expect("good files");
    for (version, name) in [(&TLS12, "TLSv1.2"), (&TLS13, "TLSv1.3")] {
        for piece in [usize::MAX, 1] {
            let mut visit = Visit::new("a.example", &authority);
            visit.versions = vec![version];
            visit.protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            let mut wire = Wire::new(&acceptor, &visit, piece);
            assert!(wire.session.agreed().is_none());
            wire.say(b"hello");
            wire.settle().expect("they agree");
            assert_eq!(b"hello".to_vec(), wire.plain);
            let agreed = wire.session.agreed().expect("agreed");
            assert_eq!(name, agreed.version);
            assert!(agreed.cipher.starts_with("TLS"), "{}", agreed.cipher);
            assert_eq!(Some(b"http/1.1".to_vec()), agreed.protocol);
            assert_eq!(Some("a.example".into()), agreed.server_name);
            assert_eq!(None, agreed.client_certificate);
            let much = b"0123456789".repeat(30_000);
            wire.answer(&much);
            wire.settle().expect("they go on");
            assert!(much == wire.heard());
            wire.client.send_close_notify();
            assert!(!wire.ended);
            wire.settle().expect("a good-bye is no fault");
            assert!(wire.ended);
            wire.finish();
            wire.settle().expect("a good-bye is no fault");
            assert!(wire.client.process_new_packets().expect("fine").peer_has_closed());
        }
    }
}

#[test]
fn garbage_is_answered_with_an_alert() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let acceptor = Acceptor::new(settings(vec![authority.pair(&folder, "a.example")]));
    let (mut cover, _) = acceptor.expect("good files").cover().expect("a cover");
    let (mut plain, mut sealed) = (Vec::new(), Vec::new());
    assert!(cover.open(b"\x16\x03\x01garbage", &mut plain, &mut sealed).is_err());
    assert_eq!(Some(&21), sealed.first(), "an alert record");
    assert!(plain.is_empty());
}

#[test]
fn the_name_chooses_the_certificate() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let pairs = ["a.example", "*.b.example"].map(|name| authority.pair(&folder, name));
    let known = pairs.clone().map(|pair| der(&std::fs::read_to_string(pair.certificate).unwrap()));
    let acceptor = Acceptor::new(settings(pairs.to_vec())).expect("good files");
    for (name, which) in [("a.example", 0), ("x.b.example", 1)] {
        let mut wire = Wire::new(&acceptor, &Visit::new(name, &authority), usize::MAX);
        wire.settle().expect("they agree");
        let shown = wire.client.peer_certificates().expect("shown")[0].to_vec();
        assert_eq!(known[which], shown, "{name}");
    }
    for stranger in ["c.example", "127.0.0.1"] {
        let mut wire = Wire::new(&acceptor, &Visit::new(stranger, &authority), usize::MAX);
        let refused = wire.settle().expect_err("the first certificate is not for that name");
        assert!(refused.contains("not valid for name"), "{refused}");
    }
}

#[test]
fn old_versions_and_other_protocols_are_refused() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let mut settings = settings(vec![authority.pair(&folder, "a.example")]);
    settings.minimum = Minimum::Tls13;
    let acceptor = Acceptor::new(settings).expect("good files");
    let mut visit = Visit::new("a.example", &authority);
    visit.versions = vec![&TLS12];
    let mut wire = Wire::new(&acceptor, &visit, usize::MAX);
    assert_eq!(Err("the server gave up".into()), wire.settle());
    let mut visit = Visit::new("a.example", &authority);
    visit.protocols = vec![b"h2".to_vec()];
    let mut wire = Wire::new(&acceptor, &visit, usize::MAX);
    assert_eq!(Err("the server gave up".into()), wire.settle());
}

#[test]
fn clients_show_who_they_are() {
    let (folder, authority, foreign) = (Folder::new(), Authority::new(), Authority::new());
    let pair = authority.pair(&folder, "a.example");
    let roots = folder.write("clients.pem", &authority.pem());
    let meet = |clients: &Clients, identity: Option<&(String, String)>| {
        let mut settings = settings(vec![pair.clone()]);
        settings.clients = clients.clone();
        let acceptor = Acceptor::new(settings).expect("good files");
        let mut visit = Visit::new("a.example", &authority);
        visit.identity = identity.cloned();
        let mut wire = Wire::new(&acceptor, &visit, usize::MAX);
        wire.settle()?;
        Ok::<_, String>(wire.session.agreed().expect("agreed").client_certificate.clone())
    };
    let (known, unknown) = (authority.issue("me"), foreign.issue("me"));
    let must = Clients::Known(roots.clone());
    assert_eq!(Ok(Some(der(&known.0))), meet(&must, Some(&known)));
    assert!(meet(&must, None).is_err());
    assert!(meet(&must, Some(&unknown)).is_err());
    let may = Clients::MaybeKnown(roots);
    assert_eq!(Ok(Some(der(&known.0))), meet(&may, Some(&known)));
    assert_eq!(Ok(None), meet(&may, None));
    assert!(meet(&may, Some(&unknown)).is_err());
    assert_eq!(Ok(None), meet(&Clients::Anyone, Some(&known)), "nobody asked");
}

#[test]
fn files_can_be_read_again() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let pair = authority.pair(&folder, "a.example");
    let acceptor = Acceptor::new(settings(vec![pair.clone()])).expect("good files");
    let visit = Visit::new("a.example", &authority);
    let shown = || {
        let mut wire = Wire::new(&acceptor, &visit, usize::MAX);
        wire.settle().expect("they agree");
        wire.client.peer_certificates().expect("shown")[0].to_vec()
    };
    let before = shown();
    let mut open = Wire::new(&acceptor, &visit, usize::MAX);
    open.settle().expect("they agree");
    authority.pair(&folder, "a.example");
    assert_eq!(before, shown(), "not before it is asked to");
    acceptor.reload().expect("good files");
    let after = shown();
    assert_ne!(before, after);
    std::fs::write(&pair.key, "nothing").expect("a file");
    acceptor.reload().expect_err("no key");
    assert_eq!(after, shown(), "what works stays");
    open.say(b"still here");
    open.settle().expect("an open connection does not notice");
    assert_eq!(b"still here".to_vec(), open.plain);
}
