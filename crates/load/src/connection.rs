//! One connection: what is in flight on it, and the answers that come back in order.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use crate::answer::{Outcome, Reader};
use crate::judge::Judge;
use crate::plan::Plan;
use crate::tally::Fault;
use crate::visitor::Visitor;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// When it should have been sent.
    pub intended: u64,
    /// When it was.
    pub sent: u64,
    /// Which step of the plan it is.
    pub step: usize,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// To be opened at the given time.
    Waiting(u64),
    /// Since the given time.
    Connecting(u64),
    /// Usable.
    Open,
}

/// What to do with a connection after its bytes were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Use it on.
    Keep,
    /// The last answer ended it.
    Close,
}

/// A connection and its visitor, who outlives it.
#[derive(Debug)]
pub struct Connection {
    /// `None` while waiting.
    pub socket: Option<OwnedFd>,
    /// How far it is.
    pub state: State,
    /// Counts sockets, so that an event for an old one is known as such.
    pub generation: u32,
    /// Unanswered requests, oldest first.
    pub exchanges: VecDeque<Exchange>,
    /// Bytes that the system did not take yet.
    pub output: Vec<u8>,
    /// Open loop: stands in the queue of connections with room.
    pub queued: bool,
    /// Who is talking.
    pub visitor: Visitor,
    // The beginning of an answer, always from its first byte.
    input: Vec<u8>,
    reader: Reader,
}

impl Connection {
    /// Not opened yet.
    pub fn new(plan: &Plan, number: usize) -> Self {
        Self {
            socket: None,
            state: State::Waiting(0),
            generation: 0,
            exchanges: VecDeque::with_capacity(plan.depth),
            output: Vec::new(),
            queued: false,
            visitor: Visitor::new(plan, number),
            input: Vec::new(),
            reader: Reader::new(plan.limits.clone()),
        }
    }

    /// Closes and forgets; returns how many requests stay unanswered.
    pub fn close(&mut self) -> u64 {
        self.socket = None;
        self.generation = self.generation.wrapping_add(1);
        self.input.clear();
        self.output.clear();
        self.reader.reset();
        let lost = self.exchanges.len() as u64;
        self.exchanges.clear();
        self.queued = false;
        lost
    }

    /// Reads the answers in newly received bytes.
    pub fn consume(&mut self, received: &[u8], judge: &mut Judge<'_>) -> Result<Next, Fault> {
        judge.received(received.len());
        let result = if self.input.is_empty() {
            self.answers(received, judge).map(|(used, next)| {
                self.input.extend_from_slice(&received[used..]);
                next
            })
        } else {
            let mut input = std::mem::take(&mut self.input);
            input.extend_from_slice(received);
            self.answers(&input, judge).map(|(used, next)| {
                input.drain(..used);
                self.input = input;
                next
            })
        };
        judge.settle();
        result
    }

    /// The peer closed, which may be the end of the last answer.
    pub fn finish(&mut self, judge: &mut Judge<'_>) {
        let input = std::mem::take(&mut self.input);
        if let Some(answer) = self.reader.finish(&input)
            && let Some(exchange) = self.exchanges.pop_front()
        {
            let right = judge.answer(&exchange, &answer, &input, &mut self.visitor);
            judge.settle();
            if !right && judge.plan.is_flow() {
                self.visitor.restart();
            }
        }
    }

    fn answers(&mut self, input: &[u8], judge: &mut Judge<'_>) -> Result<(usize, Next), Fault> {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            let Some(exchange) = self.exchanges.front() else {
                judge.unreadable("bytes that no request asked for", rest);
                return Err(Fault::Parse);
            };
            if self.reader.is_idle()
                && let Some(len) = judge.repeated(exchange, rest)
            {
                self.exchanges.pop_front();
                at += len;
                continue;
            }
            let method = judge.plan.steps[exchange.step].method;
            match self.reader.read(rest, method) {
                Ok(Outcome::Partial) => break,
                Ok(Outcome::Interim(len)) => at += len,
                Ok(Outcome::Complete(answer)) => {
                    let keep = answer.keep_alive && judge.plan.keep_alive;
                    at += answer.len;
                    let raw = &rest[..answer.len];
                    let right = judge.answer(exchange, &answer, raw, &mut self.visitor);
                    self.reader.forget_body();
                    self.exchanges.pop_front();
                    if !right && judge.plan.is_flow() {
                        self.visitor.restart();
                    }
                    if !keep {
                        return Ok((at, Next::Close));
                    }
                }
                Err(reason) => {
                    judge.unreadable(reason, rest);
                    return Err(Fault::Parse);
                }
            }
        }
        Ok((at, Next::Keep))
    }
}
