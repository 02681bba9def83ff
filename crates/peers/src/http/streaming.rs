//! Answers in pieces: begun, pushed, ended; with a word when a full connection has room again.

use http1::Answer;
use reactor::{CloseReason, Io};

use super::connection::{Connection, Reading};
use super::pipeline::{Ending, Pushed};
use crate::shared::Shared;
use crate::step::{Exchange, Step};

/// With so many unsent bytes, whoever writes is asked to wait.
pub(super) const FULL: usize = 128 * 1024;

impl Connection {
    /// Begin an answer whose content comes in pieces. False: it is not owed any more.
    pub fn begin<W>(
        &mut self,
        number: u64,
        answer: &Answer<'_>,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> bool {
        let in_the_way = self.body_is_in_the_way(number) || answer.status < 200; // as in `answer`
        let Some(server) = self.settings(shared) else { return false };
        let last = in_the_way || (server.draining && self.pipeline.is_newest(number));
        let begun = self.pipeline.begin(number, answer, &server.prelude, last, io.output);
        let Some(goes_on) = begun else { return false };
        self.note_begin(number, answer);
        if !goes_on {
            self.last_is(number, shared);
        }
        true
    }

    /// Send a piece of it.
    pub fn push<W>(&mut self, number: u64, data: &[u8], io: &mut Io<'_, Step<W>>) -> Pushed {
        self.note_piece(number, data.len() as u64);
        let full = match self.pipeline.push_piece(number, data, io.output) {
            Ok(Pushed::Room) => io.queued() > FULL,
            Ok(pushed) => return pushed,
            Err(parked) => parked > FULL,
        };
        if full { Pushed::Full } else { Pushed::Room }
    }

    /// Tell by [`Step::Writable`] when there is room for the next piece.
    pub fn want_room<W>(&mut self, number: u64, io: &mut Io<'_, Step<W>>) {
        if !self.blocked.contains(&number) {
            self.blocked.push(number);
        }
        io.tell_when_drained();
    }

    /// The output has left: whoever waits at the front may go on.
    pub(crate) fn drained<W>(&mut self, io: &mut Io<'_, Step<W>>) {
        if let Some(socket) = &mut self.socket {
            socket.drained(io);
        }
        let key = io.key;
        let pipeline = &self.pipeline;
        self.blocked.retain(|&number| {
            let front = pipeline.is_first(number);
            if front {
                io.emit(Step::Writable { exchange: Exchange { key, number } });
            }
            !front
        });
    }

    /// All pieces have come. Tells why the connection is to be aborted, if it is.
    pub fn end<W>(
        &mut self,
        number: u64,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Option<CloseReason> {
        let before = self.pipeline.len();
        let note = self.pipeline.take_note(number);
        match self.pipeline.end(number, io.output) {
            Some(Ending::Complete) => self.note_end(note, shared),
            ending => {
                self.pipeline.set_note(number, note);
                return ending.map(|_| CloseReason::Stopped);
            }
        }
        self.after_answers(number, before, io, shared);
        None
    }

    /// Let the answer of this exchange, which has not begun, be the connection's last.
    pub fn let_be_last(&mut self, number: u64, shared: &mut Shared) {
        self.pipeline.close_after(number);
        self.last_is(number, shared);
    }

    /// Nothing is answered after this exchange; of what is read, only its own body.
    fn last_is(&mut self, number: u64, shared: &mut Shared) {
        let dropped = self.pipeline.forget_after(number);
        if let Some(server) = self.server_of(shared) {
            server.running = server.running.saturating_sub(dropped);
        }
        match (&self.reading, &mut self.incoming) {
            (Reading::Stopped(_), _) => {}
            (Reading::Body(_), Some(incoming)) => incoming.last = true,
            _ => self.reading = Reading::Stopped(CloseReason::Finished),
        }
    }

    /// Tell by [`Step::Gone`] when the client leaves.
    pub fn watch<W>(&mut self, number: u64, io: &mut Io<'_, Step<W>>) {
        self.watched = true;
        if self.left {
            io.emit(Step::Gone { exchange: Exchange { key: io.key, number } });
        }
    }

    /// The client has closed its side, or the connection.
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// The client left: tell all who asked.
    pub(super) fn tell_gone<W>(&mut self, io: &mut Io<'_, Step<W>>) {
        self.left = true;
        if self.watched {
            for number in self.pipeline.numbers() {
                io.emit(Step::Gone { exchange: Exchange { key: io.key, number } });
            }
        }
    }
}
