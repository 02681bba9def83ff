//! What others ask of a connection: whose it is, what it owes; and what is left of it at the end.

use reactor::{CloseReason, Fate, Io, Millis};

use super::body::BodyState;
use super::connection::Connection;
use crate::shared::{Server, Shared};
use crate::step::Step;

impl Connection {
    /// The server it belongs to.
    pub fn server(&self) -> u32 {
        self.server
    }

    /// Nothing is being read or answered.
    pub fn is_idle(&self) -> bool {
        !self.is_agreeing()
            && self.pipeline.is_empty()
            && self.request.is_none()
            && self.head_since.is_none()
            && self.socket.is_none()
    }

    /// Is this answer still owed?
    pub fn owes(&self, number: u64) -> bool {
        self.pipeline.owes(number)
    }

    /// Has this exchange not ended yet, begun or not?
    pub fn awaits(&self, number: u64) -> bool {
        self.pipeline.numbers().contains(&number)
    }

    /// Would the client take a connection that is closed now for the end of this answer?
    pub fn ends_by_close(&self, number: u64) -> bool {
        !self.pipeline.shows_its_end(number)
    }

    pub(crate) fn closed<W>(
        &mut self,
        reason: CloseReason,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Fate {
        self.note_close(reason, shared);
        self.fail_body::<W>(BodyState::Cut, CloseReason::Finished, io);
        self.tell_gone(io);
        if let Some(socket) = self.socket.take() {
            socket.closed(io);
        }
        let running = self.pipeline.len();
        if let Some(request) = self.request.take() {
            shared.pool.give(request);
        }
        if let Some(server) = shared.server(self.server) {
            server.connections = server.connections.saturating_sub(1);
            server.running = server.running.saturating_sub(running);
        }
        Fate::Remove
    }

    pub(crate) fn write_timeout(&self, shared: &Shared) -> Millis {
        self.settings(shared).map_or(0, |server| server.timeouts.write)
    }

    #[inline]
    pub(crate) fn high_water(&self, shared: &Shared) -> usize {
        self.settings(shared).map_or(usize::MAX, |server| server.queued_bytes)
    }

    #[inline]
    pub(super) fn settings<'a>(&self, shared: &'a Shared) -> Option<&'a Server> {
        shared.servers.get(self.server as usize)?.as_ref()
    }
}
