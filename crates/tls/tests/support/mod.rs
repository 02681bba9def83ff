//! Certificates in a folder of their own, and a client to talk to a cover in memory.

#![allow(dead_code, reason = "every test binary uses its part")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use reactor::{Cover, Torn};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use tls::{Acceptor, Clients, Minimum, Pair, Settings};

/// A folder that is gone with it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tls-test-{}-{count}", std::process::id()));
        std::fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("room on the disk");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An authority that signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a name, and its key, in PEM.
    pub fn issue(&self, name: &str) -> (String, String) {
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }

    /// The same in files.
    pub fn pair(&self, folder: &Folder, name: &str) -> Pair {
        let (certificate, key) = self.issue(name);
        Pair {
            certificate: folder.write(&format!("{name}.pem"), &certificate),
            key: folder.write(&format!("{name}.key"), &key),
        }
    }
}

pub fn settings(pairs: Vec<Pair>) -> Settings {
    Settings {
        pairs,
        clients: Clients::Anyone,
        protocols: vec![b"http/1.1".to_vec()],
        minimum: Minimum::Tls12,
    }
}

/// How a client comes.
pub struct Visit {
    pub name: &'static str,
    pub roots: String,
    pub identity: Option<(String, String)>,
    pub protocols: Vec<Vec<u8>>,
    pub versions: Vec<&'static SupportedProtocolVersion>,
}

impl Visit {
    pub fn new(name: &'static str, authority: &Authority) -> Self {
        Self {
            name,
            roots: authority.pem(),
            identity: None,
            protocols: Vec::new(),
            versions: rustls::ALL_VERSIONS.to_vec(),
        }
    }

    pub fn connection(&self) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(self.roots.as_bytes()).expect("PEM");
        roots.add(root).expect("an authority");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&self.versions)
            .expect("versions")
            .with_root_certificates(roots);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain =
                    vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM")];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("PEM");
                builder.with_client_auth_cert(chain, key).expect("a pair")
            }
        };
        config.alpn_protocols.clone_from(&self.protocols);
        let name = self.name.try_into().expect("a name");
        ClientConnection::new(Arc::new(config), name).expect("a client")
    }
}

/// Both ends of a connection in memory; bytes travel in pieces of this size.
pub struct Wire {
    pub client: ClientConnection,
    pub cover: Box<dyn Cover>,
    pub session: Arc<tls::Session>,
    pub plain: Vec<u8>,
    pub ended: bool,
    pub piece: usize,
    heard: Vec<u8>,
    sealed: Vec<u8>,
}

impl Wire {
    pub fn new(acceptor: &Acceptor, visit: &Visit, piece: usize) -> Self {
        let (cover, session) = acceptor.cover().expect("a cover");
        Self {
            client: visit.connection(),
            cover,
            session,
            plain: Vec::new(),
            ended: false,
            piece,
            heard: Vec::new(),
            sealed: Vec::new(),
        }
    }

    /// Move bytes until both are silent. The error of whoever gave up.
    pub fn settle(&mut self) -> Result<(), String> {
        loop {
            let mut to_server = Vec::new();
            while self.client.wants_write() {
                self.client.write_tls(&mut to_server).expect("memory");
            }
            let to_client = std::mem::take(&mut self.sealed);
            if to_server.is_empty() && to_client.is_empty() {
                return Ok(());
            }
            let mut torn = None;
            for piece in to_server.chunks(self.piece) {
                match self.cover.open(piece, &mut self.plain, &mut self.sealed) {
                    Ok(opened) => self.ended |= opened.ended,
                    Err(Torn) => torn = Some("the server gave up".to_owned()),
                }
            }
            let mut rest = &to_client[..];
            while !rest.is_empty() && self.client.read_tls(&mut rest).expect("memory") > 0 {
                self.client.process_new_packets().map_err(|error| error.to_string())?;
                // It ends by a good-bye, or there is no more for now.
                let _ = self.client.reader().read_to_end(&mut self.heard);
            }
            if let Some(torn) = torn {
                return Err(torn);
            }
        }
    }

    pub fn say(&mut self, bytes: &[u8]) {
        self.client.writer().write_all(bytes).expect("memory");
    }

    pub fn answer(&mut self, bytes: &[u8]) {
        self.cover.seal(bytes, &mut self.sealed).expect("it is ready");
    }

    pub fn finish(&mut self) {
        self.cover.finish(&mut self.sealed);
    }

    /// What the client has got.
    pub fn heard(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.heard)
    }
}

pub fn in_file(path: &Path, words: &str) -> String {
    format!("{}{words}", path.display())
}
