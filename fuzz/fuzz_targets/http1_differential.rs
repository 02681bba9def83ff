//! Invariant: of the same bytes, hyper and actix read no other requests than we do. They may take
//! requests that we refuse, never the other way round, and where both take one, its method,
//! target and body are the same: nobody can hide a request between us and a proxy like them.

#![no_main]

use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use actix_http::ServiceConfig;
use actix_http::h1::{Codec, Message, MessageType};
use bytes::BytesMut;
use http_body_util::{BodyExt, Empty};
use http1::{Chunked, Framing, Head, Limits, Progress};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use libfuzzer_sys::fuzz_target;
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tokio_util::codec::Decoder;

thread_local! {
    /// Where the others run; actix has its date told by a task, and its settings outlive one input.
    static OTHERS: (Runtime, LocalSet, OnceCell<ServiceConfig>) =
        (Builder::new_current_thread().enable_time().build().expect("a runtime"), LocalSet::new(), OnceCell::new());
}

/// One request as whoever handles it would see it.
#[derive(Clone, Debug)]
struct Seen {
    method: String,
    target: String,
    body: Vec<u8>,
    /// RFC 9112 allows it, and yet others may refuse it.
    odd: bool,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        (&self.method, &self.target, &self.body) == (&other.method, &other.target, &other.body)
    }
}

/// How a reading of the bytes ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// More bytes are needed.
    Open,
    Refused,
    /// The last request said that nothing follows.
    Closed,
    /// The last request asked for another protocol.
    Switched,
}

fuzz_target!(|input: &[u8]| {
    let (mut ours, end) = read_by_us(input);
    if end == End::Switched {
        // Whose the bytes behind its head are is no longer a question of this protocol.
        ours.pop();
    }
    for (name, mut theirs) in [("hyper", read_by_hyper(input)), ("actix", read_by_actix(input))] {
        if end == End::Switched {
            theirs.truncate(ours.len());
        }
        let shared = ours.len().min(theirs.len());
        assert_eq!(ours[..shared], theirs[..shared], "{name} reads other requests");
        if theirs.len() > ours.len() {
            assert_ne!(End::Open, end, "{name} has read what we wait for: {:?}", theirs[shared]);
        }
        if let Some(only_ours) = ours.get(shared) {
            assert!(only_ours.odd, "{name} does not take what we took: {only_ours:?}");
        }
    }
});

fn read_by_us(input: &[u8]) -> (Vec<Seen>, End) {
    let limits = Limits { body_bytes: 1 << 20, ..Limits::default() };
    let (mut seen, mut rest) = (Vec::new(), input);
    loop {
        let mut head = Head::default();
        match head.parse(rest, &limits) {
            Ok(Progress::Complete) => {}
            Ok(Progress::Partial) => return (seen, End::Open),
            Err(_) => return (seen, End::Refused),
        }
        let bytes = rest;
        rest = &rest[head.len..];
        let (mut body, mut many_trailers) = (Vec::new(), false);
        match head.framing {
            Framing::None => {}
            Framing::Length(length) => {
                let Some((taken, left)) = rest.split_at_checked(usize::try_from(length).unwrap())
                else {
                    return (seen, End::Open);
                };
                body.extend_from_slice(taken);
                rest = left;
            }
            Framing::Chunked => match Chunked::new(limits.body_bytes).decode(rest, &mut body) {
                Ok(decoded) if decoded.done => {
                    let (coded, left) = rest.split_at(decoded.consumed);
                    many_trailers = coded.iter().filter(|&&byte| byte == b'\n').count() > 90;
                    rest = left;
                }
                Ok(_) => return (seen, End::Open),
                Err(_) => return (seen, End::Refused),
            },
        }
        let method = String::from_utf8_lossy(head.method_name.of(bytes)).into_owned();
        let target = String::from_utf8_lossy(head.target.of(bytes)).into_owned();
        // For actix the option alone is enough.
        let option = head.fields.iter().any(|field| {
            field.name.of(bytes).eq_ignore_ascii_case(b"connection")
                && field
                    .value
                    .of(bytes)
                    .to_ascii_lowercase()
                    .windows(7)
                    .any(|word| word == b"upgrade")
        });
        let switched = method == "CONNECT" || option || head.field(bytes, "upgrade").is_some();
        let version = bytes
            [head.target.of(bytes).as_ptr_range().end.addr() - bytes.as_ptr().addr()..]
            .get(..9);
        // The others hold targets as parsed URIs, know two versions, not every sign of a method,
        // and fewer fields.
        let uri = target.parse::<hyper::Uri>().map(|uri| uri.to_string());
        // And actix wants old clients to say that there is nothing where it expects something.
        let bare = head.framing == Framing::None && version == Some(b" HTTP/1.0");
        let odd = uri.is_err()
            || bare
            || head.fields.len() > 96
            || many_trailers
            || !method.bytes().all(|byte| byte.is_ascii_alphabetic())
            || !matches!(version, Some(b" HTTP/1.1" | b" HTTP/1.0"));
        seen.push(Seen { method, target: uri.unwrap_or(target), body, odd });
        if switched {
            return (seen, End::Switched);
        }
        if !head.keep_alive {
            return (seen, End::Closed);
        }
    }
}

fn read_by_actix(input: &[u8]) -> Vec<Seen> {
    let mut codec = OTHERS.with(|(runtime, tasks, config)| {
        let config =
            config.get_or_init(|| tasks.block_on(runtime, async { ServiceConfig::default() }));
        Codec::new(config.clone())
    });
    let mut bytes = BytesMut::from(input);
    let mut seen: Vec<Seen> = Vec::new();
    let mut current: Option<Seen> = None;
    while let Ok(Some(message)) = codec.decode(&mut bytes) {
        match message {
            Message::Item(request) => {
                let one = Seen {
                    method: request.method().as_str().to_owned(),
                    target: request.uri().to_string(),
                    body: Vec::new(),
                    odd: false,
                };
                match codec.message_type() {
                    MessageType::None => seen.push(one),
                    MessageType::Payload => current = Some(one),
                    MessageType::Stream => {
                        seen.push(one);
                        break;
                    }
                }
                if !codec.keep_alive() && current.is_none() {
                    break;
                }
            }
            Message::Chunk(Some(chunk)) => {
                if let Some(current) = &mut current {
                    current.body.extend_from_slice(&chunk);
                }
            }
            Message::Chunk(None) => {
                seen.extend(current.take());
                if !codec.keep_alive() {
                    break;
                }
            }
        }
    }
    seen
}

fn read_by_hyper(input: &[u8]) -> Vec<Seen> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let record = Arc::clone(&record);
        async move {
            let (head, body) = request.into_parts();
            if let Ok(body) = body.collect().await {
                record.lock().expect("one thread").push(Seen {
                    method: head.method.as_str().to_owned(),
                    target: head.uri.to_string(),
                    body: body.to_bytes().to_vec(),
                    odd: false,
                });
            }
            Ok::<_, Infallible>(hyper::Response::new(Empty::<Bytes>::new()))
        }
    });
    OTHERS.with(|(runtime, _, _)| {
        runtime.block_on(async {
            let (mut client, theirs) = tokio::io::duplex(1 << 20);
            client.write_all(input).await.expect("it is large enough");
            client.shutdown().await.expect("it is open");
            // Whether the connection ends well is not the question.
            let _ = server::Builder::new()
                .half_close(true)
                .serve_connection(TokioIo::new(theirs), service)
                .await;
        })
    });
    let seen = seen.lock().expect("one thread").clone();
    seen
}
