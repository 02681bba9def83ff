//! Keeping the schema up to date: at most one fetch runs, and at most one more is due.

use iproto::ProtocolError;
use iproto::schema::Schema;

/// What came of a part of a fetch.
pub(super) enum Fetched {
    /// The other part is still on its way.
    Half,
    /// The schema is known.
    Known,
    /// It changed between the two parts, which need not fit together: both must be read again.
    Torn,
}

/// One of the two parts and the version of which it tells.
type Part = Option<(u64, Vec<u8>)>;

/// What is known of the server's schema.
#[derive(Debug, Default)]
pub(super) struct SchemaState {
    pub(super) known: Option<Schema>,
    running: bool,
    /// Fetches started so far; the number of the newest one.
    fetches: u64,
    spaces: Part,
    indexes: Part,
}

impl SchemaState {
    /// The version in use; 0 before the first fetch.
    pub(super) fn version(&self) -> u64 {
        self.known.as_ref().map_or(0, |schema| schema.version)
    }

    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    /// The number of the newest fetch.
    pub(super) fn fetches(&self) -> u64 {
        self.fetches
    }

    /// A reply carried this version: is the schema that is known out of date?
    #[inline]
    pub(super) fn is_outdated(&self, version: u64) -> bool {
        version != 0 && self.known.as_ref().is_some_and(|schema| schema.version != version)
    }

    pub(super) fn start(&mut self) {
        self.running = true;
        self.fetches += 1;
        self.spaces = None;
        self.indexes = None;
    }

    /// One of the two parts came.
    pub(super) fn part(
        &mut self,
        spaces: bool,
        version: u64,
        data: &[u8],
    ) -> Result<Fetched, ProtocolError> {
        let place = if spaces { &mut self.spaces } else { &mut self.indexes };
        *place = Some((version, data.to_vec()));
        let (Some((version, spaces)), Some((other, indexes))) = (&self.spaces, &self.indexes)
        else {
            return Ok(Fetched::Half);
        };
        if version != other {
            return Ok(Fetched::Torn);
        }
        self.known = Some(Schema::read(*version, spaces, indexes)?);
        self.running = false;
        self.spaces = None;
        self.indexes = None;
        Ok(Fetched::Known)
    }

    /// The connection is gone; what is known stays known until the next one says otherwise.
    pub(super) fn interrupted(&mut self) {
        self.running = false;
    }
}
