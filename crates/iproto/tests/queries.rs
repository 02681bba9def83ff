//! The query vectors: what each writer must append, behind what is there already.

mod support;

use iproto::query::{self, After, Isolation, Page, Select, Statement};
use iproto::{Framed, Header, Iterator, frame};
use serde::Deserialize;
use support::{bytes, vectors};

#[derive(Deserialize)]
struct Vectors {
    vector: Vec<Vector>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    packet: String,
}

const H: Header = Header { sync: 1, schema_version: None };
const ONE: &[u8] = &[0x91, 1];
/// `[['+', 2, 1]]`
const ADD: &[u8] = &[0x91, 0x93, 0xa1, b'+', 2, 1];
const STATEMENT: Statement<'_> = Statement::Prepared(613_332_455);

const ALL: Select<'_> =
    Select { space: 512, index: 0, limit: 10, offset: 0, iterator: Iterator::All, key: &[0x90] };

/// Writes a query into stream 300.
fn in_stream(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>, Header)) {
    let start = out.len();
    write(out, H);
    query::in_stream(out, start, 300);
}

fn write(name: &str, out: &mut Vec<u8>) {
    match name {
        "ping" => query::ping(out, H),
        "ping with schema version 153" => {
            query::ping(out, Header { schema_version: Some(153), ..H });
        }
        "auth app" => {
            let scramble = bytes("4259926784d92858e26bcef6fe5870e7b74cd1f1");
            query::auth(out, H, "app", Some(&scramble.try_into().unwrap()));
        }
        "auth guest" => query::auth(out, H, "guest", None),
        "select 512 0 LE [5] limit 10 offset 2" => {
            let key = &[0x91, 5];
            let iterator = Iterator::Le;
            query::select(
                out,
                H,
                &Select { space: 512, index: 0, limit: 10, offset: 2, iterator, key },
            );
        }
        "insert 512 [1]" => query::insert(out, H, 512, ONE),
        "replace 512 [1]" => query::replace(out, H, 512, ONE),
        "update 512 1 [1] [['+', 2, 1]]" => query::update(out, H, 512, 1, ONE, ADD),
        "upsert 512 [1] [['+', 2, 1]]" => query::upsert(out, H, 512, ONE, ADD),
        "delete 512 0 [1]" => query::delete(out, H, 512, 0, ONE),
        "call f [1]" => query::call(out, H, "f", ONE),
        "call_16 f [1]" => query::call_16(out, H, "f", ONE),
        "eval return [1]" => query::eval(out, H, "return", ONE),
        "execute SELECT 1 []" => query::execute(out, H, Statement::Text("SELECT 1"), &[0x90]),
        "execute 613332455 [1]" => query::execute(out, H, STATEMENT, ONE),
        "prepare SELECT 1" => query::prepare(out, H, Statement::Text("SELECT 1")),
        "forget 613332455" => query::prepare(out, H, STATEMENT),
        "id version 3 features 0 1 2" => query::id(out, H, 3, &[0, 1, 2]),
        "auth by pap-sha256 app" => query::auth_pap(out, H, "app", "secret"),
        "begin" => query::begin(out, H, None, Isolation::Default),
        "begin read-confirmed timeout 5" => {
            query::begin(out, H, Some(5.0), Isolation::ReadConfirmed);
        }
        "commit in stream 300" => in_stream(out, query::commit),
        "rollback" => query::rollback(out, H),
        "insert 512 [1] in stream 300" => {
            in_stream(out, |out, header| query::insert(out, header, 512, ONE));
        }
        "ping with schema version 153 in stream 300" => in_stream(out, |out, header| {
            query::ping(out, Header { schema_version: Some(153), ..header });
        }),
        "watch box.status" => query::watch(out, H, "box.status"),
        "unwatch box.status" => query::unwatch(out, H, "box.status"),
        "watch once box.status" => query::watch_once(out, H, "box.status"),
        "select a page behind a position, and ask for the next" => {
            let page = Page { after: Some(After::Position(&[0xa1, b'p'])), fetch_position: true };
            query::select_page(out, H, &ALL, &page);
        }
        "select a page behind a tuple" => {
            let page = Page { after: Some(After::Tuple(ONE)), fetch_position: false };
            query::select_page(out, H, &ALL, &page);
        }
        _ => panic!("no writer for the vector {name}"),
    }
}

#[test]
fn queries_are_written_as_whole_packets() {
    for Vector { name, packet } in vectors::<Vectors>("queries.toml").vector {
        let expected = bytes(&packet);
        let mut out = b"before".to_vec();
        write(&name, &mut out);
        assert_eq!(b"before", &out[..6], "{name}");
        assert_eq!(expected, out[6..], "{name}");
        let framed = frame(&out[6..], 1 << 20);
        assert_eq!(Ok(Framed::Complete { len: expected.len(), prefix: 5 }), framed, "{name}");
    }
}

#[test]
fn iterators_have_the_numbers_of_the_server_and_names_in_any_case() {
    let names = "EQ REQ ALL LT LE GE GT BITS_ALL_SET BITS_ANY_SET BITS_ALL_NOT_SET \
                 OVERLAPS NEIGHBOR";
    for (number, name) in names.split(' ').enumerate() {
        let iterator: Iterator = name.to_lowercase().parse().unwrap();
        assert_eq!(name, iterator.as_str());
        assert_eq!(number, iterator as usize);
        assert_eq!(Some(iterator), Iterator::from_number(number as u64));
    }
    assert_eq!(None, Iterator::from_number(12));
    assert!("EQUAL".parse::<Iterator>().unwrap_err().to_string().contains("REQ, ALL"));
}
