//! Keys of `[[flow]]`.

use crate::breaker::CircuitBreaker;
use crate::command::Command;
use crate::host::Host;
use crate::media::{Media, Probe};
use crate::name::Name;
use crate::short::Form;
use crate::stack::Stack;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Rate};

/// What the receiver of a flow does to get more than its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiverConduct {
    /// Nothing.
    #[default]
    Honest,
    /// It acknowledges what has not arrived.
    OptimisticAcks,
    /// It sends many ACK frames for each packet.
    AckDivision,
    /// It reports no ECN marks.
    HidesCe,
    /// Its flow control has no limit.
    Greedy,
}

impl ReceiverConduct {
    /// Whether its flow control has no limit. What a receiver acknowledges and does not have would otherwise hold its own
    /// window.
    pub fn has_no_limit(self) -> bool {
        matches!(
            self,
            ReceiverConduct::Greedy | ReceiverConduct::OptimisticAcks
        )
    }
}

/// What the sender of a flow does to get more than its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SenderConduct {
    /// Nothing.
    #[default]
    Honest,
    /// Its controller hears of no losses.
    IgnoresLoss,
}

/// One transport connection.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name, unique in the scenario.
    #[schemars(example = &"main")]
    pub name: Name,
    /// Congestion controller, with options: "c4", "cubic:start=classic".
    #[schemars(example = &"cubic")]
    pub controller: String,
    /// Its stack: the modelled endpoint ("model"), a real QUIC stack ("quic"), or the file of a library with a stack.
    #[serde(default)]
    pub stack: Stack,
    /// The hosts at its ends: the name of a model, or a table with a model.
    pub host: Option<Form<Host>>,
    /// When it starts.
    #[serde(default)]
    pub start: Duration,
    /// Names of the links that it crosses from server to client; the other direction crosses them in reverse.
    pub route: Option<Vec<String>>,
    /// Name of the tunnel that carries it: queues cannot tell flows of a tunnel apart.
    #[schemars(example = &"vpn")]
    pub tunnel: Option<Name>,
    /// Whether a trial ends without waiting for it.
    #[serde(default)]
    pub background: bool,
    /// Bytes that the client downloads.
    pub download: Option<Bytes>,
    /// Bytes that the client uploads.
    pub upload: Option<Bytes>,
    /// Many downloads, one connection each, that start whether or not earlier ones have finished, or after them.
    pub requests: Option<Requests>,
    /// The standard call of the C4 tests, of this length: audio, video and a less compressed video.
    pub call: Option<Duration>,
    /// Streams of a media call; with `call`, in addition to the streams of the standard call.
    #[serde(default)]
    pub media: Vec<Media>,
    /// Frames of `call` with an earlier nominal time are not counted.
    #[serde(default)]
    pub measure_from: Duration,
    /// What the senders of its call send, beyond their media, to learn the capacity of their path.
    pub probe: Option<Probe>,
    /// Number of streams that share the transfer evenly, in round robin.
    #[serde(default = "one")]
    pub streams: u32,
    /// Size of the request that starts a download.
    #[serde(default = "request")]
    pub request: Bytes,
    /// Rate at which the application of the server writes a download.
    pub app_rate: Option<Rate>,
    /// The client requests a download in chunks of this size, each when it has the one before.
    pub chunk: Option<Bytes>,
    /// How long the client waits between a chunk and its request for the next.
    #[serde(default)]
    pub think_time: Duration,
    /// Times from the start of the flow at which the application of the server writes nothing: a list of beginnings and ends.
    #[schemars(example = vec![["10 s", "16 s"]])]
    pub pauses: Option<Vec<Vec<Duration>>>,
    /// Flow-control limit of both receivers on what is on its way to them, which does not grow.
    pub receive_window: Option<Bytes>,
    /// Whether its receiver of data is honest: "honest", or how it is not.
    #[serde(default)]
    pub receiver: ReceiverConduct,
    /// Whether its sender of data is honest: "honest", or how it is not.
    #[serde(default)]
    pub sender: SenderConduct,
    /// What ends the flow when it congests its path for long: "media", or a table with a model.
    pub circuit_breaker: Option<Form<CircuitBreaker>>,
    /// Whether the first packet carries the request.
    #[serde(default)]
    pub zero_rtt: bool,
    /// State of an earlier connection over the path (careful resume).
    pub seed: Option<Seed>,
    /// Programs that are its ends, in real time; its controller is "command:NAME" then.
    pub command: Option<Command>,
}

fn one() -> u32 {
    1
}
fn request() -> Bytes {
    Bytes::new(397)
}

/// Downloads with random lengths, in rounds: one connection each, or several at once.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Number of rounds of each user; the first starts with the flow.
    #[schemars(example = 100)]
    pub count: u32,
    /// Mean time between the starts of two rounds.
    #[schemars(example = "50 ms")]
    pub mean_gap: Option<Duration>,
    /// Mean time between the end of a round and the start of the next.
    #[schemars(example = "10 s")]
    pub mean_idle: Option<Duration>,
    /// Distribution of the gaps or idle times.
    #[serde(default)]
    pub gap: Gap,
    /// Whether the first round waits for an idle time too.
    #[serde(default)]
    pub idle_first: bool,
    /// Users, each with rounds of its own.
    #[serde(default = "one")]
    pub users: u32,
    /// Connections of a round, which start at the same instant.
    #[serde(default = "one")]
    pub parallel: u32,
    /// Objects that a connection downloads, one after the other.
    #[serde(default = "one")]
    pub objects: u32,
    /// 5th percentile of the lengths, which are log-normal.
    #[schemars(example = "2 kB")]
    pub p5: Option<Bytes>,
    /// 95th percentile of the lengths.
    #[schemars(example = "200 kB")]
    pub p95: Option<Bytes>,
    /// Least length, if lengths are uniform.
    #[schemars(example = "30 kB")]
    pub least: Option<Bytes>,
    /// Largest length.
    #[schemars(example = "50 kB")]
    pub most: Option<Bytes>,
}

/// Distribution of the gaps between requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// Exponential: arrivals are a Poisson process.
    #[default]
    Exponential,
    /// All equal.
    Constant,
}

/// State of an earlier connection.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// Its congestion window.
    #[schemars(example = "200 kB")]
    pub window: Bytes,
    /// Its round-trip time.
    #[schemars(example = "40 ms")]
    pub rtt: Duration,
}
