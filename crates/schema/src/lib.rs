//! The scenario file: its keys, their meanings and defaults. Unknown keys are refused; the JSON schema
//! that editors use is generated from these types.
//!
//! What the keys mean together, such as whether a path may have two of them, `thalweg-sim` checks. The code that reads and
//! writes files is made here and not in each crate that asks for it: it is half of what the simulator was compiled to, is
//! called once for a scenario, and is not optimised in builds in place (`Cargo.toml` of the workspace).

mod breaker;
mod buffer_size;
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

pub use breaker::CircuitBreaker;
pub use buffer_size::BufferSize;
pub use command::{Command, Count};
pub use flow::{Flow, Gap, ReceiverConduct, Requests, SenderConduct};
pub use host::{BUNDLES, BundleSize, HostModel, Reads};
pub use impairment::{EcnTreatment, Jitter, Loss, WifiFormula};
pub use media::{By, Carriage, Encoder, From, Media};
pub use medium::{Medium, Neighbours, Preset as WifiPreset, Scan};
pub use pass::Pass;
pub use path::{Change, Path, When};
pub use queue::{AckFilter, Framing, Queue};
pub use short::written_out;
pub use stack::Stack;
pub use stack::names_library;
pub use traffic::Traffic;
pub use transport::{Acks, Rules, Transport};
pub use tunnel::Tunnel;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration};

// Contents that stand in the place of the name of a file, so that the text of a scenario suffices to rerun it. The schema
// marks the keys that name files with `x-file`, a list of what such contents begin with: whatever confines or copies the
// files of a scenario finds its keys there.

/// Prefix of times instead of a file name: `trace = "ms: 3 3 7 10"`.
pub const INLINE: &str = "ms:";
/// Prefix of the times and delays of a jitter trace: `file = "us: 0 1350 20000 1280"`.
pub const INLINE_JITTER: &str = "us:";
/// Prefix of the bytes of a profile in bins of one length: `profile = "bytes: 1500 0 3000"`. The prefix of one with times is
/// [`INLINE_JITTER`].
pub const INLINE_BYTES: &str = "bytes:";

/// A scenario: a path, flows and pass criteria.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Name in tables and figures.
    #[schemars(example = "A download")]
    pub title: String,
    /// The document it comes from.
    pub source: Option<String>,
    /// Deviations from its source, and why.
    pub note: Option<String>,
    /// Bytes of IP and UDP headers that links add to each UDP payload: "28 B" for IPv4, "48 B" for IPv6.
    #[serde(default = "ipv4")]
    pub overhead: Bytes,
    /// Simulated time at which a trial ends in any case.
    #[serde(default = "ten_minutes")]
    pub time_limit: Duration,
    /// Differences between trials, in addition to the randomness of the path.
    #[serde(default)]
    pub noise: Noise,
    /// Whether flows may have a controller whose random numbers do not come from the seed (`noq:bbr3`): the same
    /// trial then gives another result each time.
    #[serde(default)]
    pub allow_unseeded: bool,
    /// Bins of this length record what each flow sends and receives, and the capacity of each link.
    pub sample: Option<Duration>,
    /// The path between the clients and the servers: the short form of one hop that all flows cross.
    pub path: Option<Path>,
    /// Several hops, each with a name; flows select theirs by `route`.
    #[serde(default)]
    pub link: Vec<Path>,
    /// Transport parameters that differ from the defaults.
    #[serde(default)]
    pub transport: Transport,
    /// The flows; the first is the main flow.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// Sources of cross traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// Tunnels that have a circuit breaker; flows and traffic name theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnel: Vec<Tunnel>,
    /// Pass criteria.
    #[serde(default)]
    pub pass: Vec<Pass>,
}

impl ScenarioFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is not TOML, a key is unknown or missing, or a value has another type.
    pub fn from_toml(text: &str) -> Result<ScenarioFile, toml::de::Error> {
        toml::from_str(text)
    }

    /// The text of a file with all its keys.
    ///
    /// # Errors
    /// If a number cannot be written in TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
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
pub struct Noise {
    /// Each flow starts up to this much late, drawn uniformly.
    pub start: Duration,
    /// All flows together start up to this much later, drawn uniformly: in all phases of a path that changes with this
    /// period.
    pub phase: Duration,
    /// The handshake of each connection has up to this many bytes more, drawn uniformly, as TLS signatures and connection
    /// IDs differ in length. The modelled endpoint only.
    pub handshake: Bytes,
    /// Each wake-up of a paced sender is late by up to this much, drawn uniformly.
    pub wakeup: Duration,
    /// One jitter sequence for all trials: reproduces studies whose runs shared it. The other draws of the
    /// links (random loss, queue disciplines) are shared as well. By default, every trial has its own.
    pub jitter_seed: Option<u64>,
    /// The tape of a trial: every stream of random numbers takes a new seed at each boundary of 100 ms. `"0-4:17 12:3"`
    /// makes the seeds of blocks 0 to 4 from 17 and the seed of block 12 from 3, and the others from the seed of the trial.
    /// `thalweg tails` writes it. By default, one seed holds for all of the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tape: Option<String>,
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
pub fn json_schema() -> serde_json::Value {
    schemars::schema_for!(ScenarioFile).to_value()
}
