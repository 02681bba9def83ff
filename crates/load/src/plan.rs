//! What a run does: where to, how long, how fast, which requests, which answers.

use std::fmt;
use std::time::Duration;

use http1::{Limits, Method};

use crate::check::Expect;
use crate::pace::Pace;
use crate::target::Target;
use crate::text::{Text, Values, push_number};

/// Everything a run needs to know, shared read-only by its threads.
#[derive(Debug)]
pub struct Plan {
    /// The server.
    pub target: Target,
    /// Connections over all threads.
    pub connections: usize,
    /// Requests in flight on one connection.
    pub depth: usize,
    /// Closed or open loop.
    pub pace: Pace,
    /// Threads.
    pub threads: usize,
    /// Not measured.
    pub warmup: Duration,
    /// Measured.
    pub duration: Duration,
    /// An answer that takes longer is an error; also the bound on waiting for the last answers.
    pub timeout: Duration,
    /// One connection carries many requests.
    pub keep_alive: bool,
    /// Visitors keep cookies.
    pub cookies: bool,
    /// Sizes beyond which an answer is refused.
    pub limits: Limits,
    /// The requests, in turn.
    pub steps: Vec<Step>,
    /// How many extracted values a visitor holds.
    pub slots: usize,
}

/// One request of the plan.
#[derive(Debug)]
pub struct Step {
    /// For reports.
    pub name: String,
    /// What the answer's framing depends on.
    pub method: Method,
    /// How the request is made.
    pub request: Request,
    /// How the answer is checked.
    pub expect: Expect,
    /// What is taken out of the answer for later steps.
    pub extracts: Vec<Extract>,
}

/// Bytes, or a recipe for them.
#[derive(Debug)]
pub enum Request {
    /// The same every time.
    Static(Vec<u8>),
    /// Made for each visitor anew.
    Dynamic(Recipe),
}

/// A request with variables.
#[derive(Debug)]
pub struct Recipe {
    /// Request method as sent.
    pub method: String,
    /// Path and query.
    pub path: Text,
    /// `Host` and the fields that were asked for, in order.
    pub fields: Vec<(String, Text)>,
    /// Used in turn; empty for a request without body.
    pub bodies: Vec<Text>,
}

/// Takes the bytes between markers out of a body.
#[derive(Debug)]
pub struct Extract {
    /// The name in the scenario.
    pub name: String,
    /// Where the value is kept.
    pub slot: usize,
    /// Each is looked for behind the one before; the value starts behind the last.
    pub after: Vec<Vec<u8>>,
    /// The value ends before this.
    pub before: Vec<u8>,
}

/// A plan that cannot be run.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanError(pub String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// A flow's next request needs the last answer, so it cannot be pipelined.
    pub fn is_flow(&self) -> bool {
        self.cookies || self.steps.iter().any(|step| !step.extracts.is_empty())
    }

    /// Refuses numbers that make no sense together.
    pub fn validate(&self) -> Result<(), PlanError> {
        let refuse = |reason: &str| Err(PlanError(reason.to_owned()));
        match self {
            _ if self.steps.is_empty() => refuse("a plan needs at least one step"),
            _ if self.connections == 0 || self.depth == 0 || self.threads == 0 => {
                refuse("connections, depth and threads are at least 1")
            }
            _ if self.threads > self.connections => refuse("more threads than connections"),
            _ if self.duration.is_zero() => refuse("nothing to measure: duration is 0"),
            _ if self.timeout.is_zero() => refuse("timeout is 0"),
            _ if self.depth > 1 && self.is_flow() => refuse(
                "a flow with cookies or extracted values cannot be pipelined: depth must be 1",
            ),
            _ if self.depth > 1 && !self.keep_alive => refuse("pipelining needs keep-alive"),
            Self { pace: Pace::Open { rate }, .. } if !(*rate > 0.0 && rate.is_finite()) => {
                refuse("rate must be above 0")
            }
            _ => Ok(()),
        }
    }
}

impl Recipe {
    /// Appends the whole request.
    pub fn render(&self, out: &mut Vec<u8>, values: &Values<'_>, body: usize, cookies: &[u8]) {
        out.extend_from_slice(self.method.as_bytes());
        out.push(b' ');
        self.path.render(out, values);
        out.extend_from_slice(b" HTTP/1.1\r\n");
        for (name, value) in &self.fields {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            value.render(out, values);
            out.extend_from_slice(b"\r\n");
        }
        if !cookies.is_empty() {
            out.extend_from_slice(b"Cookie: ");
            out.extend_from_slice(cookies);
            out.extend_from_slice(b"\r\n");
        }
        self.render_body(out, values, body);
    }

    fn render_body(&self, out: &mut Vec<u8>, values: &Values<'_>, body: usize) {
        let Some(text) = self.bodies.get(body % self.bodies.len().max(1)) else {
            out.extend_from_slice(b"\r\n");
            return;
        };
        let mut bytes = Vec::new();
        text.render(&mut bytes, values);
        out.extend_from_slice(b"Content-Length: ");
        push_number(out, bytes.len() as u64);
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&bytes);
    }

    /// The bytes, once and for all, if nothing in it varies.
    pub fn freeze(self, cookies: bool) -> Request {
        let fixed = self.path.is_static()
            && self.fields.iter().all(|(_, value)| value.is_static())
            && self.bodies.len() <= 1
            && self.bodies.iter().all(Text::is_static);
        if !fixed || cookies {
            return Request::Dynamic(self);
        }
        let mut out = Vec::new();
        let values = Values { slots: &[], number: 0, connection: 0, random: 0 };
        self.render(&mut out, &values, 0, b"");
        Request::Static(out)
    }
}
