//! Certificates and keys out of PEM files.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use crate::acceptor::Pair;
use crate::fault::Fault;

/// A certificate with its chain and its key, which belong together.
pub(crate) fn pair(pair: &Pair, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, Fault> {
    let chain = certificates(&pair.certificate)?;
    let key = provider
        .key_provider
        .load_private_key(private_key(&pair.key)?)
        .map_err(|error| malformed(&pair.key, &format!("the key cannot be used: {error}")))?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {
            Ok(Arc::new(certified))
        }
        Err(rustls::Error::InconsistentKeys(_)) => {
            Err(Fault::Mismatch { certificate: pair.certificate.clone(), key: pair.key.clone() })
        }
        Err(error) => Err(malformed(&pair.certificate, &error.to_string())),
    }
}

/// The authorities whose certificates clients may show.
pub(crate) fn authorities(path: &Path) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| malformed(path, &error.to_string()))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let text = read(path)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| not_pem(path, &error))?;
    if found.is_empty() {
        return Err(Fault::Missing { path: path.into(), what: "certificate" });
    }
    Ok(found)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Fault> {
    let text = read(path)?;
    let has = |words: &[u8]| text.windows(words.len()).any(|window| window == words);
    if has(b"BEGIN ENCRYPTED PRIVATE KEY") || has(b"Proc-Type: 4,ENCRYPTED") {
        return Err(Fault::Encrypted { path: path.into() });
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        pem::Error::NoItemsFound => Fault::Missing { path: path.into(), what: "private key" },
        error => not_pem(path, &error),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    std::fs::read(path).map_err(|cause| Fault::Unreadable { path: path.into(), cause })
}

fn not_pem(path: &Path, error: &pem::Error) -> Fault {
    malformed(path, &format!("this is not PEM: {error}"))
}

fn malformed(path: &Path, what: &str) -> Fault {
    Fault::Malformed { path: path.into(), what: what.into() }
}
