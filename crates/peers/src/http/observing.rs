//! Where the observer of a server is told of an exchange's life. Each hook is a branch without one.

use http1::{Answer, Payload, Refusal, has_no_content};
use reactor::CloseReason;

use super::connection::Connection;
use crate::observe::{CLIENT_LEFT, Kind, Note, Observer};
use crate::request::RequestData;
use crate::shared::Shared;

impl Connection {
    #[inline]
    fn observer<'a>(&self, shared: &'a mut Shared) -> Option<&'a mut Observer> {
        self.server_of(shared)?.observer.as_deref_mut()
    }

    /// A request got its place in the pipeline.
    #[inline]
    pub(super) fn note_request(&mut self, number: u64, request: &RequestData, shared: &mut Shared) {
        let now = shared.unix_seconds;
        if let Some(observer) = self.observer(shared) {
            let note = observer.begin(request, &self.from, now);
            self.pipeline.set_note(number, Some(note));
        }
    }

    /// Its answer is given as a whole.
    #[inline]
    pub(super) fn note_answer(
        &mut self,
        note: Option<Box<Note>>,
        answer: &Answer<'_>,
        shared: &mut Shared,
    ) {
        if let (Some(note), Some(observer)) = (note, self.observer(shared)) {
            let bytes = content_length(&note, answer);
            observer.finish(note, answer.status, bytes, answer.fields);
        }
    }

    /// Its answer begins, and comes in pieces.
    pub(super) fn note_begin(&mut self, number: u64, answer: &Answer<'_>) {
        if let Some(note) = self.pipeline.note(number) {
            note.status = answer.status;
            note.bytes = content_length(note, answer);
            note.counts = matches!(answer.payload, Payload::Chunked | Payload::Bytes(_))
                && !note.head_only()
                && !has_no_content(answer.status);
        }
    }

    /// A piece of it, where its length was not announced.
    #[inline]
    pub(super) fn note_piece(&mut self, number: u64, length: u64) {
        if let Some(note) = self.pipeline.note(number)
            && note.counts
        {
            note.bytes += length;
        }
    }

    /// All pieces have come.
    pub(super) fn note_end(&mut self, note: Option<Box<Note>>, shared: &mut Shared) {
        if let (Some(note), Some(observer)) = (note, self.observer(shared)) {
            let (status, bytes) = (note.status, note.bytes);
            observer.finish(note, status, bytes, &[]);
        }
    }

    /// A message is refused before it became a request.
    pub(super) fn note_refusal(&mut self, refusal: &Refusal, shared: &mut Shared) {
        let now = shared.unix_seconds;
        if let Some(observer) = self.observer(shared) {
            observer.metrics.count(Kind::refusal(refusal.kind));
            observer.refuse(refusal.status, refusal.reason.len() as u64, &self.from, now);
        }
    }

    /// Something happened that is only counted.
    pub(super) fn note_count(&mut self, kind: Kind, shared: &mut Shared) {
        if let Some(observer) = self.observer(shared) {
            observer.metrics.count(kind);
        }
    }

    /// The connection is closed: what it still owed is owed to nobody.
    pub(super) fn note_close(&mut self, reason: CloseReason, shared: &mut Shared) {
        if self.observer(shared).is_none() {
            return;
        }
        if reason == CloseReason::SlowReader {
            self.note_count(Kind::SLOW_READER, shared);
        }
        for number in self.pipeline.numbers() {
            let note = self.pipeline.take_note(number);
            if let (Some(note), Some(observer)) = (note, self.observer(shared)) {
                let bytes = note.bytes;
                observer.metrics.count(Kind::Left);
                observer.finish(note, CLIENT_LEFT, bytes, &[]);
            }
        }
    }
}

/// Bytes of content that an answer announces or has; a HEAD is answered without any.
fn content_length(note: &Note, answer: &Answer<'_>) -> u64 {
    match answer.payload {
        _ if note.head_only() || has_no_content(answer.status) => 0,
        Payload::Bytes(bytes) => bytes.len() as u64,
        Payload::Length(length) => length,
        Payload::Chunked => 0,
    }
}
