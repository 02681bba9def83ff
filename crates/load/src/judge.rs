//! Judges each answer and books it in the right phase; knows the time because it is told.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::answer::Answer;
use crate::check::{Repeat, Wrong};
use crate::connection::Exchange;
use crate::pace::Pace;
use crate::plan::Plan;
use crate::tally::{Fault, Second, Tally, histogram};
use crate::visitor::Visitor;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum Phase {
    /// Sending, not measuring.
    Warmup,
    /// Sending and measuring.
    Measure,
    /// No longer sending; the last answers come in.
    Drain,
}

/// The first wrong answer of a run, for a person to look at.
#[derive(Clone, Debug, Serialize)]
pub struct FirstWrong {
    /// The step's name.
    pub step: String,
    /// What is wrong, in one sentence.
    pub reason: String,
    /// The status that came.
    pub status: u16,
    /// The length that came.
    pub length: usize,
    /// The head that came.
    pub head: String,
    /// The body around the first difference.
    pub excerpt: String,
}

// Answers with the same times, booked together.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Batch {
    phase: usize,
    step: usize,
    latency: u64,
    service: u64,
}

/// The books of one thread.
pub struct Judge<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Set by the engine before anything else is called.
    pub now: u64,
    /// Set by the engine.
    pub phase: Phase,
    /// Warm-up, measured, drained.
    pub tallies: [Tally; 3],
    /// Finished measured seconds.
    pub series: Vec<Second>,
    /// Shown to the person.
    pub first_wrong: Option<FirstWrong>,
    /// Why the first unreadable answer could not be read.
    pub first_unreadable: Option<String>,
    measure_from: u64,
    repeats: Vec<Repeat>,
    batch: Option<(Batch, u64)>,
    second: Second,
    second_latency: Histogram<u64>,
}

impl<'p> Judge<'p> {
    /// Empty books; measuring begins at `measure_from`.
    pub fn new(plan: &'p Plan, measure_from: u64) -> Self {
        let tally = match plan.pace {
            Pace::Closed => Tally::new(plan.steps.len()),
            Pace::Open { .. } => Tally::new(plan.steps.len()).with_service(),
        };
        Self {
            plan,
            now: 0,
            phase: Phase::Warmup,
            tallies: [tally.clone(), tally.clone(), tally],
            series: Vec::new(),
            first_wrong: None,
            first_unreadable: None,
            measure_from,
            repeats: plan.steps.iter().map(|_| Repeat::default()).collect(),
            batch: None,
            second: Second::default(),
            second_latency: histogram(),
        }
    }

    /// The fast way: `input` begins with the same bytes as the step's last right answer.
    #[inline]
    pub fn repeated(&mut self, exchange: &Exchange, input: &[u8]) -> Option<usize> {
        let repeat = &mut self.repeats[exchange.step];
        let len = repeat.same(input)?;
        repeat.hit();
        self.right(exchange);
        Some(len)
    }

    /// The thorough way. True when the answer is right.
    pub fn answer(
        &mut self,
        exchange: &Exchange,
        answer: &Answer<'_>,
        raw: &[u8],
        visitor: &mut Visitor,
    ) -> bool {
        let plan = self.plan;
        let step = &plan.steps[exchange.step];
        let verdict = step
            .expect
            .check(answer.status, answer.body)
            .and_then(|()| visitor.learn(plan, exchange.step, answer).map_err(Wrong::Extract));
        match verdict {
            Ok(()) => {
                if answer.keep_alive && plan.keep_alive && !plan.is_flow() {
                    self.repeats[exchange.step].remember(raw);
                }
                self.right(exchange);
            }
            Err(wrong) => self.wrong(exchange, answer, wrong),
        }
        verdict.is_ok()
    }

    /// `lost` requests will get no answer.
    pub fn fault(&mut self, fault: Fault, lost: u64) {
        self.tallies[self.phase as usize].errors.add(fault, lost);
        if self.phase == Phase::Measure {
            self.second.errors += lost;
        }
    }

    /// An answer that is none.
    #[cold]
    pub fn unreadable(&mut self, reason: &str, input: &[u8]) {
        let excerpt = &input[..input.len().min(200)];
        self.first_unreadable
            .get_or_insert_with(|| format!("{reason}: {:?}", String::from_utf8_lossy(excerpt)));
    }

    /// Bytes came in.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.tallies[self.phase as usize].bytes_in += bytes as u64;
        self.second.bytes_in += bytes as u64;
    }

    /// Bytes went out.
    #[inline]
    pub fn transmitted(&mut self, bytes: usize) {
        self.tallies[self.phase as usize].bytes_out += bytes as u64;
    }

    /// Books what has been collected; called once per read.
    #[inline]
    pub fn settle(&mut self) {
        let Some((batch, count)) = self.batch.take() else { return };
        let tally = &mut self.tallies[batch.phase];
        tally.ok += count;
        tally.steps[batch.step].ok += count;
        tally.answers(batch.step, batch.latency, batch.service, count);
        if self.phase == Phase::Measure {
            self.second.requests += count;
            self.second.ok += count;
            self.second_latency.saturating_record_n(batch.latency, count);
        }
    }

    /// Ends a second that lasted `seconds`; it joins the series if it was measured.
    ///
    /// A boundary of phases right after one of seconds leaves a sliver, which is no second of its
    /// own.
    pub fn end_second(&mut self, seconds: f64) -> Option<Second> {
        const SLIVER: f64 = 0.001;
        self.settle();
        let mut second = std::mem::take(&mut self.second);
        second.seconds = seconds;
        second.p50_ns = self.second_latency.value_at_quantile(0.50);
        second.p99_ns = self.second_latency.value_at_quantile(0.99);
        second.max_ns = self.second_latency.max();
        self.second_latency.reset();
        let measured = self.phase == Phase::Measure;
        if seconds < SLIVER {
            if let (true, Some(last)) = (measured, self.series.last_mut()) {
                last.merge(&second);
            }
            return None;
        }
        if measured {
            second.second = self.series.len() as u64;
            self.series.push(second.clone());
        }
        Some(second)
    }

    #[inline]
    fn right(&mut self, exchange: &Exchange) {
        let batch = self.batch_of(exchange);
        match &mut self.batch {
            Some((open, count)) if *open == batch => *count += 1,
            _ => {
                self.settle();
                self.batch = Some((batch, 1));
            }
        }
    }

    #[cold]
    fn wrong(&mut self, exchange: &Exchange, answer: &Answer<'_>, wrong: Wrong) {
        self.settle();
        let batch = self.batch_of(exchange);
        let tally = &mut self.tallies[batch.phase];
        tally.wrong.add(wrong);
        tally.steps[batch.step].wrong += 1;
        tally.answers(batch.step, batch.latency, batch.service, 1);
        if self.phase == Phase::Measure {
            self.second.requests += 1;
            self.second.wrong += 1;
            self.second_latency.saturating_record_n(batch.latency, 1);
        }
        if self.first_wrong.is_none() {
            self.first_wrong = Some(describe(self.plan, exchange, answer, wrong));
        }
    }

    // A closed loop books by time of completion; an open loop by intended time, so that a stall
    // at the end of the measured phase cannot hide behind its end.
    #[inline]
    fn batch_of(&self, exchange: &Exchange) -> Batch {
        let phase = match self.plan.pace {
            Pace::Closed => self.phase,
            Pace::Open { .. } if exchange.intended < self.measure_from => Phase::Warmup,
            Pace::Open { .. } => Phase::Measure,
        };
        Batch {
            phase: phase as usize,
            step: exchange.step,
            latency: self.now - exchange.intended,
            service: self.now - exchange.sent,
        }
    }
}

fn describe(plan: &Plan, exchange: &Exchange, answer: &Answer<'_>, wrong: Wrong) -> FirstWrong {
    const AROUND: usize = 200;
    let step = &plan.steps[exchange.step];
    let learned = step.expect.learned();
    let (reason, at) = match wrong {
        Wrong::Status => (format!("status {}, expected {}", answer.status, step.expect.status), 0),
        Wrong::Length => {
            let expected = step.expect.length.or(learned.map(|learned| learned.length));
            (format!("length {}, expected {}", answer.body.len(), expected.unwrap_or(0)), 0)
        }
        Wrong::Body(at) => (format!("body differs from byte {at}"), at),
        Wrong::Hash => ("the body's template does not have the expected hash".to_owned(), 0),
        Wrong::Extract(number) => {
            (format!("no {} to extract in the body", step.extracts[number].name), 0)
        }
    };
    let from = at.saturating_sub(AROUND / 4);
    let excerpt = &answer.body[from..answer.body.len().min(from + AROUND)];
    FirstWrong {
        step: step.name.clone(),
        reason,
        status: answer.status,
        length: answer.body.len(),
        head: String::from_utf8_lossy(answer.raw_head).into_owned(),
        excerpt: String::from_utf8_lossy(excerpt).into_owned(),
    }
}
