//! What the server sends: the greeting, then replies in any order.

use std::ops::Range;

use iproto::query::{self, Header, Select};
use iproto::schema::{VINDEX, VSPACE};
use iproto::{Framed, Greeting, GreetingError, Status};
use reactor::{Advance, CloseReason, Io, Millis};

use super::link::{Link, State};
use super::schema::Fetched;
use super::tickets::{Ended, Owner};
use crate::shared::Shared;
use crate::step::{Failure, Reply, Step};

/// The server's error code for a query sent with an old schema version.
const WRONG_SCHEMA_VERSION: u16 = 109;

impl<W> Link<W> {
    /// Take the next packet.
    pub(crate) fn advance(
        &mut self,
        io: &mut Io<'_, Step<W>>,
        shared: &mut Shared,
    ) -> Advance<Step<W>> {
        if self.state == State::Greeting {
            return self.greet(io);
        }
        loop {
            let (len, prefix) = match iproto::frame(io.input(), self.config.max_packet) {
                Ok(Framed::Complete { len, prefix }) => (len, prefix),
                Ok(Framed::Partial) if io.ended => {
                    return Advance::Abort(CloseReason::Network(0));
                }
                Ok(Framed::Partial) => return Advance::Starved,
                Err(error) => return self.broken(&error.to_string()),
            };
            shared.replies += 1;
            let outcome = self.receive(prefix..len, io);
            io.consume(len);
            match outcome {
                Ok(Some(step)) => return Advance::Step(step),
                Ok(None) => {}
                Err(advance) => return advance,
            }
        }
    }

    /// The connection cannot be used any more.
    fn broken(&mut self, what: &str) -> Advance<Step<W>> {
        self.fault.get_or_insert_with(|| Failure::Protocol { message: what.to_owned() });
        // What is queued will not be understood either: nobody waits for it to leave.
        Advance::Abort(CloseReason::Refused)
    }

    fn greet(&mut self, io: &mut Io<'_, Step<W>>) -> Advance<Step<W>> {
        if let Some(error) = wrong_start(io.input()) {
            return self.broken(&error.to_string());
        }
        if io.input().len() < Greeting::LEN {
            return if io.ended {
                Advance::Abort(CloseReason::Network(0))
            } else {
                Advance::Starved
            };
        }
        let greeting = match Greeting::parse(io.input()) {
            Ok(greeting) => greeting,
            Err(error) => return self.broken(&error.to_string()),
        };
        io.consume(Greeting::LEN);
        self.server_version = Some(greeting.version);
        if let Some(user) = self.config.user.clone() {
            let sync = self.tickets.issue(Owner::Auth, Millis::MAX, false);
            let scramble = iproto::chap_sha1(self.config.password.as_bytes(), &greeting.salt);
            query::auth(io.output, Header { sync, schema_version: None }, &user, Some(&scramble));
            self.state = State::Authenticating;
        } else {
            self.state = State::Describing;
            self.fetch_schema(io);
        }
        Advance::Starved
    }

    /// Deal with one packet.
    #[inline]
    fn receive(
        &mut self,
        packet: Range<usize>,
        io: &mut Io<'_, Step<W>>,
    ) -> Result<Option<Step<W>>, Advance<Step<W>>> {
        let bytes = &io.input()[packet];
        let reply = iproto::Reply::parse(bytes).map_err(|error| self.broken(&error.to_string()))?;
        if reply.status == Status::Event {
            return Ok(None);
        }
        if reply.status == Status::Chunk && self.tickets.is_issued(reply.sync) {
            // Pushed messages come before the answer; nobody asked to see them.
            return Ok(None);
        }
        let Some(Ended { owner, deadline, checked }) = self.tickets.take(reply.sync) else {
            return Err(self.unowned(&reply));
        };
        let mut outdated = self.schema.is_outdated(reply.schema_version);
        let step = match owner {
            Owner::Waiter(waiter) => match reply.status {
                Status::Error(WRONG_SCHEMA_VERSION) if checked => {
                    // A fetch that runs tells of this version or tears: it is waited for.
                    let more = u64::from(!self.schema.is_running());
                    self.waiting.park_for_schema(waiter, deadline, self.schema.fetches() + more);
                    outdated = true;
                    None
                }
                Status::Error(code) => {
                    let message = message(&reply);
                    let failure = Failure::Database { code: u32::from(code), message };
                    Some(Step::Failed { waiter, failure })
                }
                _ => Some(Step::Reply { waiter, reply: keep(bytes, &reply) }),
            },
            Owner::Nobody => None,
            Owner::Auth => return self.authenticated(&reply, io).map_or(Ok(None), Err),
            Owner::Spaces | Owner::Indexes => {
                let part = reply.body.data.unwrap_or(&[0x90]).to_vec();
                let spaces = matches!(owner, Owner::Spaces);
                let (status, version) = (reply.status, reply.schema_version);
                let message = message(&reply);
                if let Status::Error(code) = status {
                    return Err(self.no_schema(code, message));
                }
                return self.described(spaces, version, &part, io).map_or(Ok(None), Err);
            }
        };
        if outdated {
            self.fetch_schema_once(io);
        }
        self.admit_parked(io);
        Ok(step)
    }

    /// A reply that nobody asked for: an error with no number means that we sent rubbish.
    fn unowned(&mut self, reply: &iproto::Reply<'_>) -> Advance<Step<W>> {
        let text = match reply.status {
            Status::Error(code) => {
                format!("the server refused a packet: {} ({code})", message(reply))
            }
            _ => format!("a reply to the unknown query {}", reply.sync),
        };
        self.broken(&text)
    }

    fn authenticated(
        &mut self,
        reply: &iproto::Reply<'_>,
        io: &mut Io<'_, Step<W>>,
    ) -> Option<Advance<Step<W>>> {
        if let Status::Error(code) = reply.status {
            self.fault = Some(Failure::Auth { code: u32::from(code), message: message(reply) });
            return Some(Advance::Abort(CloseReason::Refused));
        }
        self.state = State::Describing;
        self.fetch_schema(io);
        None
    }

    fn no_schema(&mut self, code: u16, message: String) -> Advance<Step<W>> {
        self.fault = Some(Failure::Database { code: u32::from(code), message });
        Advance::Abort(CloseReason::Refused)
    }

    pub(super) fn fetch_schema_once(&mut self, io: &mut Io<'_, Step<W>>) {
        if !self.schema.is_running() {
            self.fetch_schema(io);
        }
    }

    /// Ask for all spaces and indexes.
    pub(super) fn fetch_schema(&mut self, io: &mut Io<'_, Step<W>>) {
        self.schema.start();
        for (space, owner) in [(VSPACE, Owner::Spaces), (VINDEX, Owner::Indexes)] {
            let sync = self.tickets.issue(owner, Millis::MAX, false);
            let select = Select {
                space,
                index: 0,
                limit: u32::MAX,
                offset: 0,
                iterator: iproto::Iterator::All,
                key: &[0x90],
            };
            query::select(io.output, Header { sync, schema_version: None }, &select);
        }
    }

    fn described(
        &mut self,
        spaces: bool,
        version: u64,
        data: &[u8],
        io: &mut Io<'_, Step<W>>,
    ) -> Option<Advance<Step<W>>> {
        match self.schema.part(spaces, version, data) {
            Ok(Fetched::Half) => {}
            Ok(Fetched::Torn) => self.fetch_schema(io),
            Ok(Fetched::Known) => {
                self.ready();
                if self.waiting.fetched(self.schema.fetches()) {
                    self.fetch_schema(io);
                }
                self.admit_parked(io);
            }
            Err(error) => return Some(self.broken(&error.to_string())),
        }
        None
    }
}

/// Is this no greeting, as far as can be seen? Who speaks another protocol may never send enough.
fn wrong_start(input: &[u8]) -> Option<GreetingError> {
    const START: &[u8] = b"Tarantool ";
    const CONSOLE: &[u8] = b"(Lua console)";
    let count = START.len().min(input.len());
    if input[..count] != START[..count] {
        return Some(GreetingError::NotTarantool);
    }
    let console = input.windows(CONSOLE.len()).any(|part| part == CONSOLE);
    console.then_some(GreetingError::Console)
}

fn message(reply: &iproto::Reply<'_>) -> String {
    reply.body.message.unwrap_or("no message").to_owned()
}

/// Copy the packet: the receive buffer is used again at once.
#[inline]
fn keep(packet: &[u8], reply: &iproto::Reply<'_>) -> Reply {
    let place = |part: Option<&[u8]>| {
        part.map(|part| {
            let start = part.as_ptr().addr() - packet.as_ptr().addr();
            start..start + part.len()
        })
    };
    Reply {
        data: place(reply.body.data),
        metadata: place(reply.body.metadata),
        sql_info: place(reply.body.sql_info),
        schema_version: reply.schema_version,
        bytes: packet.to_vec(),
    }
}
