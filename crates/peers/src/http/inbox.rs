//! Messages that have arrived and wait for whoever receives them.

use std::collections::VecDeque;

use websocket::Kind;

/// A buffer that grew beyond this is given back when it is empty; and so much of what was taken
/// may lie in front before the rest is moved there.
const KEEP_BYTES: usize = 64 * 1024;

/// Whole messages behind one another, and at the end the one that is still coming.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// Where the decoder puts what comes.
    pub(super) bytes: Vec<u8>,
    /// Where the oldest message starts.
    start: usize,
    messages: VecDeque<(Kind, usize)>,
}

impl Inbox {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whole messages.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Bytes of all that waits.
    #[inline]
    pub(super) fn queued(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The buffer ends with a message of so many bytes.
    #[inline]
    pub(super) fn push(&mut self, kind: Kind, length: usize) {
        self.messages.push_back((kind, length));
    }

    /// Take the oldest message.
    #[inline]
    pub(super) fn pop<R>(&mut self, take: impl FnOnce(Kind, &[u8]) -> R) -> Option<R> {
        let (kind, length) = self.messages.pop_front()?;
        let end = self.start + length;
        let taken = take(kind, &self.bytes[self.start..end]);
        self.start = end;
        if end == self.bytes.len() {
            // What may still wait are messages without bytes.
            self.start = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEEP_BYTES {
                self.bytes.shrink_to(KEEP_BYTES);
            }
        } else if end > KEEP_BYTES {
            self.bytes.drain(..end);
            self.start = 0;
        }
        Some(taken)
    }

    /// Drop all whole messages; the one that is still coming stays.
    pub(super) fn drop_messages(&mut self) {
        while self.pop(|_, _| ()).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Inbox, KEEP_BYTES, Kind};

    fn put(inbox: &mut Inbox, message: &[u8]) {
        inbox.bytes.extend_from_slice(message);
        inbox.push(Kind::Binary, message.len());
    }

    #[test]
    fn messages_come_out_in_their_order_and_the_unfinished_one_stays() {
        let mut inbox = Inbox::default();
        put(&mut inbox, b"one");
        put(&mut inbox, b"");
        put(&mut inbox, b"three");
        inbox.bytes.extend_from_slice(b"unfin");
        let mut out = Vec::new();
        while let Some(message) = inbox.pop(|_, bytes| bytes.to_vec()) {
            out.push(message);
        }
        assert_eq!(vec![b"one".to_vec(), Vec::new(), b"three".to_vec()], out);
        assert_eq!(5, inbox.queued());
        assert!(inbox.is_empty());
        inbox.bytes.extend_from_slice(b"ished");
        inbox.push(Kind::Text, 10);
        assert_eq!(Some(b"unfinished".to_vec()), inbox.pop(|_, bytes| bytes.to_vec()));
        assert_eq!(0, inbox.queued());
    }

    #[test]
    fn an_empty_message_behind_the_last_bytes_is_not_lost() {
        let mut inbox = Inbox::default();
        put(&mut inbox, b"bytes");
        put(&mut inbox, b"");
        assert_eq!(Some(5), inbox.pop(|_, bytes| bytes.len()));
        assert_eq!(Some(0), inbox.pop(|_, bytes| bytes.len()));
        assert_eq!(None, inbox.pop(|_, bytes| bytes.len()));
    }

    #[test]
    fn what_was_taken_does_not_pile_up() {
        let mut inbox = Inbox::default();
        put(&mut inbox, &[0; 1000]);
        for _ in 0..1000 {
            put(&mut inbox, &[1; 1000]);
            assert!(inbox.pop(|_, _| ()).is_some());
            assert!(inbox.bytes.len() <= KEEP_BYTES + 3000);
        }
        inbox.drop_messages();
        assert_eq!(0, inbox.bytes.len());
        assert!(inbox.bytes.capacity() <= KEEP_BYTES);
    }
}
