//! The request vectors through a connection: whole, cut in two, and byte by byte, all the same.

mod support;

use std::path::Path;

use peers::Router;
use serde::Deserialize;
use support::site::Site;

#[derive(Deserialize)]
struct File {
    vector: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    input: String,
    path: Option<String>,
    #[serde(default)]
    body: String,
    status: Option<u16>,
}

/// All that can be seen of a connection from outside.
#[derive(PartialEq, Debug)]
struct Course {
    requests: Vec<(String, Vec<u8>, Vec<u8>)>,
    text: String,
}

fn vectors(folder: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/http1").join(folder);
    let mut vectors = Vec::new();
    for entry in std::fs::read_dir(&path).expect("the vectors are in the checkout") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let file: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        vectors.extend(file.vector);
    }
    assert!(vectors.len() > 50, "only {} vectors in {folder}", vectors.len());
    vectors
}

/// A character stands for the byte of its number.
fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).expect("a byte")).collect()
}

/// Feed these pieces, end the client's half, and look at what became of it all.
fn course(site: &mut Site, pieces: &[&[u8]]) -> Course {
    site.seen.clear();
    let mut client = site.client();
    for piece in pieces {
        client.try_send(piece);
        site.settle();
    }
    client.finish();
    site.end(&mut client);
    assert_eq!((0, 0), (site.server().running, site.server().connections));
    let request =
        |seen: &support::site::Seen| (seen.path(), seen.data.bytes.clone(), seen.data.body.clone());
    // Leave to go on is given only to a client that still has something to send.
    let text = client.text.replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    Course { requests: site.seen.iter().map(request).collect(), text }
}

fn every_way(site: &mut Site, name: &str, input: &[u8]) -> Course {
    let whole = course(site, &[input]);
    // Long inputs are about limits: where they are cut matters less, and there are many places.
    let step = 1 + input.len() / 400;
    for place in (1..input.len()).step_by(step) {
        let (first, second) = input.split_at(place);
        assert_eq!(whole, course(site, &[first, second]), "{name}: cut at {place}");
    }
    let single: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(whole, course(site, &single), "{name}: byte by byte");
    whole
}

/// Everything goes to the driver.
fn open_site() -> Site {
    Site::new(|server| server.router = Router::default())
}

#[test]
fn what_is_to_be_accepted_is_handed_out_the_same_however_it_comes() {
    let mut site = open_site();
    for vector in vectors("accept") {
        let input = bytes(&vector.input);
        let course = every_way(&mut site, &vector.name, &input);
        let asterisk = vector.path.as_deref() == Some("*");
        if asterisk && course.text.starts_with("HTTP/1.1 204 ") {
            continue;
        }
        let Some((path, head, body)) = course.requests.first() else {
            panic!("{}: nothing was handed out: {}", vector.name, course.text);
        };
        let expected = bytes(vector.path.as_deref().unwrap_or("/"));
        assert_eq!(&String::from_utf8_lossy(&expected), path, "{}", vector.name);
        assert_eq!(&bytes(&vector.body), body, "{}", vector.name);
        assert!(input.starts_with(head), "{}", vector.name);
    }
}

#[test]
fn what_is_to_be_refused_is_never_handed_out_and_is_told_why() {
    let mut site = open_site();
    for vector in vectors("refuse") {
        let course = every_way(&mut site, &vector.name, &bytes(&vector.input));
        assert!(course.requests.is_empty(), "{} was handed out", vector.name);
        let expected = format!("HTTP/1.1 {} ", vector.status.unwrap_or(400));
        assert!(course.text.contains(&expected), "{}: {}", vector.name, course.text);
        assert!(course.text.contains("Connection: close\r\n"), "{}: {}", vector.name, course.text);
    }
}
