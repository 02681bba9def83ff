//! Counters of one server, in one row of numbers whose names are Prometheus samples.

use http1::{Method, RefusalKind};

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];
pub(super) const HEAD: usize = 1;
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Upper bounds of the histogram, in microseconds.
const BOUNDS: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];
const BOUND_NAMES: [&str; 17] = [
    "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
    "0.25", "0.5", "1", "2.5", "5", "10", "+Inf",
];
/// What a message is refused for, as counted.
pub const REFUSALS: [&str; 10] = [
    "syntax",
    "target",
    "version",
    "host",
    "framing",
    "chunk",
    "expectation",
    "too_large",
    "form",
    "connections",
];
/// What a client is too slow for, as counted.
pub const TIMEOUTS: [&str; 5] = ["header", "body", "idle", "write", "handshake"];

const REQUESTS: usize = 0;
const BUCKETS: usize = REQUESTS + METHODS.len() * CLASSES.len();
const SUM: usize = BUCKETS + BOUND_NAMES.len();
const COUNT: usize = SUM + 1;
const RECEIVED: usize = COUNT + 1;
const SENT: usize = RECEIVED + 1;
const REFUSED: usize = SENT + 1;
const TIMED_OUT: usize = REFUSED + REFUSALS.len();
const SINGLE: usize = TIMED_OUT + TIMEOUTS.len();
const LENGTH: usize = SINGLE + 2;

/// Things that are counted one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message that was refused: an index of [`REFUSALS`].
    Refused(usize),
    /// A client that was too slow: an index of [`TIMEOUTS`].
    TimedOut(usize),
    /// A client that left before it was answered.
    Left,
    /// A line of the log that nobody took in time.
    LinesDropped,
}

impl Kind {
    /// The kind of a refusal.
    pub fn refusal(kind: RefusalKind) -> Self {
        Self::Refused(match kind {
            RefusalKind::Syntax => 0,
            RefusalKind::Target => 1,
            RefusalKind::Version => 2,
            RefusalKind::Host => 3,
            RefusalKind::Framing => 4,
            RefusalKind::Chunk => 5,
            RefusalKind::Expectation => 6,
            RefusalKind::TooLarge => 7,
            RefusalKind::Form => 8,
        })
    }

    /// Over the limit of connections.
    pub const CROWDED: Self = Self::Refused(9);
    /// A head, a body, any request at all, the taking of an answer: too slow.
    pub const SLOW_HEADER: Self = Self::TimedOut(0);
    /// As above.
    pub const SLOW_BODY: Self = Self::TimedOut(1);
    /// As above.
    pub const IDLE: Self = Self::TimedOut(2);
    /// As above.
    pub const SLOW_READER: Self = Self::TimedOut(3);

    /// As above: TLS, or the word of a proxy.
    pub const SLOW_HANDSHAKE: Self = Self::TimedOut(4);

    fn place(self) -> usize {
        match self {
            Self::Refused(which) => REFUSED + which,
            Self::TimedOut(which) => TIMED_OUT + which,
            Self::Left => SINGLE,
            Self::LinesDropped => SINGLE + 1,
        }
    }
}

/// The row. All numbers only grow; durations are in microseconds.
#[derive(Clone, Debug)]
pub struct Metrics([u64; LENGTH]);

impl Default for Metrics {
    fn default() -> Self {
        Self([0; LENGTH])
    }
}

impl Metrics {
    /// The numbers, in the order of [`names`].
    pub fn numbers(&self) -> &[u64] {
        &self.0
    }

    /// Count one thing.
    pub fn count(&mut self, kind: Kind) {
        self.0[kind.place()] += 1;
    }

    #[inline]
    pub(super) fn received(&mut self, bytes: u64) {
        self.0[RECEIVED] += bytes;
    }

    #[inline]
    pub(super) fn answered(&mut self, method: usize, status: u16, bytes: u64, took: u64) {
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        self.0[REQUESTS + method * CLASSES.len() + class] += 1;
        let bucket = BOUNDS.iter().position(|&bound| took <= bound).unwrap_or(BOUNDS.len());
        self.0[BUCKETS + bucket] += 1;
        self.0[SUM] += took;
        self.0[COUNT] += 1;
        self.0[SENT] += bytes;
    }
}

pub(super) fn method_place(method: Method) -> usize {
    match method {
        Method::Get => 0,
        Method::Head => HEAD,
        Method::Post => 2,
        Method::Put => 3,
        Method::Patch => 4,
        Method::Delete => 5,
        Method::Options => 6,
        Method::Connect | Method::Trace | Method::Other => 7,
    }
}

/// The samples of a row, as Prometheus names them.
///
/// A bucket of the histogram holds what fell into it alone, and times are in microseconds: whoever
/// shows them adds the buckets up and divides.
pub fn names() -> Vec<String> {
    let mut names = Vec::with_capacity(LENGTH);
    for method in METHODS {
        for class in CLASSES {
            names.push(format!(
                "tarmac_http_requests_total{{method=\"{method}\",status=\"{class}\"}}"
            ));
        }
    }
    for bound in BOUND_NAMES {
        names.push(format!("tarmac_http_request_seconds_bucket{{le=\"{bound}\"}}"));
    }
    for name in ["request_seconds_sum", "request_seconds_count"] {
        names.push(format!("tarmac_http_{name}"));
    }
    for direction in ["received", "sent"] {
        names.push(format!("tarmac_http_{direction}_bytes_total"));
    }
    for reason in REFUSALS {
        names.push(format!("tarmac_http_refused_total{{reason=\"{reason}\"}}"));
    }
    for kind in TIMEOUTS {
        names.push(format!("tarmac_http_timeouts_total{{kind=\"{kind}\"}}"));
    }
    names.push("tarmac_http_clients_left_total".to_owned());
    names.push("tarmac_log_lines_dropped_total".to_owned());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(metrics: &Metrics, name: &str) -> u64 {
        let place = names().iter().position(|one| one == name).expect("a name");
        metrics.numbers()[place]
    }

    #[test]
    fn every_number_has_a_name_of_its_own() {
        let mut names = names();
        assert_eq!(LENGTH, names.len());
        names.sort();
        names.dedup();
        assert_eq!(LENGTH, names.len());
    }

    #[test]
    fn an_answer_is_counted_by_method_class_and_duration() {
        let mut metrics = Metrics::default();
        metrics.answered(method_place(Method::Post), 201, 10, 100);
        metrics.answered(method_place(Method::Post), 299, 5, 101);
        metrics.answered(method_place(Method::Trace), 599, 0, u64::MAX >> 1);
        let total = |method, class| {
            number(
                &metrics,
                &format!("tarmac_http_requests_total{{method=\"{method}\",status=\"{class}\"}}"),
            )
        };
        assert_eq!((2, 1, 0), (total("POST", "2xx"), total("other", "5xx"), total("GET", "2xx")));
        let bucket = |bound| {
            number(&metrics, &format!("tarmac_http_request_seconds_bucket{{le=\"{bound}\"}}"))
        };
        assert_eq!((1, 1, 1), (bucket("0.0001"), bucket("0.00025"), bucket("+Inf")));
        assert_eq!(15, number(&metrics, "tarmac_http_sent_bytes_total"));
        assert_eq!(3, number(&metrics, "tarmac_http_request_seconds_count"));
    }

    #[test]
    fn kinds_are_counted_where_their_names_are() {
        let mut metrics = Metrics::default();
        metrics.count(Kind::refusal(RefusalKind::TooLarge));
        metrics.count(Kind::CROWDED);
        metrics.count(Kind::SLOW_READER);
        metrics.count(Kind::Left);
        metrics.count(Kind::LinesDropped);
        for name in [
            "tarmac_http_refused_total{reason=\"too_large\"}",
            "tarmac_http_refused_total{reason=\"connections\"}",
            "tarmac_http_timeouts_total{kind=\"write\"}",
            "tarmac_http_clients_left_total",
            "tarmac_log_lines_dropped_total",
        ] {
            assert_eq!(1, number(&metrics, name), "{name}");
        }
    }

    #[test]
    fn bounds_and_their_names_agree() {
        for (bound, name) in BOUNDS.iter().zip(BOUND_NAMES) {
            let named: f64 = name.parse().expect("a number");
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let seconds = *bound as f64 / 1e6;
            assert!((seconds - named).abs() < 1e-9, "{name}");
        }
    }
}
