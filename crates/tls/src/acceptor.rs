//! What a server needs to speak TLS, and how it changes without dropping a connection.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use reactor::Cover;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{NoClientAuth, WebPkiClientVerifier, danger::ClientCertVerifier};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion, version};

use crate::choice::Choice;
use crate::cover::Wrapped;
use crate::fault::Fault;
use crate::load;
use crate::session::Session;

/// A certificate with its chain, and its key: two PEM files, or one that holds both.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The certificate first, then its chain.
    pub certificate: PathBuf,
    /// The private key, without a passphrase.
    pub key: PathBuf,
}

/// Whether clients show certificates.
#[derive(Clone, Debug)]
pub enum Clients {
    /// They are not asked.
    Anyone,
    /// They must show one signed by an authority in this file.
    Known(PathBuf),
    /// They may show one, but not a wrong one.
    MaybeKnown(PathBuf),
}

/// The oldest version that is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimum {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

/// How a server speaks TLS.
#[derive(Clone, Debug)]
pub struct Settings {
    /// At least one; the first serves clients that ask for no name.
    pub pairs: Vec<Pair>,
    /// Who may come.
    pub clients: Clients,
    /// Protocols that are spoken inside, the best first; empty for not saying.
    pub protocols: Vec<Vec<u8>>,
    /// The oldest version.
    pub minimum: Minimum,
}

/// Makes a cover for each connection, from files that can be read again.
#[derive(Debug)]
pub struct Acceptor {
    settings: Settings,
    config: Mutex<Arc<ServerConfig>>,
}

impl Acceptor {
    /// Read the files.
    pub fn new(settings: Settings) -> Result<Self, Fault> {
        let config = Mutex::new(Arc::new(config(&settings)?));
        Ok(Self { settings, config })
    }

    /// What it was made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Read the files again: connections accepted from now on use them. Those that are open, and
    /// everything if a file is wrong, stay as they are.
    pub fn reload(&self) -> Result<(), Fault> {
        let fresh = Arc::new(config(&self.settings)?);
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// A cover for a connection just accepted, and where to read what it agrees on.
    pub fn cover(&self) -> Result<(Box<dyn Cover>, Arc<Session>), Fault> {
        let config = Arc::clone(&self.config.lock().unwrap_or_else(PoisonError::into_inner));
        let connection =
            ServerConnection::new(config).map_err(|error| Fault::Settings(error.to_string()))?;
        let session = Arc::new(Session::default());
        Ok((Box::new(Wrapped::new(connection.into(), Arc::clone(&session))), session))
    }
}

fn config(settings: &Settings) -> Result<ServerConfig, Fault> {
    let provider = Arc::new(ring::default_provider());
    let pairs = settings.pairs.iter().map(|pair| load::pair(pair, &provider));
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    if pairs.is_empty() {
        return Err(Fault::Settings("TLS needs a certificate and its key".into()));
    }
    let versions: &[&SupportedProtocolVersion] = match settings.minimum {
        Minimum::Tls12 => &[&version::TLS13, &version::TLS12],
        Minimum::Tls13 => &[&version::TLS13],
    };
    let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| Fault::Settings(error.to_string()))?
        .with_client_cert_verifier(verifier(&settings.clients, &provider)?)
        .with_cert_resolver(Arc::new(Choice(pairs)));
    config.alpn_protocols.clone_from(&settings.protocols);
    // Tickets keep no state here: a client resumes whatever else this server has to remember.
    config.ticketer = ring::Ticketer::new().map_err(|error| Fault::Settings(error.to_string()))?;
    Ok(config)
}

fn verifier(
    clients: &Clients,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, Fault> {
    let (path, maybe) = match clients {
        Clients::Anyone => return Ok(Arc::new(NoClientAuth)),
        Clients::Known(path) => (path, false),
        Clients::MaybeKnown(path) => (path, true),
    };
    let roots = Arc::new(load::authorities(path)?);
    let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
    let builder = if maybe { builder.allow_unauthenticated() } else { builder };
    let refused = |error: rustls::server::VerifierBuilderError| Fault::Malformed {
        path: path.clone(),
        what: error.to_string(),
    };
    let verifier: Arc<dyn ClientCertVerifier> = builder.build().map_err(refused)?;
    Ok(verifier)
}
