//! Reading one packet of the server: header, then the body's parts by key.

use crate::error::{ErrorKind, ProtocolError};
use crate::keys;
use crate::msgpack::Reader;

/// How a query ended, or what else the packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Answered.
    Ok,
    /// A message pushed by the query; its answer is still to come.
    Chunk,
    /// A watched key changed; belongs to no query.
    Event,
    /// Refused with this [code](crate::codes).
    Error(u16),
}

/// One packet of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply<'a> {
    /// How the query ended.
    pub status: Status,
    /// The query's number; zero if the server could not read it.
    pub sync: u64,
    /// The server's schema at that moment; zero where the packet carries none.
    pub schema_version: u64,
    /// What the packet holds.
    pub body: Body<'a>,
}

/// The parts of a body, msgpack as it came unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Body<'a> {
    /// An array of tuples, or of the values that a function returned.
    ///
    /// When it is the only part it is everything up to the packet's end, not walked yet.
    pub data: Option<&'a [u8]>,
    /// SQL: an array of maps, one per column.
    pub metadata: Option<&'a [u8]>,
    /// SQL: an array of maps, one per parameter.
    pub bind_metadata: Option<&'a [u8]>,
    /// SQL: rows changed and ids generated, a map.
    pub sql_info: Option<&'a [u8]>,
    /// SQL: the number of a prepared statement.
    pub statement_id: Option<u64>,
    /// The text of an error.
    pub message: Option<&'a str>,
    /// The error with its causes, a map.
    pub stack: Option<&'a [u8]>,
    /// Where a paged select stopped.
    pub position: Option<&'a [u8]>,
    /// Formats of the tuples in `data`, a map.
    pub tuple_formats: Option<&'a [u8]>,
    /// Negotiation: the protocol's version.
    pub version: Option<u64>,
    /// Negotiation: an array of features.
    pub features: Option<&'a [u8]>,
    /// Negotiation: the method of authentication.
    pub auth_type: Option<&'a str>,
    /// The key that an event is about.
    pub event_key: Option<&'a str>,
    /// The value that an event brings.
    pub event_data: Option<&'a [u8]>,
}

impl<'a> Reply<'a> {
    /// Reads a packet without its length prefix.
    #[inline]
    pub fn parse(packet: &'a [u8]) -> Result<Self, ProtocolError> {
        let header = match RawHeader::from_template(packet) {
            Some(header) => header,
            None => RawHeader::read(packet)?,
        };
        Ok(Self {
            status: header.status()?,
            sync: header.sync,
            schema_version: header.schema_version,
            body: Body::parse(packet, header.len)?,
        })
    }
}

struct RawHeader {
    kind: u64,
    sync: u64,
    schema_version: u64,
    len: usize,
}

impl RawHeader {
    /// The header as servers write it: three keys in order, numbers in full width.
    ///
    /// `83 00 ce CCCCCCCC 01 cf SSSSSSSSSSSSSSSS 05`, then `ce VVVVVVVV` (before 3.0) or
    /// `cf VVVVVVVVVVVVVVVV`.
    #[inline]
    fn from_template(packet: &[u8]) -> Option<Self> {
        let (start, rest) = packet.split_first_chunk::<18>()?;
        let [0x83, 0x00, 0xce, k0, k1, k2, k3, 0x01, 0xcf, sync @ .., 0x05] = *start else {
            return None;
        };
        let (schema_version, len) = match rest {
            [0xce, a, b, c, d, ..] => (u64::from(u32::from_be_bytes([*a, *b, *c, *d])), 23),
            [0xcf, digits @ ..] => (u64::from_be_bytes(*digits.first_chunk()?), 27),
            _ => return None,
        };
        let kind = u64::from(u32::from_be_bytes([k0, k1, k2, k3]));
        Some(Self { kind, sync: u64::from_be_bytes(sync), schema_version, len })
    }

    /// The header as the protocol allows it: any order, any width, unknown keys.
    fn read(packet: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader::new(packet);
        let mut kind = None;
        let (mut sync, mut schema_version) = (0, 0);
        for _ in 0..reader.map()? {
            match key(&mut reader)? {
                keys::REQUEST_TYPE => kind = Some(reader.uint()?),
                keys::SYNC => sync = reader.uint()?,
                keys::SCHEMA_VERSION => schema_version = reader.uint()?,
                _ => reader.skip()?,
            }
        }
        let len = reader.position();
        let missing = ProtocolError::new(ErrorKind::UnknownReply, "a reply type", len);
        Ok(Self { kind: kind.ok_or(missing)?, sync, schema_version, len })
    }

    #[inline]
    fn status(&self) -> Result<Status, ProtocolError> {
        match self.kind {
            keys::OK => Ok(Status::Ok),
            keys::CHUNK => Ok(Status::Chunk),
            keys::EVENT => Ok(Status::Event),
            kind @ keys::ERROR..=0xffff => {
                Ok(Status::Error(u16::try_from(kind - keys::ERROR).unwrap_or(u16::MAX)))
            }
            _ => Err(ProtocolError::new(ErrorKind::UnknownReply, "ok, chunk, event or error", 0)),
        }
    }
}

impl<'a> Body<'a> {
    #[inline]
    fn parse(packet: &'a [u8], at: usize) -> Result<Self, ProtocolError> {
        match packet.get(at..) {
            None | Some([] | [0x80]) => Ok(Self::default()),
            Some([0x81, keys::DATA, data @ ..]) if !data.is_empty() => {
                Ok(Self { data: Some(data), ..Self::default() })
            }
            Some(_) => Self::read(Reader::starting_at(packet, at)),
        }
    }

    fn read(mut reader: Reader<'a>) -> Result<Self, ProtocolError> {
        let mut body = Self::default();
        for _ in 0..reader.map()? {
            body.read_pair(&mut reader)?;
        }
        reader.finish()?;
        Ok(body)
    }

    fn read_pair(&mut self, reader: &mut Reader<'a>) -> Result<(), ProtocolError> {
        match key(reader)? {
            keys::DATA => self.data = Some(reader.raw()?),
            keys::METADATA => self.metadata = Some(reader.raw()?),
            keys::BIND_METADATA => self.bind_metadata = Some(reader.raw()?),
            keys::SQL_INFO => self.sql_info = Some(reader.raw()?),
            keys::STATEMENT_ID => self.statement_id = Some(reader.uint()?),
            keys::MESSAGE => self.message = Some(reader.str()?),
            keys::STACK => self.stack = Some(reader.raw()?),
            keys::POSITION => self.position = Some(reader.raw()?),
            keys::TUPLE_FORMATS => self.tuple_formats = Some(reader.raw()?),
            keys::VERSION => self.version = Some(reader.uint()?),
            keys::FEATURES => self.features = Some(reader.raw()?),
            keys::AUTH_TYPE => self.auth_type = Some(reader.str()?),
            keys::EVENT_KEY => self.event_key = Some(reader.str()?),
            keys::EVENT_DATA => self.event_data = Some(reader.raw()?),
            _ => reader.skip()?,
        }
        Ok(())
    }
}

/// Reads a key. One that does not fit a byte is known to nobody: it becomes 0xff.
fn key(reader: &mut Reader<'_>) -> Result<u8, ProtocolError> {
    Ok(u8::try_from(reader.uint()?).unwrap_or(u8::MAX))
}
