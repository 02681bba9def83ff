//! The program as it is run: reports, exit status, the null server.

#![expect(clippy::float_cmp, reason = "the numbers compared are whole counts")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};

use common::{Server, ok};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tarmac-load");

fn tarmac_load(options: &[&str]) -> Output {
    Command::new(PROGRAM).args(options).output().unwrap()
}

struct NullServer {
    process: Child,
    url: String,
}

impl NullServer {
    fn start() -> Self {
        let mut process = Command::new(PROGRAM)
            .args(["serve-null", "--port", "0", "--duration", "60"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { process, url }
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn the_json_report_is_consistent() {
    let server = NullServer::start();
    let output = tarmac_load(&[
        "--json",
        "--ndjson-progress",
        "--warmup",
        "0.2",
        "-d",
        "1.2",
        "-c",
        "10",
        "-p",
        "4",
        &server.url,
    ]);
    assert_eq!(Some(0), output.status.code(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap();
    assert!(number("/requests") > 0.0);
    assert_eq!(number("/requests"), number("/ok"));
    assert_eq!(number("/requests"), number("/latency_ns/count"));
    let sum = |path: &str, part: &str| -> f64 {
        let list = report.pointer(path).unwrap().as_array().unwrap();
        list.iter().map(|item| item.pointer(part).unwrap().as_f64().unwrap()).sum()
    };
    assert_eq!(number("/requests"), sum("/latency_ns/histogram", "/1"));
    assert_eq!(number("/requests"), sum("/series", "/requests"));
    assert!((number("/rps") - number("/requests") / number("/seconds")).abs() < 1.0);
    assert!(number("/latency_ns/p50") <= number("/latency_ns/p99"));
    assert!(number("/cpu/saturation") > 0.0 && number("/cpu/saturation") <= 1.01);
    assert_eq!(Some(4), report.pointer("/params/depth").and_then(Value::as_u64));
    assert_eq!(Some(13), report.pointer("/steps/0/learned/length").and_then(Value::as_u64));
    let lines: Vec<Value> = output.stderr.lines().map(|it| parse(&it.unwrap())).collect();
    let phases: Vec<&str> = lines.iter().map(|it| it["phase"].as_str().unwrap()).collect();
    assert_eq!(["warmup", "measure", "measure"].as_slice(), phases);
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_learned_hash_can_be_given_to_the_next_run() {
    let server = NullServer::start();
    let quick = ["--json", "--warmup", "0", "-d", "0.1", "-c", "2"];
    let run = |options: &[&str]| tarmac_load(&[&quick, options, &[server.url.as_str()]].concat());
    let report = parse(&String::from_utf8(run(&[]).stdout).unwrap());
    let hash = report["steps"][0]["learned"]["hash"].as_str().unwrap();
    assert_eq!(Some(0), run(&["--expect-hash", hash]).status.code());
    assert_eq!(Some(4), run(&["--expect-hash", "0123456789abcdef"]).status.code());
}

#[test]
fn the_exit_status_tells_wrong_from_unanswered() {
    let quick = ["--warmup", "0", "-d", "0.2", "-c", "1"];
    let status = |url: &str| tarmac_load(&[&quick[..], &[url]].concat()).status.code();
    let wrong = Server::start(|stream, request| {
        stream.write_all(ok(&format!("{:03}", request.number.min(999))).as_bytes())
    });
    assert_eq!(Some(4), status(&wrong.url()));
    let dropping = Server::start(|stream, request| {
        if request.number % 2 == 1 {
            return Err(std::io::ErrorKind::Other.into());
        }
        stream.write_all(ok("hello").as_bytes())
    });
    assert_eq!(Some(3), status(&dropping.url()));
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(Some(1), status(&format!("http://{nobody}/")));
    assert_eq!(Some(2), status("https://127.0.0.1/"));
    assert_eq!(Some(2), tarmac_load(&[]).status.code());
}

#[test]
fn the_summary_shows_the_first_wrong_answer() {
    let server = Server::start(|stream, request| {
        stream.write_all(ok(if request.number < 5 { "hello" } else { "hallo" }).as_bytes())
    });
    let output = tarmac_load(&["--warmup", "0", "-d", "0.2", "-c", "1", &server.url()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("requests/s") && text.contains("p99.9"), "{text}");
    assert!(text.contains("body differs from byte 1") && text.contains("hallo"), "{text}");
}

#[test]
fn thousands_of_connections_are_made_and_used() {
    let server = NullServer::start();
    let output =
        tarmac_load(&["--json", "--warmup", "0.5", "-d", "0.5", "-c", "3000", &server.url]);
    assert_eq!(Some(0), output.status.code(), "{output:?}");
    let report = parse(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(Some(3000), report["connections_opened"].as_u64());
    assert!(report["requests"].as_u64().unwrap() > 3000);
}

#[test]
fn help_has_examples() {
    let text = String::from_utf8(tarmac_load(&["--help"]).stdout).unwrap();
    assert!(text.contains("Examples:") && text.contains("tarmac-load -R 20000"), "{text}");
}
