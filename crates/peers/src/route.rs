//! From (method, path) to a route: a map of static paths, then a tree of segments.
//!
//! In the tree a literal segment wins over `{x:int}`, that over `{x}`, and that over `{x:path}`;
//! the search goes back when a branch leads nowhere.

use std::borrow::Cow;

use http1::{Method, percent_decode};
use rustc_hash::FxHashMap;

/// A path parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamValue {
    /// `{x}` and `{x:path}`: percent-decoded bytes.
    Text(Vec<u8>),
    /// `{x:int}`.
    Int(i64),
}

/// Where a request leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routed {
    /// A route and its parameters in the order of the pattern.
    Found(u32, Vec<ParamValue>),
    /// The path exists, but not for this method; the value of `Allow`.
    NotAllowed(String),
    /// An OPTIONS request that no route wants; the value of `Allow`.
    Options(String),
    /// No such path.
    NotFound,
}

/// Why a pattern was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(pub String);

/// All routes of one application.
#[derive(Debug, Default)]
pub struct Router {
    statics: FxHashMap<Vec<u8>, Resource>,
    root: Node,
}

#[derive(Clone, Debug, Default)]
struct Resource {
    /// A handful of methods: searched in order.
    routes: Vec<(Vec<u8>, u32)>,
}

#[derive(Debug, Default)]
struct Node {
    literals: FxHashMap<Vec<u8>, Node>,
    int: Option<Box<Node>>,
    text: Option<Box<Node>>,
    rest: Option<Resource>,
    here: Option<Resource>,
}

enum Segment<'a> {
    Literal(&'a str),
    Int,
    Text,
    Rest,
}

impl Router {
    /// Add a route; tells the names of its parameters.
    pub fn add(
        &mut self,
        method: &str,
        pattern: &str,
        route: u32,
    ) -> Result<Vec<String>, PatternError> {
        let (segments, names) = parse(pattern)?;
        let resource = self.root.place(&segments);
        if resource.routes.iter().any(|(known, _)| known == method.as_bytes()) {
            return Err(PatternError(format!("{method} {pattern} is routed already")));
        }
        resource.routes.push((method.as_bytes().to_vec(), route));
        if names.is_empty() {
            self.statics.insert(pattern.as_bytes().to_vec(), resource.clone());
        }
        Ok(names)
    }

    /// Find the route of a request; `path` is raw, without the query.
    #[inline]
    pub fn find(&self, method: Method, name: &[u8], path: &[u8]) -> Routed {
        if let Some(resource) = self.statics.get(path) {
            return resource.choose(method, name, Vec::new());
        }
        self.find_in_tree(method, name, path)
    }

    fn find_in_tree(&self, method: Method, name: &[u8], path: &[u8]) -> Routed {
        let Some(path) = path.strip_prefix(b"/") else {
            return if path == b"*" && method == Method::Options {
                Routed::Options("GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE".into())
            } else {
                Routed::NotFound
            };
        };
        let segments: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let mut values = Vec::new();
        match self.root.find(&segments, &mut values) {
            Some(resource) => resource.choose(method, name, values),
            None => Routed::NotFound,
        }
    }
}

impl Resource {
    #[inline]
    fn choose(&self, method: Method, name: &[u8], values: Vec<ParamValue>) -> Routed {
        let exact = self.routes.iter().find(|(known, _)| known == name);
        let found = exact.or_else(|| match method {
            Method::Head => self.routes.iter().find(|(known, _)| known == b"GET"),
            _ => None,
        });
        match found {
            Some((_, route)) => Routed::Found(*route, values),
            None if method == Method::Options => Routed::Options(self.allow()),
            None => Routed::NotAllowed(self.allow()),
        }
    }

    /// The value of the `Allow` field.
    fn allow(&self) -> String {
        let mut names: Vec<Cow<'_, str>> =
            self.routes.iter().map(|(name, _)| String::from_utf8_lossy(name)).collect();
        let gets = names.iter().any(|name| name == "GET");
        for (name, add) in [("HEAD", gets), ("OPTIONS", true)] {
            if add && !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
        names.join(", ")
    }
}

impl Node {
    /// The resource of a pattern, made if it is new.
    fn place(&mut self, segments: &[Segment<'_>]) -> &mut Resource {
        match segments.split_first() {
            None => self.here.get_or_insert_default(),
            Some((Segment::Rest, _)) => self.rest.get_or_insert_default(),
            Some((Segment::Literal(text), tail)) => {
                self.literals.entry(text.as_bytes().to_vec()).or_default().place(tail)
            }
            Some((Segment::Int, tail)) => self.int.get_or_insert_default().place(tail),
            Some((Segment::Text, tail)) => self.text.get_or_insert_default().place(tail),
        }
    }

    fn find(&self, segments: &[&[u8]], values: &mut Vec<ParamValue>) -> Option<&Resource> {
        let Some((first, tail)) = segments.split_first() else {
            return self.here.as_ref();
        };
        let first = percent_decode(first, false);
        let mark = values.len();
        if let Some(found) = self.literals.get(&*first).and_then(|node| node.find(tail, values)) {
            return Some(found);
        }
        if let (Some(node), Some(number)) = (&self.int, integer(&first)) {
            values.push(ParamValue::Int(number));
            if let Some(found) = node.find(tail, values) {
                return Some(found);
            }
            values.truncate(mark);
        }
        if let Some(node) = self.text.as_ref().filter(|_| !first.is_empty()) {
            values.push(ParamValue::Text(first.to_vec()));
            if let Some(found) = node.find(tail, values) {
                return Some(found);
            }
            values.truncate(mark);
        }
        let rest = self.rest.as_ref()?;
        values.push(ParamValue::Text(percent_decode(&segments.join(&b'/'), false).into_owned()));
        Some(rest)
    }
}

/// `-?[0-9]+` within 64 bits; anything else is text.
fn integer(segment: &[u8]) -> Option<i64> {
    if segment.first() == Some(&b'+') {
        return None;
    }
    std::str::from_utf8(segment).ok()?.parse().ok()
}

fn parse(pattern: &str) -> Result<(Vec<Segment<'_>>, Vec<String>), PatternError> {
    let Some(path) = pattern.strip_prefix('/') else {
        return Err(PatternError(format!("the pattern {pattern:?} must begin with '/'")));
    };
    let mut names = Vec::new();
    let mut segments = Vec::new();
    let parts: Vec<&str> = path.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        let segment = match part.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(inner) => {
                let (name, kind) = inner.split_once(':').unwrap_or((inner, "str"));
                add_name(pattern, name, &mut names)?;
                segment_of(pattern, kind, index + 1 == parts.len())?
            }
            None if part.contains(['{', '}']) => {
                let text = format!("in {pattern:?} a parameter must be a whole segment: {part:?}");
                return Err(PatternError(text));
            }
            None => Segment::Literal(part),
        };
        segments.push(segment);
    }
    Ok((segments, names))
}

fn add_name(pattern: &str, name: &str, names: &mut Vec<String>) -> Result<(), PatternError> {
    let mut letters = name.chars();
    let good = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_');
    if !good {
        return Err(PatternError(format!("{name:?} in {pattern:?} is not a parameter name")));
    }
    if names.iter().any(|known| known == name) {
        return Err(PatternError(format!("{name:?} stands twice in {pattern:?}")));
    }
    names.push(name.to_owned());
    Ok(())
}

fn segment_of(pattern: &str, kind: &str, last: bool) -> Result<Segment<'static>, PatternError> {
    match kind {
        "str" => Ok(Segment::Text),
        "int" => Ok(Segment::Int),
        "path" if last => Ok(Segment::Rest),
        "path" => Err(PatternError(format!("in {pattern:?} a path parameter must come last"))),
        _ => Err(PatternError(format!(
            "{kind:?} in {pattern:?} is not a parameter type: use str, int or path"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn router(patterns: &[(&str, &str)]) -> Router {
        let mut router = Router::default();
        for (route, (method, pattern)) in (0..).zip(patterns) {
            router.add(method, pattern, route).expect("a good pattern");
        }
        router
    }

    fn get(router: &Router, path: &str) -> Routed {
        router.find(Method::Get, b"GET", path.as_bytes())
    }

    fn text(value: &str) -> ParamValue {
        ParamValue::Text(value.as_bytes().to_vec())
    }

    #[test]
    fn the_most_specific_pattern_wins_whatever_the_order() {
        let patterns = [("GET", "/{x:path}"), ("GET", "/{x}"), ("GET", "/{x:int}"), ("GET", "/a")];
        let router = router(&patterns);
        assert_eq!(Routed::Found(3, vec![]), get(&router, "/a"));
        assert_eq!(Routed::Found(2, vec![ParamValue::Int(-5)]), get(&router, "/-5"));
        assert_eq!(Routed::Found(1, vec![text("b c")]), get(&router, "/b%20c"));
        assert_eq!(Routed::Found(0, vec![text("b/c")]), get(&router, "/b/c"));
        assert_eq!(Routed::Found(3, vec![]), get(&router, "/%61"));
    }

    #[test]
    fn an_encoded_slash_does_not_split() {
        let router = router(&[("GET", "/x/{name}")]);
        assert_eq!(Routed::Found(0, vec![text("a/b")]), get(&router, "/x/a%2Fb"));
        assert_eq!(Routed::NotFound, get(&router, "/x/a/b"));
        assert_eq!(Routed::NotFound, get(&router, "/x/"));
    }

    #[test]
    fn goes_back_when_a_branch_leads_nowhere() {
        let router = router(&[("GET", "/a/b"), ("GET", "/{x}/c")]);
        assert_eq!(Routed::Found(1, vec![text("a")]), get(&router, "/a/c"));
    }

    #[test]
    fn tells_which_methods_are_allowed() {
        let router = router(&[("GET", "/a"), ("POST", "/a")]);
        let allow = "GET, POST, HEAD, OPTIONS".to_owned();
        assert_eq!(Routed::NotAllowed(allow.clone()), router.find(Method::Put, b"PUT", b"/a"));
        assert_eq!(Routed::Options(allow), router.find(Method::Options, b"OPTIONS", b"/a"));
        assert_eq!(Routed::Found(0, vec![]), router.find(Method::Head, b"HEAD", b"/a"));
    }

    #[test]
    fn refuses_bad_patterns() {
        let mut router = router(&[("GET", "/a")]);
        for pattern in ["a", "/{", "/x{y}", "/{a}/{a}", "/{x:path}/y", "/{x:uuid}", "/{1}", "/a"] {
            assert!(router.add("GET", pattern, 9).is_err(), "{pattern}");
        }
    }
}
