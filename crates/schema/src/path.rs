//! Keys of `[path]` and `[[link]]`.

use crate::INLINE;
use crate::buffer_size::BufferSize;
use crate::impairment::{EcnTreatment, Jitter, Loss};
use crate::medium::Medium;
use crate::name::Name;
use crate::queue::Queue;
use crate::short::Form;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Rate};

/// A hop, one link in each direction; both are equal unless `up` is given.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Name of a `[[link]]`, unique in the scenario.
    pub name: Option<Name>,
    /// Capacity of each direction; this or `trace`.
    pub rate: Option<Rate>,
    /// A file with a delivery trace in the format of Mahimahi, in the place of `rate`: one time in
    /// milliseconds on each line, an opportunity for 1500 bytes. Its name is relative to the scenario.
    #[schemars(extend("x-file" = [INLINE]))]
    pub trace: Option<String>,
    /// Round-trip propagation time; half of it is the delay of each direction, unless `up` says another.
    #[schemars(example = "40 ms")]
    pub rtt: Duration,
    /// Limit of the queue of each direction.
    #[serde(default = "one_bdp")]
    pub buffer: BufferSize,
    /// Queue discipline of each direction: its name, or a table with a model.
    pub queue: Option<Form<Queue>>,
    /// Whether these queues split the bundles of hosts into packets; otherwise a bundle is a packet of up to 64 kB.
    pub splits: Option<bool>,
    /// Random delay added to each packet, in each direction: its mean, or a table with a model.
    pub jitter: Option<Form<Jitter>>,
    /// Loss of packets, in each direction: a probability such as "0.1 %", or a model.
    pub loss: Option<Form<Loss>>,
    /// What becomes of ECN codepoints behind the queue, in each direction: "keep", "bleach", "drop-ce" or "hide-ce".
    pub ecn: Option<EcnTreatment>,
    /// Variation of capacity and delay from one short interval to the next, in each direction.
    pub noise: Option<PathNoise>,
    /// Token-bucket policer before the queue, in each direction.
    pub policer: Option<Policer>,
    /// One medium for both directions: "half-duplex", "wifi", or a table with a model; "none" is as without the key.
    pub medium: Option<Form<Medium>>,
    /// Whether packets with less jitter overtake others. In order by default.
    #[serde(default)]
    pub reorder: bool,
    /// Settings from client to server that differ.
    pub up: Option<Up>,
    /// Changes at given times.
    #[serde(default)]
    pub change: Vec<Change>,
    /// The changes repeat with this period; each period starts with the initial path.
    pub repeat: Option<Duration>,
}

impl Path {
    /// The medium that both directions share.
    pub fn shared_medium(&self) -> Option<&Medium> {
        (self.medium.as_deref()).filter(|medium| !matches!(medium, Medium::None {}))
    }
}

fn one_bdp() -> BufferSize {
    BufferSize::Bdp(1000)
}

/// The direction from client to server, where it differs.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Up {
    /// Capacity.
    pub rate: Option<Rate>,
    /// A delivery trace instead of the capacity.
    #[schemars(extend("x-file" = [INLINE]))]
    pub trace: Option<String>,
    /// Propagation delay, one way, in the place of half of `rtt`.
    pub delay: Option<Duration>,
    /// Limit of the queue.
    pub buffer: Option<BufferSize>,
    /// Queue discipline.
    pub queue: Option<Form<Queue>>,
    /// Policer.
    pub policer: Option<Policer>,
    /// Random delay.
    pub jitter: Option<Form<Jitter>>,
    /// Loss: a probability, or a model.
    pub loss: Option<Form<Loss>>,
    /// What becomes of ECN codepoints.
    pub ecn: Option<EcnTreatment>,
}

/// A change of the path; other settings stay.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When, from the start of the trial; with `when`, how much later than that.
    #[schemars(example = "2 s")]
    pub at: Option<Duration>,
    /// The entry of a controller into a state that the change follows.
    #[schemars(example = serde_json::json!({"flow": "main", "enters": "Drain"}))]
    pub when: Option<When>,
    /// New capacity of both directions; "0 bps" suspends the path and keeps its queues.
    pub rate: Option<Rate>,
    /// New capacity from client to server, where it differs.
    pub up_rate: Option<Rate>,
    /// New round-trip propagation time, half of it in each direction.
    pub rtt: Option<Duration>,
    /// New propagation delay from client to server, one way, where it differs.
    pub up_delay: Option<Duration>,
    /// New limit of the queues.
    pub buffer: Option<BufferSize>,
    /// New jitter.
    pub jitter: Option<Form<Jitter>>,
    /// New loss in both directions: a probability, or a model; "100 %" loses everything.
    pub loss: Option<Form<Loss>>,
    /// New loss from client to server, where it differs.
    pub up_loss: Option<Form<Loss>>,
    /// New queue discipline of both directions, which takes over what waits.
    pub queue: Option<Form<Queue>>,
    /// New queue discipline from client to server, where it differs.
    pub up_queue: Option<Form<Queue>>,
    /// Whether the queues of both directions are emptied: all that waits is dropped.
    #[serde(default)]
    pub flush: bool,
    /// Whether the queue from client to server is emptied, where it differs.
    pub up_flush: Option<bool>,
}

impl Change {
    /// When, from the start or from the entry that it follows.
    pub fn at(&self) -> Duration {
        self.at.unwrap_or(Duration::ZERO)
    }
}

/// An entry of the controller of a flow into a state.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Which flow.
    #[schemars(example = &"main")]
    pub flow: String,
    /// Which state.
    #[schemars(example = &"Drain")]
    pub enters: String,
    /// Which of its entries, from 1 on.
    #[serde(default = "first")]
    pub entry: u32,
}

fn first() -> u32 {
    1
}

/// Normal noise, truncated at three standard deviations, drawn for each interval.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathNoise {
    /// Standard deviation of the capacity.
    #[serde(default)]
    pub rate_sd: Option<Rate>,
    /// Standard deviation of the delay of each direction.
    #[serde(default)]
    pub delay_sd: Duration,
    /// Length of an interval.
    #[serde(default = "one_millisecond")]
    pub every: Duration,
}

fn one_millisecond() -> Duration {
    Duration::from_millis(1)
}

/// A token bucket.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// Long-term rate.
    #[schemars(example = "10 Mbps")]
    pub rate: Rate,
    /// Burst size.
    #[schemars(example = "100 kB")]
    pub burst: Bytes,
    /// Whether excess ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub mark: bool,
}
