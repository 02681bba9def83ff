//! Keeping the schema up to date: at most one fetch runs, and at most one more is due.

use iproto::ProtocolError;
use iproto::schema::Schema;

/// What is known of the server's schema.
#[derive(Debug, Default)]
pub(super) struct SchemaState {
    pub(super) known: Option<Schema>,
    running: bool,
    /// A newer version was seen while a fetch ran.
    again: bool,
    spaces: Option<Vec<u8>>,
    indexes: Option<Vec<u8>>,
    /// The version that the running fetch reads.
    version: u64,
}

impl SchemaState {
    /// The version in use; 0 before the first fetch.
    pub(super) fn version(&self) -> u64 {
        self.known.as_ref().map_or(0, |schema| schema.version)
    }

    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    /// A reply carried this version: must a fetch start now?
    pub(super) fn saw(&mut self, version: u64) -> bool {
        if version == 0 || self.known.as_ref().is_none_or(|schema| schema.version == version) {
            return false;
        }
        self.wants_fetch(version)
    }

    /// Somebody needs the schema to be read again: must a fetch start now?
    pub(super) fn wants_fetch(&mut self, version: u64) -> bool {
        if self.running {
            self.again |= version != self.version;
            return false;
        }
        true
    }

    pub(super) fn start(&mut self) {
        self.running = true;
        self.again = false;
        self.spaces = None;
        self.indexes = None;
        self.version = 0;
    }

    pub(super) fn spaces(&mut self, version: u64, data: &[u8]) {
        self.version = version;
        self.spaces = Some(data.to_vec());
    }

    pub(super) fn indexes(&mut self, version: u64, data: &[u8]) {
        // Both parts must be of one version, or what they say need not fit together.
        self.again |= version != self.version;
        self.indexes = Some(data.to_vec());
    }

    /// Both parts are here: true when the schema is known, false when it must be read again.
    pub(super) fn finish(&mut self) -> Option<Result<bool, ProtocolError>> {
        let (Some(spaces), Some(indexes)) = (&self.spaces, &self.indexes) else { return None };
        let schema = match Schema::read(self.version, spaces, indexes) {
            Ok(schema) => schema,
            Err(error) => return Some(Err(error)),
        };
        self.known = Some(schema);
        self.running = false;
        Some(Ok(!self.again))
    }

    /// The connection is gone; what is known stays known until the next one says otherwise.
    pub(super) fn interrupted(&mut self) {
        self.running = false;
        self.again = false;
    }
}
