//! Spans of calendar time: a count, then pairs of a part's number and its value.

use super::fault;
use crate::error::ProtocolError;
use crate::msgpack::{self, Reader};

/// A span of calendar time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Interval {
    pub years: i64,
    pub months: i64,
    pub weeks: i64,
    pub days: i64,
    pub hours: i64,
    pub minutes: i64,
    pub seconds: i64,
    pub nanoseconds: i64,
    /// What to do with a day the month has not: 0 run over, 1 take its last day, 2 stick to ends.
    pub adjust: i64,
}

impl Interval {
    /// Reads the payload of an extension.
    pub fn decode(payload: &[u8]) -> Result<Self, ProtocolError> {
        let (&count, rest) =
            payload.split_first().ok_or_else(|| fault("the count of an interval's parts", 0))?;
        let mut reader = Reader::new(rest);
        let mut interval = Self::default();
        for _ in 0..count {
            let at = reader.position() + 1;
            let part = reader.uint()?;
            let slot = interval.slot(part).ok_or_else(|| fault("a part of an interval", at))?;
            *slot = reader.int()?;
        }
        reader.finish()?;
        Ok(interval)
    }

    /// Appends the payload of an extension.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let parts = self.parts();
        let said = parts.iter().filter(|&&value| value != 0).count();
        msgpack::uint(out, said as u64);
        for (part, value) in (0..).zip(parts) {
            if value != 0 {
                msgpack::uint(out, part);
                msgpack::int(out, value);
            }
        }
    }

    /// The parts in the order of their numbers.
    pub fn parts(&self) -> [i64; 9] {
        let Self { years, months, weeks, days, hours, minutes, seconds, nanoseconds, adjust } =
            *self;
        [years, months, weeks, days, hours, minutes, seconds, nanoseconds, adjust]
    }

    fn slot(&mut self, part: u64) -> Option<&mut i64> {
        Some(match part {
            0 => &mut self.years,
            1 => &mut self.months,
            2 => &mut self.weeks,
            3 => &mut self.days,
            4 => &mut self.hours,
            5 => &mut self.minutes,
            6 => &mut self.seconds,
            7 => &mut self.nanoseconds,
            8 => &mut self.adjust,
            _ => return None,
        })
    }
}
