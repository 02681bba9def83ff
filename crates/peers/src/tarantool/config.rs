//! Where a link leads and how patient it is.

use reactor::{Address, Millis};

/// Settings of one link.
#[derive(Clone, Debug)]
pub struct Config {
    /// Tried in turn.
    pub addresses: Vec<Address>,
    /// `None` stays the guest.
    pub user: Option<String>,
    /// The user's password.
    pub password: String,
    /// Queries on the wire at the same time; the others wait.
    pub in_flight: usize,
    /// From the start of an attempt to a known schema; without a connection no query waits longer.
    pub connect_timeout: Millis,
    /// The first pause before reconnecting.
    pub reconnect_min: Millis,
    /// The longest pause before reconnecting.
    pub reconnect_max: Millis,
    /// Queries fail at once while there is no connection.
    pub fail_fast: bool,
    /// The largest reply accepted, in bytes.
    pub max_packet: usize,
}
