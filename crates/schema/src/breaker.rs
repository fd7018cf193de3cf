//! Keys of `circuit_breaker`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Duration, Fraction};

/// What ends a flow that congests its path for long.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub enum CircuitBreaker {
    /// Loss between the ends of the path in intervals in a row (RFC 8084).
    Transport {
        /// Loss of an interval that is too much.
        #[schemars(example = "10 %")]
        loss: Fraction,
        /// Length of an interval: several round-trip times.
        #[schemars(example = "1 s")]
        interval: Duration,
        /// How many intervals in a row; 3.
        intervals: Option<u32>,
    },
    /// The breaker of RTP sessions (RFC 8083).
    Media {
        /// Time between two reports of the receiver; "5 s".
        interval: Option<Duration>,
        /// Loss with which the media cannot be used; none.
        #[schemars(example = "20 %")]
        unusable: Option<Fraction>,
    },
}
