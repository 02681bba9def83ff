//! The bytes of one connection, in and out of rustls.

use std::io::{Read, Write};
use std::sync::Arc;

use reactor::{Cover, Opened, Torn};
use rustls::Connection;

use crate::session::{Agreed, Session};

/// One connection of rustls, of either side.
pub(crate) struct Wrapped {
    connection: Connection,
    session: Arc<Session>,
}

impl Wrapped {
    pub(crate) fn new(mut connection: Connection, session: Arc<Session>) -> Self {
        // How much is sealed at once is the reactor's business.
        connection.set_buffer_limit(None);
        Self { connection, session }
    }

    /// What is to be sent goes to `sealed`.
    fn drain(&mut self, sealed: &mut Vec<u8>) {
        while self.connection.wants_write() {
            // Writing to memory does not fail.
            if !self.connection.write_tls(sealed).is_ok_and(|count| count > 0) {
                break;
            }
        }
    }

    /// Work on what came; tells whether the other side has said good-bye.
    fn take(&mut self, mut received: &[u8], plain: &mut Vec<u8>) -> Result<bool, Torn> {
        let mut ended = false;
        while !received.is_empty() && !ended {
            if self.connection.read_tls(&mut received).map_err(|_| Torn)? == 0 {
                break;
            }
            let state = self.connection.process_new_packets().map_err(|_| Torn)?;
            ended = state.peer_has_closed();
            let count = state.plaintext_bytes_to_read() as u64;
            if count > 0 {
                let reader = self.connection.reader();
                reader.take(count).read_to_end(plain).map_err(|_| Torn)?;
            }
        }
        Ok(ended)
    }

    fn agree(&self) {
        self.session.0.get_or_init(|| Agreed {
            version: match self.connection.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
                _ => "TLSv1.3",
            },
            cipher: self
                .connection
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str().map(str::to_owned))
                .unwrap_or_default(),
            protocol: self.connection.alpn_protocol().map(<[u8]>::to_vec),
            server_name: match &self.connection {
                Connection::Server(server) => server.server_name().map(str::to_owned),
                Connection::Client(_) => None,
            },
            client_certificate: match &self.connection {
                Connection::Server(server) => server
                    .peer_certificates()
                    .and_then(|chain| chain.first())
                    .map(|certificate| certificate.to_vec()),
                Connection::Client(_) => None,
            },
        });
    }
}

impl Cover for Wrapped {
    fn open(
        &mut self,
        received: &[u8],
        plain: &mut Vec<u8>,
        sealed: &mut Vec<u8>,
    ) -> Result<Opened, Torn> {
        let taken = self.take(received, plain);
        // An alert as well, where the other side broke the protocol.
        self.drain(sealed);
        let ended = taken?;
        let ready = !self.connection.is_handshaking();
        if ready {
            self.agree();
        }
        Ok(Opened { ready, ended })
    }

    fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Torn> {
        self.connection.writer().write_all(plain).map_err(|_| Torn)?;
        self.drain(sealed);
        Ok(())
    }

    fn finish(&mut self, sealed: &mut Vec<u8>) {
        self.connection.send_close_notify();
        self.drain(sealed);
    }
}
