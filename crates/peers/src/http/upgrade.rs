//! From HTTP to WebSocket, on the same connection.

use http1::Answer;
use reactor::Io;
use websocket::Deflate;

use super::connection::{Connection, Reading};
use super::websocket::{SocketSettings, WebSocket};
use crate::shared::Shared;
use crate::step::Step;

impl Connection {
    /// Answer an exchange with 101 and speak WebSocket from then on. False: it cannot be, since
    /// the answer is not owed any more, or the server stops, or the client wants to close.
    pub fn upgrade<W>(
        &mut self,
        number: u64,
        answer: &Answer<'_>,
        settings: SocketSettings,
        agreed: Option<Deflate>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> bool {
        let alone = self.pipeline.is_first(number) && self.pipeline.is_newest(number);
        let goes_on = self.settings(shared).is_some_and(|server| !server.draining);
        if !alone || !goes_on || !matches!(self.reading, Reading::Head) {
            return false;
        }
        if !self.give(number, answer, io, shared) {
            return false;
        }
        let socket = WebSocket::new(number, settings, agreed, io.now);
        socket.be_patient(io);
        self.head_since = None;
        self.reading = Reading::WebSocket;
        self.socket = Some(Box::new(socket));
        true
    }

    /// The WebSocket, once it is one.
    #[inline]
    pub fn socket(&mut self) -> Option<&mut WebSocket> {
        self.socket.as_deref_mut()
    }
}
