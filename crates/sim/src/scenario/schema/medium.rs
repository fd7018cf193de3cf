//! Keys of `medium`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Duration;

/// How the directions of a hop share a medium.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, tag = "model", rename_all = "kebab-case")]
pub(crate) enum Medium {
    /// One direction transmits at a time; under load they take turns.
    HalfDuplex {
        /// How long the medium stays busy after each access: preamble, acknowledgement of the link, contention.
        #[serde(default)]
        #[schemars(example = "170 us")]
        overhead: Duration,
        /// The most packets that an access carries.
        #[serde(default = "one")]
        packets: u32,
    },
}

fn one() -> u32 {
    1
}
