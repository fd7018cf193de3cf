//! Keys of `[[traffic]]`.

use crate::breaker::CircuitBreaker;
use crate::media::From;
use crate::name::Name;
use crate::short::Form;
use crate::{INLINE_BYTES, INLINE_JITTER};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Rate};

/// Cross traffic: packets without a transport, that nothing slows down and nobody acknowledges.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Name, unique among traffic and flows.
    #[schemars(example = &"cross")]
    pub name: Name,
    /// Rate of its packets, with all headers, while it is on; with `profile`, the mean to which the profile is scaled.
    #[schemars(example = "3 Mbps")]
    pub rate: Option<Rate>,
    /// A file of bytes in bins, instead of a constant rate: one number of bytes on each line, of a bin as long as `bin`, or
    /// a time in microseconds and the bytes from then to the next time.
    #[schemars(extend("x-file" = [INLINE_BYTES, INLINE_JITTER]))]
    pub profile: Option<String>,
    /// Length of the bins of a profile with one number on each line.
    pub bin: Option<Duration>,
    /// Whether the profile begins anew when it ends.
    #[serde(default)]
    pub repeat: bool,
    /// When it is on, from its start: a list of beginnings and ends. Always, by default.
    #[schemars(example = vec![["0 s", "40 s"], ["60 s", "80 s"]])]
    pub on: Option<Vec<Vec<Duration>>>,
    /// Mean time that it is on, drawn from an exponential distribution each time.
    pub mean_on: Option<Duration>,
    /// Mean time that it is off.
    pub mean_off: Option<Duration>,
    /// Size of its packets, with all headers.
    #[serde(default = "full")]
    pub packet: Bytes,
    /// Which end sends it.
    #[serde(default)]
    pub from: From,
    /// Name of the tunnel that carries it, with flows or without.
    #[schemars(example = &"vpn")]
    pub tunnel: Option<Name>,
    /// What ends it when it congests its path for long: a table with the model "transport".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circuit_breaker: Option<Form<CircuitBreaker>>,
    /// When it starts.
    #[serde(default)]
    pub start: Duration,
    /// Names of the links that it crosses from server to client; from the client, it crosses them in reverse.
    pub route: Option<Vec<String>>,
}

fn full() -> Bytes {
    Bytes::new(1500)
}
