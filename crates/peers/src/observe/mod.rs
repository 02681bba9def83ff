//! What a server tells about its exchanges: counters and an access log. Absent, it costs a branch.
//!
//! ```text
//!   request handed over ─► Observer::begin ─► Note ─► answer ─► Observer::finish ─► counters, a line
//! ```
//!
//! The clock is the driver's; lines wait in `Observer::lines` until he takes them.

mod access_log;
mod metrics;
mod text;

pub use access_log::{Template, TemplateError};
pub use metrics::{Kind, Metrics, REFUSALS, TIMEOUTS, names};

use access_log::{Moment, Scene};
use reactor::Address;

use crate::request::RequestData;
use crate::shared::Shared;

/// Microseconds on a steady clock.
pub type Micros = u64;

/// Notes kept for the next exchanges.
const SPARE: usize = 64;
/// Nobody takes the lines: more than this is dropped.
const MOST_WAITING: usize = 4 * 1024 * 1024;
/// The status of an exchange whose client left first; nothing on the wire has it.
pub const CLIENT_LEFT: u16 = 499;

/// What is remembered of an exchange until it ends.
#[derive(Debug, Default)]
pub struct Note {
    started: Micros,
    method: usize,
    /// Of an answer that comes in pieces.
    pub(crate) status: u16,
    /// Bytes of content answered so far.
    pub(crate) bytes: u64,
    /// Bytes are counted as they come: nobody announced how many.
    pub(crate) counts: bool,
    scene: Scene,
}

impl Note {
    /// The answer has no content, whatever it announces.
    pub(crate) fn head_only(&self) -> bool {
        self.method == metrics::HEAD
    }
}

/// Watches the exchanges of one server.
#[derive(Debug)]
pub struct Observer {
    clock: fn() -> Micros,
    template: Option<Template>,
    moment: Moment,
    // Boxed on purpose: a place in the pipeline holds a pointer.
    #[expect(clippy::vec_box, reason = "the boxes themselves are what is kept")]
    spare: Vec<Box<Note>>,
    /// What was counted.
    pub metrics: Metrics,
    /// Lines of the log that nobody has taken yet.
    pub lines: Vec<u8>,
}

impl Observer {
    /// Counts, and writes a line for each exchange if there is a template.
    pub fn new(clock: fn() -> Micros, template: Option<Template>) -> Self {
        Self {
            clock,
            template,
            moment: Moment::default(),
            spare: Vec::new(),
            metrics: Metrics::default(),
            lines: Vec::new(),
        }
    }

    /// A request is about to be answered.
    #[expect(clippy::unnecessary_box_returns, reason = "the box itself is used again")]
    pub(crate) fn begin(
        &mut self,
        request: &RequestData,
        from: &Address,
        unix_seconds: u64,
    ) -> Box<Note> {
        let mut note = self.spare.pop().unwrap_or_default();
        note.started = (self.clock)();
        note.method = metrics::method_place(request.head.method);
        note.status = 0;
        note.bytes = 0;
        note.counts = false;
        self.metrics.received(request.head.len as u64 + request.body.len() as u64);
        if let Some(template) = &self.template {
            self.moment.move_to(unix_seconds);
            template.remember(&mut note.scene, request, from, &self.moment);
        }
        note
    }

    /// It has been answered; `fields` are the answer's.
    pub(crate) fn finish(&mut self, note: Box<Note>, status: u16, bytes: u64, fields: &[u8]) {
        let took = (self.clock)().saturating_sub(note.started);
        self.metrics.answered(note.method, status, bytes, took);
        if let Some(template) = &self.template {
            if self.lines.len() < MOST_WAITING {
                template.write(&mut self.lines, &note.scene, status, bytes, took, fields);
            } else {
                self.metrics.count(Kind::LinesDropped);
            }
        }
        if self.spare.len() < SPARE {
            self.spare.push(note);
        }
    }

    /// A message that was no request has been refused.
    pub(crate) fn refuse(&mut self, status: u16, bytes: u64, from: &Address, unix_seconds: u64) {
        if let Some(template) = &self.template
            && self.lines.len() < MOST_WAITING
        {
            let mut scene = Scene::default();
            self.moment.move_to(unix_seconds);
            template.remember(&mut scene, &RequestData::default(), from, &self.moment);
            template.write(&mut self.lines, &scene, status, bytes, 0, &[]);
        }
    }
}

impl Shared {
    /// Give the lines of every log to `take`: the number of the server, and what was written.
    pub fn take_lines(&mut self, mut take: impl FnMut(usize, &mut Vec<u8>)) {
        for (number, server) in self.servers.iter_mut().enumerate() {
            if let Some(observer) = server.as_mut().and_then(|server| server.observer.as_mut())
                && !observer.lines.is_empty()
            {
                take(number, &mut observer.lines);
            }
        }
    }
}
