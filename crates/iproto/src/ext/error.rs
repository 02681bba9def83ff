//! Errors as values: a stack of frames, the error first, its causes after it.

use crate::error::ProtocolError;
use crate::msgpack::{self, Reader};

/// An error with its causes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ErrorStack {
    /// The error first, then what caused it.
    pub frames: Vec<ErrorFrame>,
}

/// One error of a stack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ErrorFrame {
    /// The server's class of error, such as `ClientError`.
    pub kind: String,
    /// The server's source file.
    pub file: String,
    /// The line in it.
    pub line: u64,
    /// The text for people.
    pub message: String,
    /// The operating system's error number.
    pub errno: u64,
    /// The server's [code](crate::codes).
    pub code: u64,
    /// Further fields, a msgpack map; empty where there are none.
    pub fields: Vec<u8>,
}

const STACK: u64 = 0;
const KIND: u64 = 0;
const FILE: u64 = 1;
const LINE: u64 = 2;
const MESSAGE: u64 = 3;
const ERRNO: u64 = 4;
const CODE: u64 = 5;
const FIELDS: u64 = 6;

impl ErrorStack {
    /// Reads the payload of an extension, which is also the part of a reply with key `0x52`.
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader::new(payload);
        let mut stack = Self::default();
        for _ in 0..reader.map()? {
            match reader.uint()? {
                STACK => stack.read_frames(&mut reader)?,
                _ => reader.skip()?,
            }
        }
        reader.finish()?;
        Ok(stack)
    }

    /// Appends the payload of an extension.
    pub fn encode(&self, out: &mut Vec<u8>) {
        msgpack::map(out, 1);
        msgpack::uint(out, STACK);
        msgpack::array(out, self.frames.len());
        for frame in &self.frames {
            frame.encode(out);
        }
    }

    fn read_frames(&mut self, reader: &mut Reader<'_>) -> Result<(), ProtocolError> {
        for _ in 0..reader.array()? {
            self.frames.push(ErrorFrame::read(reader)?);
        }
        Ok(())
    }
}

impl ErrorFrame {
    fn read(reader: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        let mut frame = Self::default();
        for _ in 0..reader.map()? {
            match reader.uint()? {
                KIND => frame.kind = text(reader)?,
                FILE => frame.file = text(reader)?,
                LINE => frame.line = reader.uint()?,
                MESSAGE => frame.message = text(reader)?,
                ERRNO => frame.errno = reader.uint()?,
                CODE => frame.code = reader.uint()?,
                FIELDS => frame.fields = reader.raw()?.to_vec(),
                _ => reader.skip()?,
            }
        }
        Ok(frame)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        msgpack::map(out, 6 + usize::from(!self.fields.is_empty()));
        for (key, value) in [(KIND, &self.kind), (FILE, &self.file), (MESSAGE, &self.message)] {
            msgpack::uint(out, key);
            msgpack::str(out, value);
        }
        for (key, value) in [(LINE, self.line), (ERRNO, self.errno), (CODE, self.code)] {
            msgpack::uint(out, key);
            msgpack::uint(out, value);
        }
        if !self.fields.is_empty() {
            msgpack::uint(out, FIELDS);
            out.extend_from_slice(&self.fields);
        }
    }
}

/// Text for people: a character that is not UTF-8 must not hide the error.
fn text(reader: &mut Reader<'_>) -> Result<String, ProtocolError> {
    Ok(String::from_utf8_lossy(reader.str_bytes()?).into_owned())
}
