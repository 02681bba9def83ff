//! Which certificate a client is shown: the first that is good for the name it asks for.

use std::sync::Arc;

use rustls::client::verify_server_name;
use rustls::pki_types::ServerName;
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// All certificates of a server; the first also serves those that ask for no name, or for
/// another.
#[derive(Debug)]
pub(crate) struct Choice(pub(crate) Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for Choice {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let first = self.0.first()?;
        let named = (self.0.len() > 1)
            .then(|| ServerName::try_from(hello.server_name()?).ok())
            .flatten()
            .and_then(|name| self.0.iter().find(|certified| is_good_for(certified, &name)));
        Some(Arc::clone(named.unwrap_or(first)))
    }
}

fn is_good_for(certified: &CertifiedKey, name: &ServerName<'_>) -> bool {
    let Some(certificate) = certified.cert.first() else { return false };
    ParsedCertificate::try_from(certificate)
        .is_ok_and(|parsed| verify_server_name(&parsed, name).is_ok())
}
