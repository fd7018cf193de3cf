//! Keys of `[path]` and `[[link]]`.

use super::impairment::{Jitter, Loss};
use super::queue::Queue;
use crate::scenario::buffer_size::BufferSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Rate};

/// A hop, one link in each direction; both are alike unless `up` says otherwise.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    /// Name of a `[[link]]`, unique in the scenario.
    pub(crate) name: Option<String>,
    /// Capacity of each direction; this or `trace`.
    pub(crate) rate: Option<Rate>,
    /// A file with a delivery trace in the format of Mahimahi, in the place of `rate`: one time in
    /// milliseconds on each line, an opportunity for 1500 bytes. Its name is relative to the scenario.
    pub(crate) trace: Option<String>,
    /// Round-trip propagation time; half of it is the delay of each direction.
    pub(crate) rtt: Duration,
    /// How much the queue in front of each direction holds.
    #[serde(default = "one_bdp")]
    pub(crate) buffer: BufferSize,
    /// Which packet leaves next, and which ones are dropped or marked, in each direction.
    pub(crate) queue: Option<Queue>,
    /// Random delay added to each packet, in each direction.
    pub(crate) jitter: Option<Jitter>,
    /// Random loss of packets, in each direction.
    pub(crate) loss: Option<Loss>,
    /// Variation of capacity and delay from one short interval to the next, in each direction.
    pub(crate) noise: Option<PathNoise>,
    /// Drops what comes faster, before it reaches the queue, in each direction.
    pub(crate) policer: Option<Policer>,
    /// Whether packets with less jitter overtake others. In order by default.
    #[serde(default)]
    pub(crate) reorder: bool,
    /// What differs from client to server.
    pub(crate) up: Option<Up>,
    /// Changes at given times.
    #[serde(default)]
    pub(crate) change: Vec<Change>,
    /// The changes repeat with this period, and the path is as at the start at each beginning.
    pub(crate) repeat: Option<Duration>,
}

fn one_bdp() -> BufferSize {
    BufferSize::Bdp(1000)
}

/// The direction from client to server, where it differs.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Up {
    /// Capacity.
    pub(crate) rate: Option<Rate>,
    /// A delivery trace in the place of the capacity.
    pub(crate) trace: Option<String>,
    /// How much the queue holds.
    pub(crate) buffer: Option<BufferSize>,
    /// Queue discipline.
    pub(crate) queue: Option<Queue>,
    /// Policer.
    pub(crate) policer: Option<Policer>,
    /// Random delay.
    pub(crate) jitter: Option<Jitter>,
    /// Random loss.
    pub(crate) loss: Option<Loss>,
}

/// A change of the path; what is not named stays.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// When, from the start of the trial.
    pub(crate) at: Duration,
    /// New capacity of both directions; "0 bps" suspends the path and keeps its queues.
    pub(crate) rate: Option<Rate>,
    /// New capacity from client to server, where it differs.
    pub(crate) up_rate: Option<Rate>,
    /// New round-trip propagation time.
    pub(crate) rtt: Option<Duration>,
    /// New size of the queues.
    pub(crate) buffer: Option<BufferSize>,
    /// New jitter.
    pub(crate) jitter: Option<Jitter>,
}

/// Normal noise, truncated at three standard deviations, drawn for each interval.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathNoise {
    /// Standard deviation of the capacity.
    #[serde(default)]
    pub(crate) rate_sd: Option<Rate>,
    /// Standard deviation of the delay of each direction.
    #[serde(default)]
    pub(crate) delay_sd: Duration,
    /// Length of an interval.
    #[serde(default = "one_millisecond")]
    pub(crate) every: Duration,
}

fn one_millisecond() -> Duration {
    Duration::from_millis(1)
}

/// A token bucket.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policer {
    /// What passes in the long run.
    pub(crate) rate: Rate,
    /// What passes at once.
    pub(crate) burst: Bytes,
    /// Whether ECN-capable packets beyond that are marked and let through.
    #[serde(default)]
    pub(crate) mark: bool,
}
