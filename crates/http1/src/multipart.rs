//! A form in parts, read as it comes (RFC 7578, RFC 2046 section 5.1).
//!
//! ```text
//!  Preamble --boundary--> Mark --CR LF--> Head --blank line--> Data --boundary--> Mark ...
//!                          |  "--"
//!                          v
//!                       Closed --CR LF--> Epilogue
//! ```
//!
//! The boundary is searched for together with the line break before it, which belongs to it. A
//! carriage return stands in that delimiter only once, at its beginning: so a delimiter that is
//! cut in two and turns out to be none was data, and nothing of it need be looked at again.
//!
//! The preamble and the epilogue are dropped, and parts within parts are data.

use memchr::memmem::Finder;

use crate::fields::{self, Field};
use crate::multipart_head::{PartHead, is_valid};
use crate::refusal::{
    BAD_BOUNDARY, BAD_BOUNDARY_LINE, BARE_CR, LARGE_FILE, LARGE_FORM, LARGE_FORM_FIELD,
    LARGE_PART_HEAD, MANY_FILES, MANY_FORM_FIELDS, Refusal, UNFINISHED_FORM,
};

/// The line break that begins a delimiter may belong to what came before as well.
const LINE_BREAK: usize = 2;

/// How much of a form is read before it is refused with 413.
#[derive(Clone, Debug)]
pub struct FormLimits {
    /// Parts that are no files.
    pub fields: usize,
    /// Parts that are files.
    pub files: usize,
    /// Bytes of one part that is no file.
    pub field_bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of the head of one part.
    pub head_bytes: usize,
    /// Bytes of the whole form.
    pub form_bytes: u64,
}

impl Default for FormLimits {
    fn default() -> Self {
        Self {
            fields: 1000,
            files: 1000,
            field_bytes: 1024 * 1024,
            file_bytes: u64::MAX,
            head_bytes: 8192,
            form_bytes: u64::MAX,
        }
    }
}

/// Reads one form.
#[derive(Clone, Debug)]
pub struct Multipart {
    state: State,
    /// CR LF, two hyphens, the boundary.
    delimiter: Finder<'static>,
    /// Bytes of the delimiter that the input so far ends with, `shared` of them read before.
    held: usize,
    shared: usize,
    head: Vec<u8>,
    fields: Vec<Field>,
    line: usize,
    part: PartHead,
    limits: FormLimits,
    part_left: u64,
    form_left: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Preamble,
    Mark,
    MarkHyphen,
    Padding,
    MarkCr,
    Head,
    Data,
    Closed,
    ClosedCr,
    Epilogue,
}

/// What a call to [`Multipart::next`] has done.
#[derive(PartialEq, Eq, Debug)]
pub struct PartStep<'a> {
    /// Bytes of the input that were used up.
    pub consumed: usize,
    /// What was found; `None` if all input is used up.
    pub event: Option<PartEvent<'a>>,
}

/// What happens in a form.
#[derive(PartialEq, Eq, Debug)]
pub enum PartEvent<'a> {
    /// A part begins.
    Begin(&'a PartHead),
    /// More data of the part.
    Data(&'a [u8]),
    /// The part is complete.
    End,
}

/// The same without borrowing, while the state still changes.
enum Found {
    Begin,
    /// So many bytes before the end of what was consumed, and behind the data.
    Data(usize, usize),
    Held(usize, usize),
    End,
}

impl Multipart {
    /// A reader of forms with this boundary; see [`crate::boundary`].
    pub fn new(boundary: &[u8], limits: FormLimits) -> Result<Self, Refusal> {
        if !is_valid(boundary) {
            return Err(BAD_BOUNDARY);
        }
        let delimiter = [b"\r\n--", boundary].concat();
        Ok(Self {
            state: State::Preamble,
            delimiter: Finder::new(&delimiter).into_owned(),
            // The first boundary needs no line before it.
            held: LINE_BREAK,
            shared: LINE_BREAK,
            head: Vec::new(),
            fields: Vec::new(),
            line: 0,
            part: PartHead::default(),
            part_left: 0,
            form_left: limits.form_bytes,
            limits,
        })
    }

    /// Reads to the next event, or to the end of `input`.
    pub fn next<'a>(&'a mut self, input: &'a [u8]) -> Result<PartStep<'a>, Refusal> {
        let most = usize::try_from(self.form_left).unwrap_or(usize::MAX).min(input.len());
        let window = &input[..most];
        let mut at = 0;
        let mut found = None;
        while found.is_none() && at < window.len() {
            let rest = &window[at..];
            let (used, event) = match self.state {
                State::Preamble | State::Data => self.search(rest)?,
                State::Head => self.head_line(rest)?,
                State::Epilogue => (rest.len(), None),
                _ => {
                    self.state = self.mark(rest[0])?;
                    (1, None)
                }
            };
            at += used;
            found = event;
        }
        if found.is_none() && most < input.len() {
            return Err(LARGE_FORM);
        }
        self.form_left -= at as u64;
        let event = found.map(|found| match found {
            Found::Begin => PartEvent::Begin(&self.part),
            Found::End => PartEvent::End,
            Found::Held(from, to) => PartEvent::Data(&self.delimiter.needle()[from..to]),
            Found::Data(len, behind) => PartEvent::Data(&window[at - behind - len..at - behind]),
        });
        Ok(PartStep { consumed: at, event })
    }

    /// Says that no more input comes: 400 if the last boundary was not among it.
    pub fn finish(&self) -> Result<(), Refusal> {
        match self.state {
            State::Closed | State::Epilogue => Ok(()),
            _ => Err(UNFINISHED_FORM),
        }
    }

    /// Data up to the delimiter.
    fn search(&mut self, input: &[u8]) -> Result<(usize, Option<Found>), Refusal> {
        if self.held > 0 {
            return self.resume(input);
        }
        let delimiter = self.delimiter.needle();
        let (data, behind) = match self.delimiter.find(input) {
            Some(0) => {
                return Ok((delimiter.len(), self.boundary()));
            }
            // The delimiter is looked at again: it is an event of its own.
            Some(place) => (place, 0),
            None => {
                let tail = tail(input, delimiter);
                self.held = tail;
                (input.len() - tail, tail)
            }
        };
        let found = self.data(data)?.then_some(Found::Data(data, behind));
        Ok((data + behind, found))
    }

    /// Goes on with a delimiter of which a part has been seen.
    fn resume(&mut self, input: &[u8]) -> Result<(usize, Option<Found>), Refusal> {
        let missing = &self.delimiter.needle()[self.held..];
        let same = missing.iter().zip(input).take_while(|(one, other)| one == other).count();
        if same == missing.len() {
            return Ok((same, self.boundary()));
        }
        let held = self.held + same;
        if same == input.len() {
            self.held = held;
            return Ok((same, None));
        }
        let shared = self.shared;
        (self.held, self.shared) = (0, 0);
        let found = self.data(held - shared)?.then_some(Found::Held(shared, held));
        Ok((same, found))
    }

    /// Counts data of a part; false if there is nothing to tell.
    fn data(&mut self, len: usize) -> Result<bool, Refusal> {
        if self.state == State::Preamble || len == 0 {
            return Ok(false);
        }
        let refusal = if self.part.filename.is_some() { LARGE_FILE } else { LARGE_FORM_FIELD };
        self.part_left = self.part_left.checked_sub(len as u64).ok_or(refusal)?;
        Ok(true)
    }

    fn boundary(&mut self) -> Option<Found> {
        (self.held, self.shared) = (0, 0);
        let ended = self.state == State::Data;
        self.state = State::Mark;
        ended.then_some(Found::End)
    }

    /// What follows a boundary on its line.
    fn mark(&mut self, byte: u8) -> Result<State, Refusal> {
        let next = match (self.state, byte) {
            (State::Mark, b'-') => State::MarkHyphen,
            (State::Mark | State::Padding, b' ' | b'\t') => State::Padding,
            (State::Mark | State::Padding, b'\r') => State::MarkCr,
            (State::MarkCr, b'\n') => State::Head,
            (State::MarkHyphen, b'-') | (State::Closed, b' ' | b'\t') => State::Closed,
            (State::Closed, b'\r') => State::ClosedCr,
            (State::ClosedCr, b'\n') => State::Epilogue,
            _ => return Err(BAD_BOUNDARY_LINE),
        };
        if next == State::Head {
            self.head.clear();
            self.fields.clear();
            self.line = 0;
        }
        Ok(next)
    }

    /// Collects a line of a part's head and judges it once it is whole.
    fn head_line(&mut self, input: &[u8]) -> Result<(usize, Option<Found>), Refusal> {
        let room = self.limits.head_bytes - self.head.len();
        let taken = memchr::memchr(b'\n', input).map_or(input.len(), |place| place + 1);
        if taken > room {
            return Err(LARGE_PART_HEAD);
        }
        self.head.extend_from_slice(&input[..taken]);
        match &self.head[self.line..] {
            b"\r\n" => return self.begin().map(|begin| (taken, Some(begin))),
            [.., b'\n'] => {
                // The line ends in LF, so only a CR too many can leave it unfinished.
                let (field, next) = fields::line(&self.head, self.line)?.ok_or(BARE_CR)?;
                self.fields.push(field);
                self.line = next;
            }
            _ => {}
        }
        Ok((taken, None))
    }

    fn begin(&mut self) -> Result<Found, Refusal> {
        self.part = PartHead::read(&self.head, &self.fields)?;
        let limits = &mut self.limits;
        let (left, bytes, refusal) = match self.part.filename {
            Some(_) => (&mut limits.files, limits.file_bytes, MANY_FILES),
            None => (&mut limits.fields, limits.field_bytes, MANY_FORM_FIELDS),
        };
        *left = left.checked_sub(1).ok_or(refusal)?;
        self.part_left = bytes;
        self.state = State::Data;
        // The blank line may begin the delimiter of a part without a body.
        (self.held, self.shared) = (LINE_BREAK, LINE_BREAK);
        Ok(Found::Begin)
    }
}

/// Length of the longest beginning of the delimiter that `input` ends with.
fn tail(input: &[u8], delimiter: &[u8]) -> usize {
    let window = &input[input.len().saturating_sub(delimiter.len() - 1)..];
    memchr::memrchr(b'\r', window)
        .map(|place| &window[place..])
        .filter(|tail| delimiter.starts_with(tail))
        .map_or(0, <[u8]>::len)
}
