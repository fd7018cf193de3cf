//! The scenario file: its keys, their meanings and defaults. Unknown keys are refused; the JSON schema
//! that editors use is generated from these types.

mod breaker;
mod cake_rtt;
mod command;
mod flow;
mod host;
mod impairment;
mod media;
mod medium;
mod name;
mod packets;
mod pass;
mod path;
mod queue;
mod short;
mod stack;
mod traffic;
mod transport;
mod tunnel;

pub(crate) use breaker::CircuitBreaker;
pub(crate) use command::{Command, Count};
pub(crate) use flow::{Flow, Gap, ReceiverConduct, Requests, SenderConduct};
pub(crate) use host::{BUNDLES, BundleSize, HostModel, Reads};
pub(crate) use impairment::{EcnTreatment, Jitter, Loss, WifiFormula};
pub(crate) use media::{By, Carriage, Encoder, From, Media};
pub(crate) use medium::{Medium, Neighbours, Preset as WifiPreset, Scan};
pub(crate) use pass::Pass;
pub(crate) use path::{Change, Path, When};
pub(crate) use queue::{AckFilter, Framing, Queue};
pub(crate) use short::written_out;
pub(crate) use stack::Stack;
pub use stack::names_library;
pub(crate) use traffic::Traffic;
pub(crate) use transport::{Acks, Rules, Transport};
pub(crate) use tunnel::Tunnel;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration};

/// A scenario: a path, flows and pass criteria.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    /// Name in tables and figures.
    #[schemars(example = "A download")]
    pub(crate) title: String,
    /// The document it comes from.
    pub(crate) source: Option<String>,
    /// Deviations from its source, and why.
    pub(crate) note: Option<String>,
    /// Bytes of IP and UDP headers that links add to each UDP payload: "28 B" for IPv4, "48 B" for IPv6.
    #[serde(default = "ipv4")]
    pub(crate) overhead: Bytes,
    /// Simulated time at which a trial ends in any case.
    #[serde(default = "ten_minutes")]
    pub(crate) time_limit: Duration,
    /// Differences between trials besides the randomness of the path.
    #[serde(default)]
    pub(crate) noise: Noise,
    /// Whether flows may have a controller whose random numbers do not come from the seed (`noq:bbr3`): the same
    /// trial then gives another result each time.
    #[serde(default)]
    pub(crate) allow_unseeded: bool,
    /// Bins of this length record what each flow sends and receives, and the capacity of each link.
    pub(crate) sample: Option<Duration>,
    /// The path between the clients and the servers: the short form of one hop that all flows cross.
    pub(crate) path: Option<Path>,
    /// Several hops, each with a name; flows select theirs by `route`.
    #[serde(default)]
    pub(crate) link: Vec<Path>,
    /// Transport parameters that differ from the defaults.
    #[serde(default)]
    pub(crate) transport: Transport,
    /// The flows; the first is the main flow.
    #[serde(default)]
    pub(crate) flow: Vec<Flow>,
    /// Sources of cross traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) traffic: Vec<Traffic>,
    /// Tunnels that have a circuit breaker; flows and traffic name theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tunnel: Vec<Tunnel>,
    /// Pass criteria.
    #[serde(default)]
    pub(crate) pass: Vec<Pass>,
}

fn ipv4() -> Bytes {
    Bytes::new(28)
}
fn ten_minutes() -> Duration {
    Duration::from_secs(600)
}

/// Small random offsets that make trials of a path without randomness differ, as runs of real hosts do.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Noise {
    /// Each flow starts up to this much late, drawn uniformly.
    pub(crate) start: Duration,
    /// All flows together start up to this much later, drawn uniformly: in all phases of a path that changes with this
    /// period.
    pub(crate) phase: Duration,
    /// The handshake of each connection has up to this many bytes more, drawn uniformly, as TLS signatures and connection
    /// IDs differ in length. The modelled endpoint only.
    pub(crate) handshake: Bytes,
    /// Each wake-up of a paced sender is late by up to this much, drawn uniformly.
    pub(crate) wakeup: Duration,
    /// One jitter sequence for all trials: reproduces studies whose runs shared it. The other draws of the
    /// links (random loss, queue disciplines) are shared as well. By default, every trial has its own.
    pub(crate) jitter_seed: Option<u64>,
    /// The tape of a trial: every stream of random numbers takes a new seed at each boundary of 100 ms. `"0-4:17 12:3"`
    /// makes the seeds of blocks 0 to 4 from 17 and that of block 12 from 3, and the others from the seed of the trial.
    /// `thalweg tails` writes it. By default, one seed holds for all of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tape: Option<String>,
}

impl Default for Noise {
    fn default() -> Self {
        Noise {
            start: Duration::from_millis(1),
            phase: Duration::ZERO,
            handshake: Bytes::ZERO,
            wakeup: Duration::from_micros(20),
            jitter_seed: None,
            tape: None,
        }
    }
}

/// JSON schema of the scenario file.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(ScenarioFile);
    format!("{:#}", schema.as_value())
}
