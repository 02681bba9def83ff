//! The answers a connection owes, in the order of its requests.
//!
//! Safe requests may run at the same time; any other is a barrier: it starts alone, and nothing
//! starts before it is answered (RFC 9112 section 9.3.2). An answer whose turn has not come is
//! parked, whole or as far as it has been written.

use std::collections::VecDeque;

use http1::{
    Answer, Head, Owed, Payload, Prelude, write_chunk, write_chunk_head, write_last_chunk,
};

use super::file_pieces::FilePiece;
use crate::observe::Note;

/// Must it run alone? What follows an upgrade may not be HTTP any more.
#[inline]
pub(super) fn is_barrier(head: &Head) -> bool {
    !head.method.is_safe() || head.upgrade
}

/// One request that was handed out.
#[derive(Debug)]
struct Place {
    owed: Owed,
    barrier: bool,
    /// The answer, when it came before its turn.
    answer: Option<Vec<u8>>,
    /// The answer comes in pieces.
    stream: Option<Stream>,
    /// What the observer remembers of it.
    note: Option<Box<Note>>,
    /// Files among the bytes of an answer that is parked.
    files: Vec<FilePiece>,
}

/// An answer that comes in pieces.
#[derive(Clone, Copy, Debug)]
struct Stream {
    framing: Pieces,
    ended: bool,
}

/// How the pieces of an answer are told from what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pieces {
    /// So many bytes were promised and have not come.
    Left(u64),
    Chunks,
    UntilClose,
    /// The head is all there is: HEAD, 204, 304.
    Nothing,
}

/// What became of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// There is room for more.
    Room,
    /// Taken; wait for [`crate::Step::Writable`] before the next one.
    Full,
    /// Nobody is owed it.
    Gone,
    /// It is longer than the length that was announced: nothing of it was sent.
    TooLong,
}

/// How a streamed answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Complete,
    /// Fewer bytes came than were announced.
    Short,
}

/// The answers owed, oldest first.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    places: VecDeque<Place>,
    /// The number of the oldest place.
    first: u64,
    /// Bytes of answers that wait for an older one.
    parked: usize,
    /// Files whose places in the output are known now: the connection passes them on.
    due: Vec<FilePiece>,
}

impl Pipeline {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub(super) fn parked(&self) -> usize {
        self.parked
    }

    /// A request that must be answered before any other starts is running.
    #[inline]
    pub(super) fn is_barred(&self) -> bool {
        self.places.front().is_some_and(|place| place.barrier)
    }

    /// The number that the next request gets.
    pub(super) fn next_number(&self) -> u64 {
        self.first + self.places.len() as u64
    }

    /// All numbers whose answers are owed.
    pub(super) fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.next_number()
    }

    /// A request starts; its number names the answer.
    #[inline]
    pub(super) fn push(&mut self, owed: Owed, barrier: bool) -> u64 {
        self.places.push_back(Place {
            owed,
            barrier,
            answer: None,
            stream: None,
            note: None,
            files: Vec::new(),
        });
        self.first + self.places.len() as u64 - 1
    }

    /// Keep the observer's note with a place.
    pub(super) fn set_note(&mut self, number: u64, note: Option<Box<Note>>) {
        if let Some(index) = self.place(number) {
            self.places[index].note = note;
        }
    }

    #[inline]
    pub(super) fn note(&mut self, number: u64) -> Option<&mut Note> {
        let index = self.place(number)?;
        self.places[index].note.as_deref_mut()
    }

    #[inline]
    pub(super) fn take_note(&mut self, number: u64) -> Option<Box<Note>> {
        let index = self.place(number)?;
        self.places[index].note.take()
    }

    /// Did no other request start after this one?
    #[inline]
    pub(super) fn is_newest(&self, number: u64) -> bool {
        number + 1 == self.next_number()
    }

    /// Is this answer the next one to be sent?
    pub(super) fn is_first(&self, number: u64) -> bool {
        number == self.first && !self.places.is_empty()
    }

    /// Is this answer still owed, and not begun?
    pub(super) fn owes(&self, number: u64) -> bool {
        self.place(number).is_some_and(|index| self.places[index].is_open())
    }

    fn place(&self, number: u64) -> Option<usize> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (index < self.places.len()).then_some(index)
    }

    /// Take an answer; write it and every one that waited for it. False: it was not owed.
    #[inline]
    pub(super) fn answer(
        &mut self,
        number: u64,
        answer: &Answer<'_>,
        prelude: &Prelude,
        last: bool,
        output: &mut Vec<u8>,
    ) -> bool {
        let Some(index) = self.place(number) else { return false };
        let place = &mut self.places[index];
        if !place.is_open() {
            return false;
        }
        let mut owed = place.owed;
        owed.keep_alive &= !last;
        if index > 0 {
            let mut bytes = Vec::new();
            http1::write(&mut bytes, prelude, owed, answer);
            self.parked += bytes.len();
            place.answer = Some(bytes);
            return true;
        }
        http1::write(output, prelude, owed, answer);
        self.pop();
        self.promote(output);
        true
    }

    /// Begin an answer that comes in pieces: its head. `None`: it was not owed; else whether the
    /// connection can go on after it.
    pub(super) fn begin(
        &mut self,
        number: u64,
        answer: &Answer<'_>,
        prelude: &Prelude,
        last: bool,
        output: &mut Vec<u8>,
    ) -> Option<bool> {
        let index = self.place(number)?;
        let place = &mut self.places[index];
        if !place.is_open() {
            return None;
        }
        let mut owed = place.owed;
        let framing = match answer.payload {
            _ if owed.head_only || http1::has_no_content(answer.status) => Pieces::Nothing,
            Payload::Length(length) => Pieces::Left(length),
            Payload::Bytes(_) | Payload::Chunked if owed.chunks() => Pieces::Chunks,
            Payload::Bytes(_) | Payload::Chunked => Pieces::UntilClose,
        };
        owed.keep_alive &= !last && framing != Pieces::UntilClose;
        place.stream = Some(Stream { framing, ended: false });
        if index > 0 {
            let mut bytes = Vec::new();
            http1::write(&mut bytes, prelude, owed, answer);
            self.parked += bytes.len();
            place.answer = Some(bytes);
        } else {
            http1::write(output, prelude, owed, answer);
        }
        Some(owed.keep_alive)
    }

    /// The answer will tell the client that the connection ends with it.
    pub(super) fn close_after(&mut self, number: u64) {
        if let Some(index) = self.place(number) {
            self.places[index].owed.keep_alive = false;
        }
    }

    /// Can the client tell from what was sent that the rest of this answer is missing?
    pub(super) fn shows_its_end(&self, number: u64) -> bool {
        let stream = self.place(number).and_then(|index| self.places[index].stream);
        stream.is_none_or(|stream| stream.framing != Pieces::UntilClose)
    }

    /// Drop every place behind this one; tells how many there were.
    pub(super) fn forget_after(&mut self, number: u64) -> usize {
        let Some(index) = self.place(number) else { return 0 };
        let before = self.places.len();
        for place in self.places.drain(index + 1..) {
            self.parked -= place.answer.map_or(0, |bytes| bytes.len());
        }
        before - self.places.len()
    }

    /// One piece. The bytes of a place that is not the first yet are parked: `Err` tells how many.
    pub(super) fn push_piece(
        &mut self,
        number: u64,
        data: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<Pushed, usize> {
        let Some(index) = self.place(number) else { return Ok(Pushed::Gone) };
        let place = &mut self.places[index];
        let Some(stream) = place.stream.as_mut().filter(|stream| !stream.ended) else {
            return Ok(Pushed::Gone);
        };
        let (out, parked) = match &mut place.answer {
            Some(bytes) => (bytes, true),
            None => (output, false),
        };
        let before = out.len();
        match &mut stream.framing {
            Pieces::Left(left) => {
                let Some(rest) = left.checked_sub(data.len() as u64) else {
                    return Ok(Pushed::TooLong);
                };
                *left = rest;
                out.extend_from_slice(data);
            }
            Pieces::Chunks => write_chunk(out, data),
            Pieces::UntilClose => out.extend_from_slice(data),
            Pieces::Nothing => {}
        }
        if !parked {
            return Ok(Pushed::Room);
        }
        self.parked += out.len() - before;
        Err(out.len())
    }

    /// A file as a piece; where it stands is told by [`Self::files_due`], or later if it is parked.
    pub(super) fn push_file(
        &mut self,
        number: u64,
        mut file: FilePiece,
        output: &mut Vec<u8>,
    ) -> Pushed {
        let Some(index) = self.place(number) else { return Pushed::Gone };
        let place = &mut self.places[index];
        let Some(stream) = place.stream.as_mut().filter(|stream| !stream.ended) else {
            return Pushed::Gone;
        };
        let parked = place.answer.is_some();
        let out = place.answer.as_mut().unwrap_or(output);
        let before = out.len();
        match &mut stream.framing {
            Pieces::Left(left) => match left.checked_sub(file.length) {
                Some(rest) => *left = rest,
                None => return Pushed::TooLong,
            },
            Pieces::Nothing => return Pushed::Room,
            Pieces::Chunks | Pieces::UntilClose if file.length == 0 => return Pushed::Room,
            Pieces::Chunks => write_chunk_head(out, file.length),
            Pieces::UntilClose => {}
        }
        file.at = out.len();
        if stream.framing == Pieces::Chunks {
            out.extend_from_slice(b"\r\n");
        }
        if parked {
            self.parked += out.len() - before;
            place.files.push(file);
            // One at a time: nobody counts open files as they count bytes.
            return Pushed::Full;
        }
        self.due.push(file);
        Pushed::Room
    }

    /// Files whose places in the output are known since this was last asked.
    #[inline]
    pub(super) fn files_due(&mut self) -> Option<std::vec::Drain<'_, FilePiece>> {
        if self.due.is_empty() { None } else { Some(self.due.drain(..)) }
    }

    /// The last piece has come. `None`: no such answer is under way.
    pub(super) fn end(&mut self, number: u64, output: &mut Vec<u8>) -> Option<Ending> {
        let index = self.place(number)?;
        let place = &mut self.places[index];
        let stream = place.stream.as_mut().filter(|stream| !stream.ended)?;
        stream.ended = true;
        let ending = match stream.framing {
            Pieces::Left(0) | Pieces::Nothing | Pieces::UntilClose => Ending::Complete,
            Pieces::Left(_) => return Some(Ending::Short),
            Pieces::Chunks => {
                let out = place.answer.as_mut().unwrap_or(output);
                let before = out.len();
                write_last_chunk(out);
                if index > 0 {
                    self.parked += out.len() - before;
                }
                Ending::Complete
            }
        };
        if index == 0 {
            self.pop();
            self.promote(output);
        }
        Some(ending)
    }

    /// The first place has gone: write what waited behind it, as far as it has come.
    #[inline]
    fn promote(&mut self, output: &mut Vec<u8>) {
        while let Some(place) = self.places.front_mut() {
            let Some(bytes) = place.answer.take() else { break };
            self.parked -= bytes.len();
            let start = output.len();
            self.due.extend(place.files.drain(..).map(|file| file.behind(start)));
            output.extend_from_slice(&bytes);
            if place.stream.is_some_and(|stream| !stream.ended) {
                // It goes on by itself.
                break;
            }
            self.pop();
        }
    }

    #[inline]
    fn pop(&mut self) {
        self.places.pop_front();
        self.first += 1;
    }
}

impl Place {
    /// Nothing of its answer has been given.
    #[inline]
    fn is_open(&self) -> bool {
        self.answer.is_none() && self.stream.is_none()
    }
}
