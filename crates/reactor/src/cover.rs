//! What may lie between a peer and its socket: a protocol that wraps bytes, such as TLS.
//!
//! ```text
//!   socket ──► Cover::open ──► plain bytes ──► peer
//!   socket ◄── sealed bytes ◄── Cover::seal ◄── output of the peer
//! ```
//!
//! A peer puts it on with `Advance::Cover`, as the first thing or after some plain bytes: what is
//! left of its input goes through the cover too. It serves either end of a connection; a client's
//! cover speaks first, from a call of [`Cover::open`] without bytes.

/// Wraps the bytes of one connection.
pub trait Cover: Send {
    /// Bytes came from the socket, or none yet. Append the plain ones to `plain`, and to `sealed`
    /// what the other side must be told. All of `received` is taken.
    fn open(
        &mut self,
        received: &[u8],
        plain: &mut Vec<u8>,
        sealed: &mut Vec<u8>,
    ) -> Result<Opened, Torn>;

    /// Wrap all of `plain` for the socket. Called only when the cover is ready.
    fn seal(&mut self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Torn>;

    /// Nothing more will be sealed: say good-bye.
    fn finish(&mut self, sealed: &mut Vec<u8>);
}

/// How things stand after some bytes were opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The two sides have agreed: from now on it can seal.
    pub ready: bool,
    /// The other side has said good-bye.
    pub ended: bool,
}

/// The other side broke the cover's protocol; what it is to be told is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn;

/// A cover in its place, with what it has sealed.
pub(crate) struct Covering {
    pub(crate) cover: Box<dyn Cover>,
    pub(crate) sealed: Vec<u8>,
    /// How much of `sealed` has left.
    pub(crate) written: usize,
    pub(crate) ready: bool,
    /// Nothing more is sealed: it said good-bye, or is torn.
    pub(crate) finished: bool,
}

impl Covering {
    /// `sealed` is what leaves before anything of the cover's own.
    pub(crate) fn new(cover: Box<dyn Cover>, sealed: Vec<u8>) -> Self {
        Self { cover, sealed, written: 0, ready: false, finished: false }
    }

    /// Sealed bytes that have not left.
    pub(crate) fn unsent(&self) -> usize {
        self.sealed.len() - self.written
    }

    /// Say good-bye, once, if there is anybody to say it to.
    pub(crate) fn finish(&mut self) {
        if !std::mem::replace(&mut self.finished, true) && self.ready {
            self.cover.finish(&mut self.sealed);
        }
    }
}
