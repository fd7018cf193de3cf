//! The accesses of all stations, as an optional log.

use thalweg_units::{Duration, Instant};

/// A step of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessEvent {
    /// When.
    pub at: Instant,
    /// The station that has the access: 0 is the access point, 1 the client.
    pub station: usize,
    /// Packets of its frame that have neither arrived nor been given up; a neighbour has none.
    pub packets: usize,
    /// What happens.
    pub step: AccessStep,
}

/// What happens in an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessStep {
    /// Its frame begins, and takes so long.
    Begins {
        /// Until its last symbol.
        airtime: Duration,
    },
    /// Its frame has arrived, and is acknowledged.
    Received {
        /// When the acknowledgement ends.
        until: Instant,
    },
    /// Its frame has ended without arriving.
    Fails {
        /// Whether that was the last attempt.
        gives_up: bool,
    },
}
