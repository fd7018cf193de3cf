//! The circuit breaker of a flow.

use thalweg_units::{Duration, Fraction};

/// What trips it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BreakerSpec {
    /// Too much loss in intervals in a row (RFC 8084).
    Transport {
        loss: Fraction,
        interval: Duration,
        intervals: u32,
    },
    /// The rules of RTP sessions (RFC 8083).
    Media {
        /// Between two reports.
        interval: Duration,
        /// Loss with which the media cannot be used.
        unusable: Option<Fraction>,
        /// The longest time between two frames of a stream.
        framing: Duration,
    },
}

impl BreakerSpec {
    /// The time between two looks at what has happened.
    pub(crate) fn interval(&self) -> Duration {
        match *self {
            BreakerSpec::Transport { interval, .. } | BreakerSpec::Media { interval, .. } => {
                interval
            }
        }
    }
}
