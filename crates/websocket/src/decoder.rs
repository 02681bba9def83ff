//! From bytes to messages: fragments, control frames between them, text, compression, the limit.

use crate::close::Close;
use crate::fault::{BAD_TEXT, Fault, LARGE_MESSAGE, NOTHING_TO_CONTINUE, UNFINISHED};
use crate::header::{CONTROL_BYTES, Header, MOST, Opcode, Role};
use crate::inflate::Inflater;
use crate::{mask, text};

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

impl From<Kind> for Opcode {
    #[inline]
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text,
            Kind::Binary => Self::Binary,
        }
    }
}

/// What the bytes so far have completed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message; its bytes are the last ones of the buffer, see [`Decoder::message_bytes`].
    Message(Kind),
    /// A ping or a pong; its bytes are [`Decoder::control`].
    Control(Control),
    /// The other side closes. Whatever comes after it is to be ignored.
    Close(Close),
}

/// A control frame that does not end the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// To be answered by a pong with the same bytes.
    Ping,
    /// An answer, asked for or not.
    Pong,
}

/// The message that is being received.
#[derive(Clone, Copy, Debug)]
struct Message {
    kind: Kind,
    compressed: bool,
    /// Bytes of it in the caller's buffer.
    length: usize,
    /// How many of them are whole characters.
    checked: usize,
}

/// The frame whose payload is being received.
#[derive(Clone, Copy, Debug)]
struct Frame {
    header: Header,
    /// Bytes of its payload that were dealt with.
    done: u64,
}

/// Decodes one direction of one connection.
#[derive(Debug)]
pub struct Decoder {
    role: Role,
    limit: usize,
    inflater: Option<Inflater>,
    head: [u8; MOST],
    head_length: usize,
    frame: Option<Frame>,
    message: Option<Message>,
    message_bytes: usize,
    control: [u8; CONTROL_BYTES],
    control_length: usize,
    scratch: Vec<u8>,
}

impl Decoder {
    /// A decoder that refuses messages of more than `limit` bytes with 1009.
    pub fn new(role: Role, limit: usize) -> Self {
        Self {
            role,
            limit,
            inflater: None,
            head: [0; MOST],
            head_length: 0,
            frame: None,
            message: None,
            message_bytes: 0,
            control: [0; CONTROL_BYTES],
            control_length: 0,
            scratch: Vec::new(),
        }
    }

    /// Messages may be compressed: both sides have agreed on it.
    pub fn allow_deflate(&mut self, inflater: Inflater) {
        self.inflater = Some(inflater);
    }

    /// How long the message is that the last event told of.
    #[inline]
    pub fn message_bytes(&self) -> usize {
        self.message_bytes
    }

    /// The payload of the ping or pong that the last event told of.
    pub fn control(&self) -> &[u8] {
        &self.control[..self.control_length]
    }

    /// Bytes of an unfinished message at the end of the caller's buffer.
    pub fn pending(&self) -> usize {
        self.message.map_or(0, |message| message.length)
    }

    /// Take bytes from the wire, up to the end of the next message or control frame.
    ///
    /// Tells how many were taken: all of them unless something was completed. The bytes of
    /// messages are appended to `out`; what was appended for an unfinished message has to stay at
    /// its end. After a fault or a close nothing more may be decoded.
    #[inline]
    pub fn decode(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<Event>), Fault> {
        let mut at = 0;
        loop {
            let Some(mut frame) = self.frame.take() else {
                let (taken, header) = self.read_head(&input[at..])?;
                at += taken;
                let Some(header) = header else { return Ok((at, None)) };
                self.begin(&header)?;
                self.frame = Some(Frame { header, done: 0 });
                continue;
            };
            let left = usize::try_from(frame.header.length - frame.done).unwrap_or(usize::MAX);
            let piece = &input[at..at + left.min(input.len() - at)];
            if !piece.is_empty() {
                self.take_payload(&frame, piece, out)?;
                at += piece.len();
                frame.done += piece.len() as u64;
            }
            if piece.len() < left {
                self.frame = Some(frame);
                return Ok((at, None));
            }
            if let Some(event) = self.end(&frame.header, out)? {
                return Ok((at, Some(event)));
            }
        }
    }

    /// The next head, if it is whole, and how many bytes of the input it took.
    #[inline]
    fn read_head(&mut self, input: &[u8]) -> Result<(usize, Option<Header>), Fault> {
        let deflate = self.inflater.is_some();
        if self.head_length == 0
            && let Some((header, length)) = Header::parse(input, self.role, deflate)?
        {
            return Ok((length, Some(header)));
        }
        let before = self.head_length;
        let count = input.len().min(MOST - before);
        self.head[before..before + count].copy_from_slice(&input[..count]);
        let head = &self.head[..before + count];
        if let Some((header, length)) = Header::parse(head, self.role, deflate)? {
            self.head_length = 0;
            return Ok((length - before, Some(header)));
        }
        self.head_length = before + count;
        Ok((count, None))
    }

    /// May this frame come now, and is there room for it?
    #[inline]
    fn begin(&mut self, header: &Header) -> Result<(), Fault> {
        let kind = match header.opcode {
            Opcode::Continuation => None,
            Opcode::Text => Some(Kind::Text),
            Opcode::Binary => Some(Kind::Binary),
            Opcode::Close | Opcode::Ping | Opcode::Pong => {
                self.control_length = 0;
                return Ok(());
            }
        };
        let message = match (kind, self.message) {
            (None, None) => return Err(NOTHING_TO_CONTINUE),
            (Some(_), Some(_)) => return Err(UNFINISHED),
            (None, Some(message)) => message,
            (Some(kind), None) => {
                Message { kind, compressed: header.compressed, length: 0, checked: 0 }
            }
        };
        let room = (self.limit - message.length) as u64;
        if !message.compressed && header.length > room {
            return Err(LARGE_MESSAGE);
        }
        self.message = Some(message);
        Ok(())
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a mask repeats after four bytes")]
    fn take_payload(
        &mut self,
        frame: &Frame,
        piece: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let (key, offset) = (frame.header.key, frame.done as usize & 3);
        if frame.header.opcode.is_control() {
            let end = self.control_length + piece.len();
            let place = &mut self.control[self.control_length..end];
            place.copy_from_slice(piece);
            mask::apply(place, key, offset);
            self.control_length = end;
            return Ok(());
        }
        let Some(message) = &mut self.message else { return Err(NOTHING_TO_CONTINUE) };
        if message.compressed {
            let Some(inflater) = &mut self.inflater else { return Ok(()) };
            self.scratch.clear();
            self.scratch.extend_from_slice(piece);
            mask::apply(&mut self.scratch, key, offset);
            let before = out.len();
            let outcome = inflater.decompress(&self.scratch, out, self.limit - message.length);
            message.length += out.len() - before;
            // What came before the damage may be wrong by itself: the first fault is told.
            message.check(out)?;
            return outcome;
        }
        let start = out.len();
        out.extend_from_slice(piece);
        mask::apply(&mut out[start..], key, offset);
        message.length += piece.len();
        message.check(out)
    }

    /// A frame is complete, and perhaps a message with it.
    #[inline]
    fn end(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<Option<Event>, Fault> {
        match header.opcode {
            Opcode::Close => {
                return Close::parse(self.control()).map(|close| Some(Event::Close(close)));
            }
            Opcode::Ping => return Ok(Some(Event::Control(Control::Ping))),
            Opcode::Pong => return Ok(Some(Event::Control(Control::Pong))),
            Opcode::Continuation | Opcode::Text | Opcode::Binary => {}
        }
        if !header.fin {
            return Ok(None);
        }
        let Some(mut message) = self.message.take() else { return Err(NOTHING_TO_CONTINUE) };
        if message.compressed
            && let Some(inflater) = &mut self.inflater
        {
            let before = out.len();
            let outcome = inflater.finish(out, self.limit - message.length);
            message.length += out.len() - before;
            message.check(out)?;
            outcome?;
        }
        if message.kind == Kind::Text && message.checked < message.length {
            return Err(BAD_TEXT);
        }
        self.message_bytes = message.length;
        Ok(Some(Event::Message(message.kind)))
    }
}

impl Message {
    /// Look at the text that has come last; the message is what `out` ends with.
    #[inline]
    fn check(&mut self, out: &[u8]) -> Result<(), Fault> {
        if self.kind == Kind::Text {
            self.checked = text::check(&out[out.len() - self.length..], self.checked)?;
        }
        Ok(())
    }
}
