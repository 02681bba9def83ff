//! Request methods (RFC 9110 section 9, RFC 5789).

/// The methods that routing tells apart; any other token is `Other`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Method {
    /// Read a representation.
    #[default]
    Get,
    /// Like GET, answered without content.
    Head,
    /// Process the content.
    Post,
    /// Replace the target.
    Put,
    /// Remove the target.
    Delete,
    /// Open a tunnel.
    Connect,
    /// Ask what is possible.
    Options,
    /// Loop the message back.
    Trace,
    /// Change the target in part.
    Patch,
    /// Any other token; its text is [`Head::method_name`](crate::Head::method_name).
    Other,
}

impl Method {
    /// The method of that exact, case-sensitive name.
    pub fn from_bytes(name: &[u8]) -> Self {
        match name {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"CONNECT" => Self::Connect,
            b"OPTIONS" => Self::Options,
            b"TRACE" => Self::Trace,
            b"PATCH" => Self::Patch,
            _ => Self::Other,
        }
    }

    /// The name on the wire; empty for `Other`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
            Self::Options => "OPTIONS",
            Self::Trace => "TRACE",
            Self::Patch => "PATCH",
            Self::Other => "",
        }
    }

    /// The client asks for nothing to change (RFC 9110 section 9.2.1).
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_comes_back() {
        for name in ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
        {
            assert_eq!(name, Method::from_bytes(name.as_bytes()).as_str());
        }
    }

    #[test]
    fn names_are_case_sensitive_and_whole() {
        for name in ["get", "GE", "GETS", "POSTER", ""] {
            assert_eq!(Method::Other, Method::from_bytes(name.as_bytes()), "{name}");
        }
    }
}
