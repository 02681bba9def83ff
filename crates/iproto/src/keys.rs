//! The numbers of the protocol: header and body keys, request types, reply types.

pub const REQUEST_TYPE: u8 = 0x00;
pub const SYNC: u8 = 0x01;
pub const SCHEMA_VERSION: u8 = 0x05;
pub const STREAM_ID: u8 = 0x0a;

pub const SPACE_ID: u8 = 0x10;
pub const INDEX_ID: u8 = 0x11;
pub const LIMIT: u8 = 0x12;
pub const OFFSET: u8 = 0x13;
pub const ITERATOR: u8 = 0x14;
pub const FETCH_POSITION: u8 = 0x1f;
pub const KEY: u8 = 0x20;
pub const TUPLE: u8 = 0x21;
pub const FUNCTION_NAME: u8 = 0x22;
pub const USER_NAME: u8 = 0x23;
pub const EXPRESSION: u8 = 0x27;
pub const OPERATIONS: u8 = 0x28;
pub const OPTIONS: u8 = 0x2b;
pub const AFTER_POSITION: u8 = 0x2e;
pub const AFTER_TUPLE: u8 = 0x2f;

pub const DATA: u8 = 0x30;
pub const MESSAGE: u8 = 0x31;
pub const METADATA: u8 = 0x32;
pub const BIND_METADATA: u8 = 0x33;
pub const POSITION: u8 = 0x35;
pub const SQL_TEXT: u8 = 0x40;
pub const SQL_BIND: u8 = 0x41;
pub const SQL_INFO: u8 = 0x42;
pub const STATEMENT_ID: u8 = 0x43;
pub const STACK: u8 = 0x52;
pub const VERSION: u8 = 0x54;
pub const FEATURES: u8 = 0x55;
pub const TIMEOUT: u8 = 0x56;
pub const EVENT_KEY: u8 = 0x57;
pub const EVENT_DATA: u8 = 0x58;
pub const ISOLATION: u8 = 0x59;
pub const AUTH_TYPE: u8 = 0x5b;
pub const TUPLE_FORMATS: u8 = 0x60;

pub const SELECT: u8 = 0x01;
pub const INSERT: u8 = 0x02;
pub const REPLACE: u8 = 0x03;
pub const UPDATE: u8 = 0x04;
pub const DELETE: u8 = 0x05;
pub const CALL_16: u8 = 0x06;
pub const AUTH: u8 = 0x07;
pub const EVAL: u8 = 0x08;
pub const UPSERT: u8 = 0x09;
pub const CALL: u8 = 0x0a;
pub const EXECUTE: u8 = 0x0b;
pub const PREPARE: u8 = 0x0d;
pub const BEGIN: u8 = 0x0e;
pub const COMMIT: u8 = 0x0f;
pub const ROLLBACK: u8 = 0x10;
pub const PING: u8 = 0x40;
pub const ID: u8 = 0x49;
pub const WATCH: u8 = 0x4a;
pub const UNWATCH: u8 = 0x4b;
pub const WATCH_ONCE: u8 = 0x4d;

pub const OK: u64 = 0x00;
pub const CHUNK: u64 = 0x80;
pub const EVENT: u64 = 0x4c;
pub const ERROR: u64 = 0x8000;
