//! Against a real server: set `TARANTOOL_URL=user:password@host:port` and run with `--ignored`.
//! The user must be allowed to evaluate Lua and to create spaces.

use std::io::{Read, Write};
use std::net::TcpStream;

use iproto::ext::{Datetime, Decimal, ErrorStack, Interval};
use iproto::msgpack::{Reader, Token};
use iproto::query::{self, Select, Statement};
use iproto::schema::{Schema, VINDEX, VSPACE};
use iproto::{Framed, Greeting, Header, Iterator, Reply, Status, chap_sha1, codes, ext, frame};
use iproto::{ProtocolError, msgpack};

/// A connection that waits for each answer.
struct Client {
    socket: TcpStream,
    input: Vec<u8>,
    sync: u64,
    greeting: Greeting,
}

impl Client {
    /// Connects and authenticates.
    fn connect() -> Self {
        let url = std::env::var("TARANTOOL_URL").expect("TARANTOOL_URL names a server");
        let url = url.strip_prefix("tarantool://").unwrap_or(&url);
        let (user, address) = url.split_once('@').expect("user:password@host:port");
        let (user, password) = user.split_once(':').expect("user:password");
        let mut socket = TcpStream::connect(address).expect("the server listens");
        let mut greeting = [0; Greeting::LEN];
        socket.read_exact(&mut greeting).unwrap();
        let greeting = Greeting::parse(&greeting).unwrap();
        let scramble = chap_sha1(password.as_bytes(), &greeting.salt);
        let mut client = Self { socket, input: Vec::new(), sync: 0, greeting };
        client.ask(|out, header| query::auth(out, header, user, Some(&scramble)));
        client
    }

    /// Sends a query and returns its whole reply, without the length.
    fn exchange(&mut self, write: impl FnOnce(&mut Vec<u8>, Header)) -> Vec<u8> {
        self.sync += 1;
        let mut out = Vec::new();
        write(&mut out, Header { sync: self.sync, schema_version: None });
        self.send(&out);
        let packet = self.receive().expect("a packet");
        assert_eq!(self.sync, Reply::parse(&packet).unwrap().sync);
        packet
    }

    /// As [`Self::exchange`], for queries that must succeed.
    fn ask(&mut self, write: impl FnOnce(&mut Vec<u8>, Header)) -> Vec<u8> {
        let packet = self.exchange(write);
        let reply = Reply::parse(&packet).unwrap();
        assert_eq!(Status::Ok, reply.status, "{:?}", reply.body.message);
        packet
    }

    fn send(&mut self, out: &[u8]) {
        self.socket.write_all(out).unwrap();
    }

    fn receive(&mut self) -> Result<Vec<u8>, ProtocolError> {
        loop {
            if let Framed::Complete { len, prefix } = frame(&self.input, 1 << 24)? {
                let packet = self.input[prefix..len].to_vec();
                self.input.drain(..len);
                return Ok(packet);
            }
            let mut chunk = [0; 4096];
            let count = self.socket.read(&mut chunk).unwrap();
            assert_ne!(0, count, "the server closed");
            self.input.extend_from_slice(&chunk[..count]);
        }
    }

    fn eval(&mut self, lua: &str, args: &[u8]) -> Vec<u8> {
        self.ask(|out, header| query::eval(out, header, lua, args))
    }

    fn schema(&mut self) -> Schema {
        let all = |space| Select {
            space,
            index: 0,
            limit: u32::MAX,
            offset: 0,
            iterator: Iterator::All,
            key: EMPTY,
        };
        let spaces = self.ask(|out, header| query::select(out, header, &all(VSPACE)));
        let indexes = self.ask(|out, header| query::select(out, header, &all(VINDEX)));
        let version = Reply::parse(&spaces).unwrap().schema_version;
        Schema::read(version, data(&spaces), data(&indexes)).unwrap()
    }
}

const EMPTY: &[u8] = &[0x90];

fn data(packet: &[u8]) -> &[u8] {
    Reply::parse(packet).unwrap().body.data.expect("data")
}

fn tokens(data: &[u8]) -> Vec<Token<'_>> {
    let mut reader = Reader::new(data);
    let mut tokens = Vec::new();
    while !reader.is_empty() {
        tokens.push(reader.token().unwrap());
    }
    tokens
}

/// A fresh space of `name` for one test: `{id unsigned, name string, visits unsigned}`.
fn fresh_space(client: &mut Client, name: &str) -> u32 {
    let lua = format!(
        "if box.space.{name} then box.space.{name}:drop() end \
         local s = box.schema.space.create('{name}', {{format = {{{{'id', 'unsigned'}}, \
         {{'name', 'string'}}, {{'visits', 'unsigned', is_nullable = true}}}}}}) \
         s:create_index('primary', {{parts = {{1, 'unsigned'}}}}) \
         s:create_index('by_name', {{parts = {{{{field = 2, type = 'string'}}}}, unique = false}})"
    );
    client.eval(&lua, EMPTY);
    client.schema().space(name).expect("the space just made").id
}

fn tuple(id: u64, name: &str, visits: u64) -> Vec<u8> {
    let mut out = Vec::new();
    msgpack::array(&mut out, 3);
    msgpack::uint(&mut out, id);
    msgpack::str(&mut out, name);
    msgpack::uint(&mut out, visits);
    out
}

fn add_one_visit() -> Vec<u8> {
    let mut out = Vec::new();
    msgpack::array(&mut out, 1);
    msgpack::array(&mut out, 3);
    msgpack::str(&mut out, "+");
    msgpack::uint(&mut out, 2);
    msgpack::uint(&mut out, 1);
    out
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn every_change_does_what_its_name_says() {
    let mut client = Client::connect();
    let space = fresh_space(&mut client, "tarmac_changes");
    let key = &[0x91, 1];
    let row = |name, visits| {
        vec![
            Token::Array(1),
            Token::Array(3),
            Token::UInt(1),
            Token::Str(name),
            Token::UInt(visits),
        ]
    };
    let (ann, bob) = (tuple(1, "Ann", 5), tuple(1, "Bob", 7));
    let inserted = client.ask(|out, header| query::insert(out, header, space, &ann));
    assert_eq!(row(b"Ann", 5), tokens(data(&inserted)));
    let replaced = client.ask(|out, header| query::replace(out, header, space, &bob));
    assert_eq!(row(b"Bob", 7), tokens(data(&replaced)));
    let ops = add_one_visit();
    let updated = client.ask(|out, header| query::update(out, header, space, 0, key, &ops));
    assert_eq!(row(b"Bob", 8), tokens(data(&updated)));
    let upserted = client.ask(|out, header| query::upsert(out, header, space, &ann, &ops));
    assert_eq!(vec![Token::Array(0)], tokens(data(&upserted)));
    let select = Select { space, index: 0, limit: 10, offset: 0, iterator: Iterator::Eq, key };
    let selected = client.ask(|out, header| query::select(out, header, &select));
    assert_eq!(row(b"Bob", 9), tokens(data(&selected)));
    let deleted = client.ask(|out, header| query::delete(out, header, space, 0, key));
    assert_eq!(row(b"Bob", 9), tokens(data(&deleted)));
    let again = client.ask(|out, header| query::delete(out, header, space, 0, key));
    assert_eq!(vec![Token::Array(0)], tokens(data(&again)));
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn select_walks_by_iterator_offset_and_limit() {
    let mut client = Client::connect();
    let space = fresh_space(&mut client, "tarmac_walk");
    for id in 1..=9 {
        let tuple = tuple(id, "x", id);
        client.ask(|out, header| query::insert(out, header, space, &tuple));
    }
    let mut ids = |iterator, offset, limit, key: &[u8]| -> Vec<u64> {
        let select = Select { space, index: 0, limit, offset, iterator, key };
        let packet = client.ask(|out, header| query::select(out, header, &select));
        let mut reader = Reader::new(data(&packet));
        let count = reader.array().unwrap();
        (0..count)
            .map(|_| {
                reader.array().unwrap();
                let id = reader.uint().unwrap();
                reader.skip_many(2).unwrap();
                id
            })
            .collect()
    };
    assert_eq!(vec![5], ids(Iterator::Eq, 0, 10, &[0x91, 5]));
    assert_eq!(vec![5, 6, 7], ids(Iterator::Ge, 0, 3, &[0x91, 5]));
    assert_eq!(vec![7, 8, 9], ids(Iterator::Gt, 1, 9, &[0x91, 5]));
    assert_eq!(vec![5, 4], ids(Iterator::Le, 0, 2, &[0x91, 5]));
    assert_eq!(vec![4, 3], ids(Iterator::Lt, 0, 2, &[0x91, 5]));
    assert_eq!(vec![9, 8], ids(Iterator::Req, 0, 2, EMPTY));
    assert_eq!(9, ids(Iterator::All, 0, 100, EMPTY).len());
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn functions_return_their_values() {
    let mut client = Client::connect();
    client.ask(query::ping);
    let args = &[0x92, 1, 2];
    client.eval("function tarmac_sum(a, b) return a + b, 'sum' end", EMPTY);
    let called = client.ask(|out, header| query::call(out, header, "tarmac_sum", args));
    assert_eq!(vec![Token::Array(2), Token::UInt(3), Token::Str(b"sum")], tokens(data(&called)));
    let called = client.ask(|out, header| query::call_16(out, header, "tarmac_sum", args));
    let expected = [Token::Array(1), Token::UInt(3), Token::Array(1), Token::Str(b"sum")];
    let mut wrapped = vec![Token::Array(2)];
    wrapped.extend(expected);
    assert_eq!(wrapped, tokens(data(&called)));
    let evaluated = client.eval("return ..., box.NULL", args);
    assert_eq!(vec![Token::Array(2), Token::UInt(1), Token::Nil], tokens(data(&evaluated)));
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn sql_brings_metadata_and_generated_ids() {
    let mut client = Client::connect();
    let none = EMPTY;
    let mut sql = |text: &str, bind: &[u8]| {
        client.ask(|out, header| query::execute(out, header, Statement::Text(text), bind))
    };
    sql("DROP TABLE IF EXISTS tarmac_sql", none);
    sql("CREATE TABLE tarmac_sql (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)", none);
    let mut bind = Vec::new();
    msgpack::array(&mut bind, 1);
    msgpack::str(&mut bind, "Ann");
    let inserted = sql("INSERT INTO tarmac_sql (name) VALUES (?)", &bind);
    let info = Reply::parse(&inserted).unwrap().body.sql_info.expect("sql info");
    let expected = [Token::Map(2), Token::UInt(0), Token::UInt(1), Token::UInt(1), Token::Array(1)];
    assert_eq!(expected, tokens(info)[..5]);
    let selected = sql("SELECT id, name FROM tarmac_sql", none);
    let body = Reply::parse(&selected).unwrap().body;
    let expected = [Token::Array(1), Token::Array(2), Token::UInt(1), Token::Str(b"Ann")];
    assert_eq!(expected.to_vec(), tokens(body.data.unwrap()));
    assert!(tokens(body.metadata.unwrap()).contains(&Token::Str(b"NAME")));

    let text = Statement::Text("SELECT name FROM tarmac_sql WHERE id = ?");
    let prepared = client.ask(|out, header| query::prepare(out, header, text));
    let body = Reply::parse(&prepared).unwrap().body;
    assert!(body.bind_metadata.is_some());
    let held = Statement::Prepared(body.statement_id.expect("a number"));
    let found = client.ask(|out, header| query::execute(out, header, held, &[0x91, 1]));
    let expected = vec![Token::Array(1), Token::Array(1), Token::Str(b"Ann")];
    assert_eq!(expected, tokens(data(&found)));
    client.ask(|out, header| query::prepare(out, header, held));
    let gone = client.exchange(|out, header| query::execute(out, header, held, &[0x91, 1]));
    assert_eq!(Some("ER_WRONG_QUERY_ID"), error_name(&gone));
}

fn error_name(packet: &[u8]) -> Option<&'static str> {
    match Reply::parse(packet).unwrap().status {
        Status::Error(code) => Some(codes::name(code)),
        _ => None,
    }
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn errors_carry_code_message_and_stack() {
    let mut client = Client::connect();
    let space = fresh_space(&mut client, "tarmac_errors");
    let ann = tuple(1, "Ann", 1);
    client.ask(|out, header| query::insert(out, header, space, &ann));
    let refused = client.exchange(|out, header| query::insert(out, header, space, &ann));
    assert_eq!(Some("ER_TUPLE_FOUND"), error_name(&refused));
    let body = Reply::parse(&refused).unwrap().body;
    assert!(body.message.unwrap().starts_with("Duplicate key exists"));
    let stack = ErrorStack::decode(body.stack.expect("a stack since 2.4")).unwrap();
    assert_eq!("ClientError", stack.frames[0].kind);
    assert_eq!(3, stack.frames[0].code);
    let wrong = Some(77_777);
    let refused = client.exchange(|out, header| {
        query::ping(out, Header { schema_version: wrong, ..header });
    });
    assert_eq!(Some("ER_WRONG_SCHEMA_VERSION"), error_name(&refused));
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn wrong_password_is_refused_and_no_password_is_a_guest() {
    let mut client = Client::connect();
    let scramble = chap_sha1(b"not it", &client.greeting.salt);
    let refused = client.exchange(|out, header| query::auth(out, header, "admin", Some(&scramble)));
    assert!(matches!(error_name(&refused), Some("ER_PASSWORD_MISMATCH" | "ER_CREDS_MISMATCH")));
    client.ask(|out, header| query::auth(out, header, "guest", None));
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn extension_values_survive_the_server() {
    let mut client = Client::connect();
    for text in ["0", "-12.50", "1E+5", "0.00000001", "99999999999999999999999999999999999999"] {
        let decimal: Decimal = text.parse().unwrap();
        let mut payload = Vec::new();
        decimal.encode(&mut payload);
        let mut args = vec![0x91];
        msgpack::ext(&mut args, ext::DECIMAL, &payload);
        let packet = client.eval("local d = ... return d, tostring(d)", &args);
        let [_, Token::Ext(ext::DECIMAL, payload), Token::Str(said)] = tokens(data(&packet))[..]
        else {
            panic!("{:?}", tokens(data(&packet)));
        };
        let back = Decimal::decode(payload).unwrap();
        let said: Decimal = str::from_utf8(said).unwrap().parse().unwrap();
        assert_eq!(plain(&decimal), plain(&back), "{text}");
        assert_eq!(plain(&decimal), plain(&said), "{text}");
    }
    let packet = client
        .eval("return require('uuid').fromstr('f6423bdf-b49e-4913-b361-0740c9702e4b')", EMPTY);
    let [_, Token::Ext(ext::UUID, payload)] = tokens(data(&packet))[..] else { panic!() };
    let expected = 0xf642_3bdf_b49e_4913_b361_0740_c970_2e4b_u128.to_be_bytes();
    assert_eq!(expected, ext::uuid(payload).unwrap());
}

/// The value as text without an exponent or zeros behind the point.
fn plain(decimal: &Decimal) -> String {
    let text = decimal.to_string();
    let (number, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let value: f64 = format!("{number}E{exponent}").parse().unwrap();
    format!("{value:e}")
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn datetime_and_interval_survive_a_server_that_has_them() {
    let mut client = Client::connect();
    if client.greeting.version.starts_with("2.6") {
        eprintln!("skipped: the server has no datetime before 2.10");
        return;
    }
    let moment = Datetime { seconds: 1_700_000_000, nanoseconds: 5, tz_offset: 180, tz_index: 0 };
    let span = Interval { years: 1, days: -2, nanoseconds: 3, ..Interval::default() };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    moment.encode(&mut first);
    span.encode(&mut second);
    let mut args = vec![0x92];
    msgpack::ext(&mut args, ext::DATETIME, &first);
    msgpack::ext(&mut args, ext::INTERVAL, &second);
    let packet = client.eval("return ...", &args);
    let [_, Token::Ext(ext::DATETIME, first), Token::Ext(ext::INTERVAL, second)] =
        tokens(data(&packet))[..]
    else {
        panic!("{:?}", tokens(data(&packet)));
    };
    assert_eq!(moment, Datetime::decode(first).unwrap());
    assert_eq!(span, Interval::decode(second).unwrap());
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn schema_names_spaces_fields_and_indexes() {
    let mut client = Client::connect();
    let id = fresh_space(&mut client, "tarmac_schema");
    let schema = client.schema();
    let space = schema.space("tarmac_schema").unwrap();
    assert_eq!(Some(space), schema.space_by_id(id));
    assert_eq!(["id", "name", "visits"], space.fields[..]);
    let by_name = space.index("by_name").unwrap();
    assert_eq!((1, false, "tree"), (by_name.id, by_name.unique, by_name.kind.as_str()));
    assert_eq!((1, "string"), (by_name.parts[0].field, by_name.parts[0].kind.as_str()));
    assert!(space.index("primary").unwrap().unique);
    assert!(schema.space("_vspace").is_some_and(|view| view.id == VSPACE));
}

#[test]
#[ignore = "needs a server: set TARANTOOL_URL"]
fn bad_msgpack_is_answered_with_number_zero_and_bad_length_closes() {
    let mut client = Client::connect();
    client.send(&[0xce, 0, 0, 0, 2, 0xc1, 0xc1]);
    let packet = client.receive().unwrap();
    assert_eq!(Some("ER_INVALID_MSGPACK"), error_name(&packet));
    assert_eq!(0, Reply::parse(&packet).unwrap().sync);
    client.ask(query::ping);
    client.send(&[0xc1]);
    let packet = client.receive().unwrap();
    assert_eq!(Some("ER_INVALID_MSGPACK"), error_name(&packet));
    assert_eq!(0, client.socket.read(&mut [0; 64]).unwrap());
}
