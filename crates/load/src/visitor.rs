//! One connection's visitor: its place in the flow, its cookies, what it took from pages.

use memchr::memmem;

use crate::answer::Answer;
use crate::plan::{Extract, Plan, Request};
use crate::text::Values;

/// The state that makes a connection's next request.
#[derive(Debug)]
pub struct Visitor {
    connection: usize,
    step: usize,
    rounds: usize,
    number: u64,
    random: u64,
    slots: Vec<Vec<u8>>,
    cookies: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Visitor {
    /// Visitors of a flow start at its beginning, others spread over the steps.
    pub fn new(plan: &Plan, connection: usize) -> Self {
        let step = if plan.is_flow() { 0 } else { connection % plan.steps.len() };
        Self {
            connection,
            step,
            rounds: connection,
            number: 0,
            random: 0x9e37_79b9_7f4a_7c15 ^ ((connection as u64 + 1) << 17),
            slots: vec![Vec::new(); plan.slots],
            cookies: Vec::new(),
        }
    }

    /// Appends the next request; returns its step.
    #[inline]
    pub fn request(&mut self, plan: &Plan, out: &mut Vec<u8>) -> usize {
        let step = self.step;
        match &plan.steps[step].request {
            Request::Static(bytes) => out.extend_from_slice(bytes),
            Request::Dynamic(recipe) => {
                self.number += 1;
                self.random = next_random(self.random);
                let values = Values {
                    slots: &self.slots,
                    number: self.number,
                    connection: self.connection,
                    random: self.random,
                };
                recipe.render(out, &values, self.rounds, &self.cookie_field());
            }
        }
        self.step += 1;
        if self.step == plan.steps.len() {
            self.step = 0;
            self.rounds += 1;
        }
        step
    }

    /// Takes cookies and values from an answer; `Err` is the number of the extraction that failed.
    pub fn learn(&mut self, plan: &Plan, step: usize, answer: &Answer<'_>) -> Result<(), usize> {
        if plan.cookies {
            self.keep_cookies(answer);
        }
        for (number, extract) in plan.steps[step].extracts.iter().enumerate() {
            let value = find(answer.body, extract).ok_or(number)?;
            let slot = &mut self.slots[extract.slot];
            slot.clear();
            slot.extend_from_slice(value);
        }
        Ok(())
    }

    /// Begins the flow anew: an answer it builds on is missing.
    pub fn restart(&mut self) {
        self.step = 0;
    }

    fn keep_cookies(&mut self, answer: &Answer<'_>) {
        for field in &answer.head.fields {
            if field.name.of(answer.raw_head).eq_ignore_ascii_case(b"set-cookie") {
                self.keep_cookie(field.value.of(answer.raw_head));
            }
        }
    }

    fn keep_cookie(&mut self, line: &[u8]) {
        let mut parts = line.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = memchr::memchr(b'=', pair) else { return };
        let (name, value) = (&pair[..equals], &pair[equals + 1..]);
        self.cookies.retain(|(known, _)| known != name);
        if !parts.any(|part| part.eq_ignore_ascii_case(b"max-age=0")) {
            self.cookies.push((name.to_vec(), value.to_vec()));
        }
    }

    fn cookie_field(&self) -> Vec<u8> {
        let pairs: Vec<Vec<u8>> = self
            .cookies
            .iter()
            .map(|(name, value)| [name, value].map(Vec::as_slice).join(&b'='))
            .collect();
        pairs.join(b"; ".as_slice())
    }
}

fn find<'b>(body: &'b [u8], extract: &Extract) -> Option<&'b [u8]> {
    let mut at = 0;
    for marker in &extract.after {
        at += memmem::find(&body[at..], marker)? + marker.len();
    }
    let end = memmem::find(&body[at..], &extract.before)?;
    Some(&body[at..at + end])
}

// xorshift64: enough to spread keys, reproducible.
fn next_random(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}
