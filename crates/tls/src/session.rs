//! What the two sides of one connection agreed on.

use std::sync::OnceLock;

/// Empty until the handshake is done.
#[derive(Debug, Default)]
pub struct Session(pub(crate) OnceLock<Agreed>);

/// The outcome of a handshake.
#[derive(Debug)]
pub struct Agreed {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite by its IANA name.
    pub cipher: String,
    /// The protocol inside, if the client asked for one.
    pub protocol: Option<Vec<u8>>,
    /// The name the client asked for.
    pub server_name: Option<String>,
    /// The client's certificate in DER.
    pub client_certificate: Option<Vec<u8>>,
}

impl Session {
    /// What was agreed, when it was.
    pub fn agreed(&self) -> Option<&Agreed> {
        self.0.get()
    }
}
