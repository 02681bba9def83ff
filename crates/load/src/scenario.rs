//! The scenario file: a flow of requests in JSON, turned into steps.

use serde::Deserialize;

use crate::check::{Expect, Level};
use crate::holes::Hole;
use crate::plan::{Extract, PlanError, Recipe, Step};
use crate::text::{Names, Text};

/// A scenario as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Visitors keep cookies.
    #[serde(default)]
    pub cookies: bool,
    /// One request after another; behind the last the first comes again.
    pub steps: Vec<StepSource>,
}

/// One request as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSource {
    /// For reports; the request line if missing.
    #[serde(default)]
    pub name: Option<String>,
    /// `GET` if missing.
    #[serde(default)]
    pub method: Option<String>,
    /// Path and query.
    pub path: String,
    /// Header fields in order.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// One body, or several used in turn.
    #[serde(default)]
    pub body: OneOrMany,
    /// What the answer must be.
    #[serde(default)]
    pub expect: ExpectSource,
    /// Values for later steps.
    #[serde(default)]
    pub extract: Vec<ExtractSource>,
}

/// `"x"` or `["x", "y"]`.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// Nothing.
    #[default]
    None,
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// Expectations as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExpectSource {
    /// Status.
    pub status: u16,
    /// Exact length.
    pub length: Option<usize>,
    /// Template hash in hexadecimal.
    pub hash: Option<String>,
    /// Exact body, except for the holes.
    pub body: Option<String>,
    /// Start and end markers.
    pub holes: Vec<(String, String)>,
    /// What is learned from the first answer.
    pub check: Level,
}

impl Default for ExpectSource {
    fn default() -> Self {
        Self {
            status: 200,
            length: None,
            hash: None,
            body: None,
            holes: Vec::new(),
            check: Level::default(),
        }
    }
}

/// A value to take as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtractSource {
    /// Used as `${name}`.
    pub name: String,
    /// Text before it; several are looked for one behind the other.
    pub after: OneOrMany,
    /// Text behind it.
    pub before: String,
}

impl OneOrMany {
    fn into_vec(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

impl Scenario {
    /// Reads the JSON text.
    pub fn parse(json: &str) -> Result<Self, PlanError> {
        serde_json::from_str(json).map_err(|error| PlanError(format!("scenario: {error}")))
    }

    /// Compiles the steps for a host; also returns how many values a visitor holds.
    pub fn compile(
        self,
        authority: &str,
        keep_alive: bool,
    ) -> Result<(Vec<Step>, usize), PlanError> {
        let mut names = Names::default();
        for extract in self.steps.iter().flat_map(|step| &step.extract) {
            names.define(&extract.name);
        }
        let cookies = self.cookies;
        let compile = |step: StepSource| step.compile(authority, keep_alive, cookies, &names);
        let steps = self.steps.into_iter().map(compile).collect::<Result<_, _>>()?;
        Ok((steps, names.len()))
    }
}

impl StepSource {
    fn compile(
        self,
        authority: &str,
        keep_alive: bool,
        cookies: bool,
        names: &Names,
    ) -> Result<Step, PlanError> {
        let method = self.method.unwrap_or_else(|| "GET".to_owned());
        let name = self.name.unwrap_or_else(|| format!("{method} {}", self.path));
        let fail = |reason: String| PlanError(format!("step {name:?}: {reason}"));
        let text =
            |source: &str| Text::parse(source, names).map_err(|error| fail(error.to_string()));
        check_line(&method, "method").map_err(&fail)?;
        check_line(&self.path, "path").map_err(&fail)?;
        let mut fields = vec![("Host".to_owned(), text(authority)?)];
        if !keep_alive {
            fields.push(("Connection".to_owned(), text("close")?));
        }
        for (field, value) in &self.headers {
            check_field(field, value).map_err(&fail)?;
            if field.eq_ignore_ascii_case("host") {
                fields[0].1 = text(value)?;
            } else {
                fields.push((field.clone(), text(value)?));
            }
        }
        let bodies =
            self.body.into_vec().iter().map(|body| text(body)).collect::<Result<_, _>>()?;
        let recipe = Recipe { method: method.clone(), path: text(&self.path)?, fields, bodies };
        let expect = self.expect.compile().map_err(&fail)?;
        let extracts = self
            .extract
            .into_iter()
            .map(|extract| extract.compile(names).map_err(&fail))
            .collect::<Result<_, _>>()?;
        let method = http1::Method::from_bytes(method.as_bytes());
        Ok(Step { name, method, request: recipe.freeze(cookies), expect, extracts })
    }
}

impl ExpectSource {
    fn compile(self) -> Result<Expect, String> {
        let hash = match self.hash.as_deref().map(|hex| u64::from_str_radix(hex, 16)) {
            None => None,
            Some(Ok(hash)) => Some(hash),
            Some(Err(_)) => return Err("the hash is not a hexadecimal number".to_owned()),
        };
        let hole = |(start, end): &(String, String)| {
            Hole::new(start.as_bytes(), end.as_bytes()).ok_or("a hole's marker is empty")
        };
        let holes = self.holes.iter().map(hole).collect::<Result<_, _>>()?;
        let mut expect =
            Expect::new(self.status, self.body.as_deref().map(str::as_bytes), holes, self.check);
        expect.length = self.length;
        expect.hash = hash;
        Ok(expect)
    }
}

impl ExtractSource {
    fn compile(self, names: &Names) -> Result<Extract, String> {
        let after: Vec<Vec<u8>> =
            self.after.into_vec().into_iter().map(String::into_bytes).collect();
        if after.is_empty() || after.iter().any(Vec::is_empty) || self.before.is_empty() {
            return Err(format!("the markers of {:?} must not be empty", self.name));
        }
        let slot = names.find(&self.name).expect("all names are defined before");
        Ok(Extract { name: self.name, slot, after, before: self.before.into_bytes() })
    }
}

fn check_line(text: &str, what: &str) -> Result<(), String> {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    if text.is_empty() || text.contains(bad) {
        return Err(format!("{what} {text:?} is empty or holds blanks"));
    }
    Ok(())
}

fn check_field(name: &str, value: &str) -> Result<(), String> {
    const OWN: [&str; 3] = ["content-length", "transfer-encoding", "connection"];
    check_line(name, "field name")?;
    if value.contains(['\r', '\n', '\0']) || name.contains(':') {
        return Err(format!("field {name:?} would break the request"));
    }
    if OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(format!("field {name:?} is written by the generator itself"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Request;

    fn compile(json: &str) -> Result<Vec<Step>, PlanError> {
        Scenario::parse(json)?.compile("h:1", true).map(|(steps, _)| steps)
    }

    #[test]
    fn a_plain_step_becomes_fixed_bytes() {
        let steps = compile(
            r#"{"steps": [{"method": "POST", "path": "/x", "headers": [["A", "b"]], "body": "hi"}]}"#,
        )
        .unwrap();
        let Request::Static(bytes) = &steps[0].request else { panic!("not static") };
        let expected = b"POST /x HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(expected.as_slice(), bytes.as_slice());
        assert_eq!("POST /x", steps[0].name);
    }

    #[test]
    fn a_flow_is_made_anew_each_time() {
        let steps = compile(
            r#"{"cookies": true, "steps": [
                {"path": "/", "extract": [{"name": "t", "after": ["<form", "\""], "before": "\""}]},
                {"path": "/", "method": "POST", "body": ["t=${t:form}", "u=${t}"],
                 "expect": {"status": 303}}]}"#,
        )
        .unwrap();
        assert!(steps.iter().all(|step| matches!(step.request, Request::Dynamic(_))));
        assert_eq!(303, steps[1].expect.status);
        assert_eq!(2, steps[0].extracts[0].after.len());
    }

    #[test]
    fn refuses_what_would_break_requests() {
        for json in [
            r#"{"steps": [{"path": "/", "unknown": 1}]}"#,
            r#"{"steps": [{"path": "/a b"}]}"#,
            r#"{"steps": [{"path": "/", "headers": [["A", "b\r\nC: d"]]}]}"#,
            r#"{"steps": [{"path": "/", "headers": [["Content-Length", "3"]]}]}"#,
            r#"{"steps": [{"path": "/${missing}"}]}"#,
            r#"{"steps": [{"path": "/", "expect": {"holes": [["", "x"]]}}]}"#,
            r#"{"steps": [{"path": "/", "expect": {"hash": "xyz"}}]}"#,
            r#"{"steps": [{"path": "/", "extract": [{"name": "a", "after": "", "before": "b"}]}]}"#,
        ] {
            assert!(compile(json).is_err(), "{json}");
        }
    }
}
