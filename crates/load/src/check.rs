//! Right or wrong: every answer against the expected status, length and body.

use std::sync::OnceLock;

use crate::holes::{Hole, Template};

/// How much of an answer is compared with the first right one of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Only what is given on the command line or in the scenario.
    Given,
    /// The length too.
    Length,
    /// Every byte outside the holes.
    #[default]
    Body,
}

/// What an answer to one step must be.
#[derive(Debug, Default)]
pub struct Expect {
    /// The status.
    pub status: u16,
    /// The exact length of the body.
    pub length: Option<usize>,
    /// The hash of the body's template.
    pub hash: Option<u64>,
    /// What may differ inside a body.
    pub holes: Vec<Hole>,
    /// What is learned from the first answer.
    pub level: Level,
    // Shared by all threads, so that they cannot learn different truths.
    learned: OnceLock<Learned>,
}

/// What the first right answer looked like.
#[derive(Debug)]
pub struct Learned {
    /// Its length.
    pub length: usize,
    /// Its body, holes taken out.
    pub template: Template,
}

/// How an answer is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Not the expected status.
    Status,
    /// Not the expected length.
    Length,
    /// The body differs from this offset.
    Body(usize),
    /// The body's template does not have the given hash.
    Hash,
    /// A value that the next step needs is not in it: the number of the extraction.
    Extract(usize),
}

impl Expect {
    /// Expects `status`, and a body given in advance if there is one.
    pub fn new(status: u16, body: Option<&[u8]>, holes: Vec<Hole>, level: Level) -> Self {
        let learned = OnceLock::new();
        if let Some(body) = body {
            let template = Template::new(body, &holes);
            learned.get_or_init(|| Learned { length: body.len(), template });
        }
        Self { status, length: None, hash: None, holes, level, learned }
    }

    /// The verdict; the first answer with the right status teaches what the rest must be.
    pub fn check(&self, status: u16, body: &[u8]) -> Result<(), Wrong> {
        if status != self.status {
            return Err(Wrong::Status);
        }
        if self.length.is_some_and(|length| length != body.len()) {
            return Err(Wrong::Length);
        }
        let Some(learned) = self.learned.get() else { return self.learn(body) };
        match self.level {
            Level::Given if self.hash.is_none() => Ok(()),
            Level::Length if learned.length != body.len() => Err(Wrong::Length),
            Level::Length => Ok(()),
            Level::Body | Level::Given => {
                learned.template.matches(body, &self.holes).map_err(Wrong::Body)
            }
        }
    }

    fn learn(&self, body: &[u8]) -> Result<(), Wrong> {
        if self.level == Level::Given && self.hash.is_none() {
            return Ok(());
        }
        let template = Template::new(body, &self.holes);
        if self.hash.is_some_and(|hash| hash != template.hash()) {
            return Err(Wrong::Hash);
        }
        self.learned.get_or_init(|| Learned { length: body.len(), template });
        Ok(())
    }

    /// What was learned or given, for the report.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.get()
    }
}

/// Remembers the raw bytes of the last right answer: the same bytes again are right again.
///
/// That is no weaker than parsing (an answer is a function of its bytes) and costs one comparison.
#[derive(Debug, Default)]
pub struct Repeat {
    last: Vec<u8>,
    misses: u32,
}

impl Repeat {
    // Answers that differ every time are not worth copying; look again now and then.
    const PATIENCE: u32 = 16;
    const PAUSE: u32 = 4096;
    const LARGEST: usize = 256 * 1024;

    /// How many bytes of `input` repeat the last right answer.
    #[inline]
    pub fn same(&self, input: &[u8]) -> Option<usize> {
        (!self.last.is_empty() && input.starts_with(&self.last)).then_some(self.last.len())
    }

    /// A right answer that did not repeat the last one.
    pub fn remember(&mut self, raw: &[u8]) {
        self.misses += 1;
        if self.misses < Self::PATIENCE && raw.len() <= Self::LARGEST {
            self.last.clear();
            self.last.extend_from_slice(raw);
        } else if self.misses == Self::PATIENCE {
            self.last.clear();
        } else if self.misses > Self::PAUSE {
            self.misses = Self::PATIENCE / 2;
        }
    }

    /// It was worth it.
    #[inline]
    pub fn hit(&mut self) {
        self.misses = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learns_from_the_first_right_answer() {
        let expect = Expect::new(200, None, vec![], Level::Body);
        assert_eq!(Err(Wrong::Status), expect.check(500, b"oops"));
        assert_eq!(Ok(()), expect.check(200, b"hello"));
        assert_eq!(Ok(()), expect.check(200, b"hello"));
        assert_eq!(Err(Wrong::Body(1)), expect.check(200, b"hallo"));
        assert_eq!(5, expect.learned().unwrap().length);
    }

    #[test]
    fn a_given_body_is_not_learned_anew() {
        let expect = Expect::new(200, Some(b"hello"), vec![], Level::Body);
        assert_eq!(Err(Wrong::Body(0)), expect.check(200, b"other"));
        assert_eq!(Ok(()), expect.check(200, b"hello"));
    }

    #[test]
    fn length_only() {
        let expect = Expect::new(200, None, vec![], Level::Length);
        assert_eq!(Ok(()), expect.check(200, b"abc"));
        assert_eq!(Ok(()), expect.check(200, b"xyz"));
        assert_eq!(Err(Wrong::Length), expect.check(200, b"abcd"));
    }

    #[test]
    fn a_given_length_or_hash_holds_for_the_first_answer_too() {
        let expect = Expect { length: Some(3), ..Expect::new(200, None, vec![], Level::Given) };
        assert_eq!(Err(Wrong::Length), expect.check(200, b"abcd"));
        assert_eq!(Ok(()), expect.check(200, b"abc"));
        let hash = Some(Template::new(b"abc", &[]).hash());
        let expect = Expect { hash, ..Expect::new(200, None, vec![], Level::Given) };
        assert_eq!(Err(Wrong::Hash), expect.check(200, b"abd"));
        assert_eq!(Ok(()), expect.check(200, b"abc"));
        assert_eq!(Err(Wrong::Body(2)), expect.check(200, b"abd"));
    }

    #[test]
    fn status_alone() {
        let expect = Expect::new(303, None, vec![], Level::Given);
        assert_eq!(Ok(()), expect.check(303, b"a"));
        assert_eq!(Ok(()), expect.check(303, b"b"));
    }

    #[test]
    fn repeats_need_the_whole_answer() {
        let mut repeat = Repeat::default();
        assert_eq!(None, repeat.same(b""));
        repeat.remember(b"abc");
        assert_eq!(Some(3), repeat.same(b"abcabc"));
        assert_eq!(None, repeat.same(b"ab"));
        assert_eq!(None, repeat.same(b"abd"));
    }

    #[test]
    fn answers_that_never_repeat_are_left_alone_for_a_while() {
        let mut repeat = Repeat::default();
        for number in 0..200u32 {
            repeat.remember(&number.to_le_bytes());
        }
        assert_eq!(None, repeat.same(&199u32.to_le_bytes()));
        repeat.misses = Repeat::PAUSE;
        repeat.remember(b"x");
        repeat.remember(b"x");
        assert_eq!(Some(1), repeat.same(b"x"));
    }
}
