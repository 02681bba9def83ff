//! Answers that need no handler: no route, a refusal, a request that took too long.

use http1::{Answer, Owed, Payload, Refusal, Version, push_field, write_refusal};
use reactor::{Advance, CloseReason, Io};

use super::body::BodyState;
use super::connection::{Connection, Outcome, Reading};
use crate::observe::Kind;
use crate::route::Routed;
use crate::shared::Shared;
use crate::step::Step;

pub(super) const TEXT: Option<&[u8]> = Some(b"text/plain; charset=utf-8");

impl Connection {
    /// Answers that need no handler.
    pub(super) fn answer_unrouted<W>(
        &mut self,
        number: u64,
        routed: &Routed,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) {
        let mut fields = Vec::new();
        let (status, text): (u16, &[u8]) = match routed {
            Routed::NotAllowed(_) => (405, b"Method Not Allowed"),
            Routed::Options(_) => (204, b""),
            Routed::NotFound | Routed::Found(..) => (404, b"Not Found"),
        };
        if let Routed::NotAllowed(allow) | Routed::Options(allow) = routed {
            // Method names were checked when the route was added.
            let _ = push_field(&mut fields, b"Allow", allow.as_bytes());
        }
        let payload = Payload::Bytes(text);
        let content_type = if text.is_empty() { None } else { TEXT };
        self.answer(number, &Answer { status, content_type, fields: &fields, payload }, io, shared);
    }

    pub(super) fn refuse<W>(
        &mut self,
        refusal: &Refusal,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Outcome<W> {
        self.head_since = None;
        self.note_refusal(refusal, shared);
        if self.pipeline.is_empty() {
            if let Some(server) = self.settings(shared) {
                write_refusal(io.output, &server.prelude, refusal);
            }
            return self.stop(CloseReason::Refused);
        }
        // The refusal comes after the answers that are owed already.
        let owed = Owed { version: Version::Http11, keep_alive: false, head_only: false };
        let number = self.pipeline.push(owed, true);
        if let Some(server) = shared.server(self.server()) {
            server.running += 1;
        }
        let payload = Payload::Bytes(refusal.reason.as_bytes());
        let answer = Answer { status: refusal.status, content_type: TEXT, fields: &[], payload };
        self.answer(number, &answer, io, shared);
        self.stop(CloseReason::Refused)
    }

    pub(crate) fn timer<W>(
        &mut self,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Advance<Step<W>> {
        if let Some(socket) = &mut self.socket {
            return socket.timer(io);
        }
        if self.incoming.is_some() && matches!(self.reading, Reading::Body(_)) {
            // Its handler runs and learns of it; what was abandoned simply ends here.
            self.note_count(Kind::SLOW_BODY, shared);
            self.fail_body(BodyState::TimedOut, CloseReason::Refused, io);
            return match self.over() {
                Some(reason) => Advance::Close(reason),
                None => Advance::Starved,
            };
        }
        if self.is_preparing() {
            self.note_count(Kind::SLOW_HANDSHAKE, shared);
            return Advance::Abort(CloseReason::TimedOut);
        }
        if io.queued() > 0 || !self.pipeline.is_empty() {
            // The client still reads, or is owed an answer: whether it reads too slowly is the
            // write timeout's business.
            self.head_since = self.head_since.map(|_| io.now);
            self.be_patient(io, shared);
            return Advance::Starved;
        }
        if self.head_since.is_some() || self.request.is_some() {
            let slow = if self.request.is_some() { Kind::SLOW_BODY } else { Kind::SLOW_HEADER };
            self.note_count(slow, shared);
            let owed = Owed { version: Version::Http11, keep_alive: false, head_only: false };
            let payload = Payload::Bytes(b"The request took too long.");
            let answer = Answer { status: 408, content_type: TEXT, fields: &[], payload };
            if let Some(server) = self.settings(shared) {
                http1::write(io.output, &server.prelude, owed, &answer);
            }
            return Advance::Close(CloseReason::Refused);
        }
        self.note_count(Kind::IDLE, shared);
        Advance::Close(CloseReason::TimedOut)
    }
}
