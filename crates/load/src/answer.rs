//! Reads one answer out of a growing input, whatever its framing and however it is sliced.

use http1::{Chunked, Limits, Method, Progress, ResponseFraming, ResponseHead};

/// A whole answer. `head` and `body` are borrowed from the input or the reader.
#[derive(Debug)]
pub struct Answer<'a> {
    /// Status code.
    pub status: u16,
    /// The parsed head; its spans count from the first byte of `raw_head`.
    pub head: &'a ResponseHead,
    /// The head's bytes, blank line included.
    pub raw_head: &'a [u8],
    /// The body without its framing.
    pub body: &'a [u8],
    /// How many bytes of the input the answer took.
    pub len: usize,
    /// The connection may be used again.
    pub keep_alive: bool,
}

/// What the input holds.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// More bytes are needed.
    Partial,
    /// A 1xx answer of so many bytes: drop them, the real one follows.
    Interim(usize),
    /// The answer.
    Complete(Answer<'a>),
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    // The answer ends at this offset.
    Length(usize),
    // The decoder has read up to this offset.
    Chunked(Box<Chunked>, usize),
    UntilClose,
}

/// The reader of one connection. The input given to it always starts at the answer's first byte.
#[derive(Debug)]
pub struct Reader {
    head: ResponseHead,
    // The bytes that `head` was parsed from, and for which method: the same again need no parsing.
    parsed: (Vec<u8>, Option<Method>),
    stage: Stage,
    decoded: Vec<u8>,
    limits: Limits,
}

impl Reader {
    /// A reader that refuses what is larger than `limits`.
    pub fn new(limits: Limits) -> Self {
        Self {
            head: ResponseHead::default(),
            parsed: (Vec::new(), None),
            stage: Stage::Head,
            decoded: Vec::new(),
            limits,
        }
    }

    /// True between two answers.
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Head)
    }

    /// Forgets a half-read answer.
    pub fn reset(&mut self) {
        self.stage = Stage::Head;
        self.decoded.clear();
    }

    /// Looks at the whole input again; `Err` is a sentence about why it is no answer.
    pub fn read<'a>(
        &'a mut self,
        input: &'a [u8],
        to: Method,
    ) -> Result<Outcome<'a>, &'static str> {
        if self.is_idle() {
            match self.read_head(input, to)? {
                Progress::Partial => return Ok(Outcome::Partial),
                Progress::Complete if self.is_interim() => {
                    return Ok(Outcome::Interim(self.head.len));
                }
                Progress::Complete => self.enter_body()?,
            }
        }
        Ok(match self.body_end(input)? {
            Some(end) => Outcome::Complete(self.complete(input, end)),
            None => Outcome::Partial,
        })
    }

    /// The peer has closed: an answer framed by the close is complete now.
    pub fn finish<'a>(&'a mut self, input: &'a [u8]) -> Option<Answer<'a>> {
        matches!(self.stage, Stage::UntilClose).then(|| self.complete(input, input.len()))
    }

    fn read_head(&mut self, input: &[u8], to: Method) -> Result<Progress, &'static str> {
        let (bytes, method) = &self.parsed;
        if *method == Some(to) && input.starts_with(bytes) {
            return Ok(Progress::Complete);
        }
        self.parsed.1 = None;
        let progress =
            self.head.parse(input, &self.limits, to).map_err(|refusal| refusal.reason)?;
        if let Progress::Complete = progress {
            self.parsed.0.clear();
            self.parsed.0.extend_from_slice(&input[..self.head.len]);
            self.parsed.1 = Some(to);
        }
        Ok(progress)
    }

    // 101 ends HTTP on the connection: it is an answer, if hardly the expected one.
    fn is_interim(&self) -> bool {
        (100..200).contains(&self.head.status) && self.head.status != 101
    }

    fn enter_body(&mut self) -> Result<(), &'static str> {
        self.stage = match &self.head.framing {
            ResponseFraming::None => Stage::Length(self.head.len),
            ResponseFraming::Length(length) if *length > self.limits.body_bytes => {
                return Err("body longer than --max-body");
            }
            ResponseFraming::Length(length) => Stage::Length(
                usize::try_from(*length)
                    .ok()
                    .and_then(|length| length.checked_add(self.head.len))
                    .ok_or("body longer than memory")?,
            ),
            ResponseFraming::Chunked => {
                Stage::Chunked(Box::new(Chunked::new(self.limits.body_bytes)), self.head.len)
            }
            ResponseFraming::UntilClose => Stage::UntilClose,
        };
        Ok(())
    }

    fn body_end(&mut self, input: &[u8]) -> Result<Option<usize>, &'static str> {
        match &mut self.stage {
            Stage::Length(end) => Ok((input.len() >= *end).then_some(*end)),
            Stage::Chunked(decoder, at) => {
                let progress = decoder
                    .decode(&input[*at..], &mut self.decoded)
                    .map_err(|refusal| refusal.reason)?;
                *at += progress.consumed;
                Ok(progress.done.then_some(*at))
            }
            Stage::UntilClose if (input.len() - self.head.len) as u64 > self.limits.body_bytes => {
                Err("body longer than --max-body")
            }
            Stage::Head | Stage::UntilClose => Ok(None),
        }
    }

    fn complete<'a>(&'a mut self, input: &'a [u8], end: usize) -> Answer<'a> {
        let stage = std::mem::take(&mut self.stage);
        let body = match stage {
            Stage::Chunked(..) => self.decoded.as_slice(),
            _ => &input[self.head.len..end],
        };
        Answer {
            status: self.head.status,
            head: &self.head,
            raw_head: &input[..self.head.len],
            body,
            len: end,
            keep_alive: self.head.keep_alive && !matches!(stage, Stage::UntilClose),
        }
    }

    /// Called before the next answer is read: drops the body decoded for the last one.
    pub fn forget_body(&mut self) {
        self.decoded.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { body_bytes: 1000, ..Limits::default() }
    }

    // Every case whole and byte by byte: (status, body, len, keep_alive).
    fn read(input: &[u8], to: Method) -> (u16, Vec<u8>, usize, bool) {
        let whole = read_in_steps(input, to, input.len());
        assert_eq!(whole, read_in_steps(input, to, 1), "sliced differently");
        whole
    }

    fn read_in_steps(input: &[u8], to: Method, step: usize) -> (u16, Vec<u8>, usize, bool) {
        let mut reader = Reader::new(limits());
        let mut start = 0;
        let mut given = step;
        loop {
            match reader.read(&input[start..given], to).unwrap() {
                Outcome::Partial => {
                    assert!(given < input.len(), "incomplete");
                    given = input.len().min(given + step);
                }
                Outcome::Interim(len) => start += len,
                Outcome::Complete(a) => {
                    return (a.status, a.body.to_vec(), start + a.len, a.keep_alive);
                }
            }
        }
    }

    #[test]
    fn length() {
        let input = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n";
        assert_eq!((200, b"abc".to_vec(), 41, true), read(input, Method::Get));
    }

    #[test]
    fn chunked() {
        let input = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        assert_eq!((200, b"abcde".to_vec(), input.len(), true), read(input, Method::Get));
    }

    #[test]
    fn no_body() {
        let input = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        assert_eq!((200, vec![], input.len(), true), read(input, Method::Head));
        let input = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        assert_eq!((204, vec![], input.len(), false), read(input, Method::Get));
    }

    #[test]
    fn interim_answers_are_dropped() {
        let input = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!((200, b"x".to_vec(), input.len(), true), read(input, Method::Post));
    }

    #[test]
    fn a_repeated_head_is_read_like_the_first() {
        let get = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        let mut reader = Reader::new(limits());
        for (body, to) in [("abc", Method::Get), ("def", Method::Get), ("", Method::Head)] {
            let input = [get.as_slice(), body.as_bytes()].concat();
            let Ok(Outcome::Complete(answer)) = reader.read(&input, to) else { panic!("{body}") };
            assert_eq!((body.as_bytes(), input.len()), (answer.body, answer.len));
        }
        let other = b"HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx";
        let Ok(Outcome::Complete(answer)) = reader.read(other, Method::Get) else { panic!() };
        assert_eq!((404, b"x".as_slice()), (answer.status, answer.body));
        assert!(matches!(reader.read(&get[..20], Method::Get), Ok(Outcome::Partial)));
        let Ok(Outcome::Complete(answer)) = reader.read(other, Method::Get) else { panic!() };
        assert_eq!(404, answer.status);
    }

    #[test]
    fn until_close() {
        let input = b"HTTP/1.1 200 OK\r\n\r\nall of it";
        let mut reader = Reader::new(limits());
        assert!(matches!(reader.read(input, Method::Get), Ok(Outcome::Partial)));
        let answer = reader.finish(input).unwrap();
        assert_eq!((b"all of it".as_slice(), false), (answer.body, answer.keep_alive));
        assert!(reader.finish(b"").is_none());
    }

    #[test]
    fn refuses_rubbish_and_too_much() {
        let mut reader = Reader::new(limits());
        assert!(reader.read(b"SSH-2.0-OpenSSH\r\n\r\n", Method::Get).is_err());
        let mut reader = Reader::new(limits());
        let input = b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n";
        assert!(reader.read(input, Method::Get).is_err());
    }
}
