//! The vote flow: cookie, two tokens, POST, 303, against a small site that insists on them.

mod common;

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Request, Server, all_errors, all_ok, all_wrong};
use load::run::Share;

/// Issues token pairs bound to the visitor's cookie; takes each once and only the newest pair.
#[derive(Default)]
struct Site {
    issued: Mutex<HashSet<String>>,
    votes: [AtomicU64; 2],
    visitors: AtomicU64,
    // The page with this number has no second form.
    broken_page: Option<u64>,
}

impl Site {
    fn answer(&self, stream: &mut TcpStream, request: &Request) -> io::Result<()> {
        let visitor = request.head.lines().find_map(|line| line.strip_prefix("Cookie: visitor="));
        let answer = if request.head.starts_with("POST") {
            self.vote(visitor, &request.body)
        } else {
            self.page(visitor, request.number)
        };
        stream.write_all(answer.as_bytes())
    }

    fn page(&self, visitor: Option<&str>, number: u64) -> String {
        let (visitor, cookie) = if let Some(visitor) = visitor {
            (visitor.to_owned(), String::new())
        } else {
            let new = self.visitors.fetch_add(1, Ordering::SeqCst).to_string();
            let cookie = format!("Set-Cookie: visitor={new}; Path=/; HttpOnly\r\n");
            (new, cookie)
        };
        let tokens = [format!("{number}+/L"), format!("{number}+/R")];
        let mut issued = self.issued.lock().unwrap();
        issued.retain(|known| !known.starts_with(&format!("{visitor}:")));
        issued.extend(tokens.iter().map(|token| format!("{visitor}:{token}")));
        let form =
            |token: &str| format!("<form method=post><input name=token value='{token}'></form>");
        let second =
            if self.broken_page == Some(number) { String::new() } else { form(&tokens[1]) };
        let body = format!("<h1>Which?</h1>{}{second}", form(&tokens[0]));
        format!("HTTP/1.1 200 OK\r\n{cookie}Content-Length: {}\r\n\r\n{body}", body.len())
    }

    fn vote(&self, visitor: Option<&str>, body: &str) -> String {
        let token = body.strip_prefix("token=").unwrap().replace("%2B", "+").replace("%2F", "/");
        let key = format!("{}:{token}", visitor.unwrap_or("nobody"));
        if !self.issued.lock().unwrap().remove(&key) {
            return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_owned();
        }
        self.votes[usize::from(token.ends_with('R'))].fetch_add(1, Ordering::SeqCst);
        "HTTP/1.1 303 See Other\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_owned()
    }

    fn votes(&self) -> [u64; 2] {
        [0, 1].map(|side| self.votes[side].load(Ordering::SeqCst))
    }
}

const SCENARIO: &str = r#"{
  "cookies": true,
  "steps": [
    {"name": "page", "path": "/",
     "expect": {"holes": [["value='", "'"]]},
     "extract": [
       {"name": "left", "after": ["<form", "value='"], "before": "'"},
       {"name": "right", "after": ["<form", "<form", "value='"], "before": "'"}]},
    {"name": "vote", "method": "POST", "path": "/",
     "headers": [["Content-Type", "application/x-www-form-urlencoded"]],
     "body": ["token=${left:form}", "token=${right:form}"],
     "expect": {"status": 303}}]
}"#;

fn start(site: Site) -> (Arc<Site>, Server) {
    let site = Arc::new(site);
    let same = Arc::clone(&site);
    (site, Server::start(move |stream, request| same.answer(stream, &request)))
}

fn load(server: &Server, name: &str, options: &[&str]) -> Share {
    let path: PathBuf = [env!("CARGO_TARGET_TMPDIR"), name].iter().collect();
    fs::write(&path, SCENARIO).unwrap();
    let mut all = vec!["--scenario", path.to_str().unwrap()];
    all.extend(options);
    server.load(&all)
}

fn step_ok(share: &Share, step: usize) -> u64 {
    common::total(share, |tally| tally.steps[step].ok)
}

#[test]
fn every_vote_that_was_confirmed_was_counted_by_the_site() {
    let (site, server) = start(Site::default());
    let share = load(&server, "votes.json", &[]);
    assert_eq!((0, 0), (all_wrong(&share), all_errors(&share)), "{:?}", share.first_wrong);
    let [left, right] = site.votes();
    assert_eq!(left + right, step_ok(&share, 1));
    assert!(left.abs_diff(right) <= 3 && left > 0, "{left} against {right}");
    assert_eq!(3, site.visitors.load(Ordering::SeqCst), "one visitor per connection");
    assert_eq!(server.requests(), all_ok(&share));
}

#[test]
fn a_page_without_its_token_is_wrong_and_the_flow_starts_again() {
    let (site, server) = start(Site { broken_page: Some(22), ..Site::default() });
    // Page 22 begins the twelfth round, whose vote would need the token that is missing.
    let share = load(&server, "broken.json", &["-c", "1"]);
    assert_eq!((1, 0), (all_wrong(&share), all_errors(&share)));
    assert_eq!("page", share.first_wrong.as_ref().unwrap().step);
    assert_eq!(site.votes().iter().sum::<u64>(), step_ok(&share, 1));
    assert!(step_ok(&share, 1) > 20, "it went on");
}

#[test]
fn a_flow_can_be_paced() {
    let (site, server) = start(Site::default());
    let share = load(&server, "paced.json", &["-R", "300", "-d", "0.5"]);
    assert_eq!((150, 0, 0), (all_ok(&share), all_wrong(&share), all_errors(&share)));
    assert_eq!(site.votes().iter().sum::<u64>(), step_ok(&share, 1));
}

#[test]
fn a_flow_cannot_be_pipelined() {
    let (_, server) = start(Site::default());
    let path: PathBuf = [env!("CARGO_TARGET_TMPDIR"), "pipelined.json"].iter().collect();
    fs::write(&path, SCENARIO).unwrap();
    assert!(server.plan(&["--scenario", path.to_str().unwrap(), "-p", "2"]).is_err());
}
