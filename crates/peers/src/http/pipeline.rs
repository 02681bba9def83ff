//! The answers a connection owes, in the order of its requests.
//!
//! Safe requests may run at the same time; any other is a barrier: it starts alone, and nothing
//! starts before it is answered (RFC 9112 section 9.3.2).

use std::collections::VecDeque;

use http1::{Answer, Owed, Prelude};

/// One request that was handed out.
#[derive(Debug)]
struct Place {
    owed: Owed,
    barrier: bool,
    /// The answer, when it came before its turn.
    answer: Option<Vec<u8>>,
}

/// The answers owed, oldest first.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    places: VecDeque<Place>,
    /// The number of the oldest place.
    first: u64,
    /// Bytes of answers that wait for an older one.
    parked: usize,
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

    /// A request starts; its number names the answer.
    #[inline]
    pub(super) fn push(&mut self, owed: Owed, barrier: bool) -> u64 {
        self.places.push_back(Place { owed, barrier, answer: None });
        self.first + self.places.len() as u64 - 1
    }

    /// Did no other request start after this one?
    #[inline]
    pub(super) fn is_newest(&self, number: u64) -> bool {
        number + 1 == self.first + self.places.len() as u64
    }

    /// Is this answer still owed?
    pub(super) fn owes(&self, number: u64) -> bool {
        self.place(number).is_some_and(|index| self.places[index].answer.is_none())
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
        if place.answer.is_some() {
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
        while let Some(bytes) = self.places.front_mut().and_then(|place| place.answer.take()) {
            self.parked -= bytes.len();
            output.extend_from_slice(&bytes);
            self.pop();
        }
        true
    }

    #[inline]
    fn pop(&mut self) {
        self.places.pop_front();
        self.first += 1;
    }
}
