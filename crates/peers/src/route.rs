//! From (method, path) to a route: a map of static paths, then a tree of segments.
//!
//! In the tree a literal segment wins over the typed ones, in the order of [`Kind`], and those over
//! `{x:path}`; the search goes back when a branch leads nowhere.

use std::borrow::Cow;

use http1::{Method, percent_decode};
use rustc_hash::FxHashMap;

use crate::pattern::{Kind, ParamValue, PatternError, Segment, parse};

/// Where a request leads.
#[derive(Clone, Debug, PartialEq)]
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
    typed: [Option<Box<Node>>; Kind::ALL.len()],
    rest: Option<Resource>,
    here: Option<Resource>,
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
            Some((Segment::Typed(kind), tail)) => {
                self.typed[*kind as usize].get_or_insert_default().place(tail)
            }
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
        for (kind, node) in Kind::ALL.iter().zip(&self.typed) {
            let Some(node) = node else { continue };
            let Some(value) = kind.read(&first) else { continue };
            values.push(value);
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
    fn kinds_of_parameters_are_tried_in_their_order() {
        let patterns = ["/{x}", "/{x:uuid}", "/{x:float}", "/{x:int}"].map(|text| ("GET", text));
        let router = router(&patterns);
        let uuid = "0188f3c2-1234-7abc-8DEF-0123456789ab";
        assert_eq!(Routed::Found(3, vec![ParamValue::Int(7)]), get(&router, "/7"));
        assert_eq!(Routed::Found(2, vec![ParamValue::Float(7.5)]), get(&router, "/7.5"));
        let number = 0x0188_f3c2_1234_7abc_8def_0123_4567_89ab;
        let path = format!("/{uuid}");
        assert_eq!(Routed::Found(1, vec![ParamValue::Uuid(number)]), get(&router, &path));
        assert_eq!(
            Routed::Found(0, vec![text(&uuid[1..])]),
            get(&router, &format!("/{}", &uuid[1..]))
        );
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
        for pattern in ["a", "/{", "/x{y}", "/{a}/{a}", "/{x:path}/y", "/{x:uid}", "/{1}", "/a"] {
            assert!(router.add("GET", pattern, 9).is_err(), "{pattern}");
        }
    }
}
