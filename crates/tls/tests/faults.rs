//! Wrong files are told with their name and with what to do.

mod support;

use std::path::PathBuf;

use support::{Authority, Folder, in_file, settings};
use tls::{Acceptor, Clients, Pair, Settings};

fn fault(settings: Settings) -> String {
    Acceptor::new(settings).expect_err("a wrong file").to_string()
}

#[test]
fn a_wrong_certificate_is_told() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let (certificate, key) = authority.issue("a.example");
    let key = folder.write("key.pem", &key);
    let told = |certificate: PathBuf| fault(settings(vec![Pair { certificate, key: key.clone() }]));
    let missing = key.with_file_name("missing.pem");
    assert_eq!(
        in_file(&missing, " cannot be read: No such file or directory (os error 2)"),
        told(missing)
    );
    assert_eq!(in_file(&key, " holds no certificate in PEM (-----BEGIN ...)"), told(key.clone()));
    let cut = folder.write("cut.pem", &certificate[..certificate.len() - 40]);
    assert!(told(cut.clone()).starts_with(&in_file(&cut, ": this is not PEM: ")));
    let text = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    let hollow = folder.write("hollow.pem", text);
    assert!(told(hollow.clone()).starts_with(&in_file(&hollow, ": ")), "{}", told(hollow));
}

#[test]
fn a_wrong_key_is_told() {
    let (folder, authority) = (Folder::new(), Authority::new());
    let (certificate, _) = authority.issue("a.example");
    let (_, other) = authority.issue("a.example");
    let certificate = folder.write("certificate.pem", &certificate);
    let told = |key: PathBuf| fault(settings(vec![Pair { certificate: certificate.clone(), key }]));
    let none = folder.write("none.pem", "");
    assert_eq!(in_file(&none, " holds no private key in PEM (-----BEGIN ...)"), told(none));
    let other = folder.write("other.pem", &other);
    let words = " is not the key of the first certificate in ";
    assert_eq!(in_file(&other, words) + &certificate.display().to_string(), told(other));
    for text in [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\naGVsbG8=\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\naGVsbG8=\n",
    ] {
        let locked = folder.write("locked.pem", text);
        let told = told(locked.clone());
        assert!(told.starts_with(&in_file(&locked, " is encrypted with a passphrase")), "{told}");
    }
    let text = "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n";
    let hollow = folder.write("hollow.pem", text);
    let told = told(hollow.clone());
    assert!(told.starts_with(&in_file(&hollow, ": the key cannot be used: ")), "{told}");
}

#[test]
fn wrong_settings_are_told() {
    assert_eq!("TLS needs a certificate and its key", fault(settings(Vec::new())));
    let (folder, authority) = (Folder::new(), Authority::new());
    let mut settings = settings(vec![authority.pair(&folder, "a.example")]);
    let empty = folder.write("empty.pem", "");
    settings.clients = Clients::Known(empty.clone());
    assert_eq!(in_file(&empty, " holds no certificate in PEM (-----BEGIN ...)"), fault(settings));
}
