//! Where requests go: `http://host[:port]/path?query`, resolved once.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

/// A parsed and resolved address of the server under load.
#[derive(Clone, Debug)]
pub struct Target {
    /// The first address the host resolves to.
    pub address: SocketAddr,
    /// What the `Host` field says.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
}

/// Why an URL cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum TargetError {
    /// Only plain `http://` is spoken.
    Scheme(String),
    /// The host is missing, has a bad port, or holds characters an URL cannot have.
    Syntax(String),
    /// The host does not resolve.
    Resolve(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(url) => write!(f, "{url}: only http:// URLs can be loaded"),
            Self::Syntax(url) => write!(f, "{url}: not a URL of the form http://host[:port]/path"),
            Self::Resolve(host) => write!(f, "{host}: host name does not resolve"),
        }
    }
}

impl std::error::Error for TargetError {}

impl Target {
    /// Parses and resolves; a fragment is refused, userinfo too.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let rest =
            url.strip_prefix("http://").ok_or_else(|| TargetError::Scheme(url.to_owned()))?;
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        let bad = |c: char| c.is_whitespace() || c.is_control() || c == '#' || c == '@';
        if authority.is_empty() || rest.contains(bad) {
            return Err(TargetError::Syntax(url.to_owned()));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let address = resolve(authority, url)?;
        Ok(Self { address, authority: authority.to_owned(), path })
    }
}

fn resolve(authority: &str, url: &str) -> Result<SocketAddr, TargetError> {
    let port = match authority.rsplit_once(':') {
        Some((_, digits)) if !digits.contains(']') => {
            Some(digits.parse::<u16>().map_err(|_| TargetError::Syntax(url.to_owned()))?)
        }
        _ => None,
    };
    let full = if port.is_some() { authority.to_owned() } else { format!("{authority}:80") };
    let mut found =
        full.to_socket_addrs().map_err(|_| TargetError::Resolve(authority.to_owned()))?;
    found.next().ok_or_else(|| TargetError::Resolve(authority.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_an_address_apart() {
        let target = Target::parse("http://127.0.0.1:8080/good?page=2").unwrap();
        assert_eq!("127.0.0.1:8080", target.authority);
        assert_eq!("127.0.0.1:8080", target.address.to_string());
        assert_eq!("/good?page=2", target.path);
    }

    #[test]
    fn fills_in_path_and_port() {
        let target = Target::parse("http://127.0.0.1").unwrap();
        assert_eq!(("/", 80), (target.path.as_str(), target.address.port()));
        assert_eq!("/?a=1", Target::parse("http://[::1]?a=1").unwrap().path);
        assert_eq!(81, Target::parse("http://[::1]:81/").unwrap().address.port());
    }

    #[test]
    fn refuses_what_it_cannot_speak() {
        for url in ["https://127.0.0.1/", "127.0.0.1:80", "http://", "http:///x"] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        for url in ["http://a:b/", "http://127.0.0.1/a b", "http://127.0.0.1:80/#top"] {
            assert_eq!(TargetError::Syntax(url.to_owned()), Target::parse(url).unwrap_err());
        }
    }
}
