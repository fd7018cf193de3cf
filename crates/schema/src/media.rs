//! Keys of `[[flow.media]]`.

use crate::name::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// One stream of a media call.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// Name, unique in the flow.
    #[schemars(example = &"video")]
    pub name: Name,
    /// Whether each frame is a datagram, or each group of frames a stream.
    #[serde(default)]
    pub carriage: Carriage,
    /// Who sends it.
    #[serde(default)]
    pub from: From,
    /// Frames per second.
    #[schemars(example = 30)]
    pub per_second: u32,
    /// Duration.
    #[schemars(example = "10 s")]
    pub duration: Duration,
    /// Frames of a group; by default the whole stream of media.
    pub group: Option<u32>,
    /// Size of the first frame of a group, if it differs.
    pub first_frame: Option<Bytes>,
    /// Size of a frame, if all have one.
    #[schemars(example = "4 kB")]
    pub frame: Option<Bytes>,
    /// In place of `frame`: an encoder that follows the rate which congestion control allows.
    pub rate: Option<Encoder>,
    /// Times of the stream, each from one to another, during which it has no frames.
    #[serde(default)]
    #[schemars(example = PAUSES)]
    pub pauses: Vec<(Duration, Duration)>,
    /// Priority; lower is more urgent. Streams of even priority are served in round robin, of odd priority in order.
    #[serde(default = "media_priority")]
    pub priority: u8,
    /// How lost datagrams of frames are repaired.
    pub repair: Option<Repair>,
    /// A receiver that falls behind by more cancels the rest of the group.
    pub skip_after: Option<Duration>,
    /// Frames later than this count as late.
    #[serde(default = "media_deadline")]
    pub deadline: Duration,
    /// Frames with an earlier nominal time are not counted.
    #[serde(default)]
    pub measure_from: Duration,
}

/// An example of pauses.
const PAUSES: [[&str; 2]; 1] = [["40 s", "60 s"]];

fn media_priority() -> u8 {
    4
}
fn media_deadline() -> Duration {
    Duration::from_millis(250)
}

/// How lost datagrams of frames are repaired.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// Whether lost datagrams are sent again until the deadline of their frame has passed.
    #[serde(default)]
    pub retransmit: bool,
    /// Packets of repair that follow each frame, as a part of its packets, rounded up.
    #[serde(default)]
    #[schemars(example = "20 %")]
    pub fec: Fraction,
}

/// What the senders of a call send, beyond their media, to learn the capacity of their path.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The rate up to which media is filled up.
    #[schemars(example = "8 Mbps")]
    pub target: Rate,
    /// The most of what a sender sends that may be probes.
    #[schemars(example = "20 %")]
    pub budget: Fraction,
    /// What probes are.
    #[serde(default)]
    pub by: By,
}

/// What probes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Packets that the receiver discards.
    #[default]
    Padding,
    /// Packets of repair of the newest frame that datagrams carry.
    Redundancy,
}

/// Transport of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carriage {
    /// Each group of frames is a stream.
    #[default]
    Streams,
    /// Each frame is a datagram.
    Datagrams,
}

/// Who sends a stream of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// The server.
    #[default]
    Server,
    /// The client.
    Client,
}

/// An encoder that follows the rate which congestion control allows (RFC 8593 section 5).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    /// The least rate.
    #[schemars(example = "150 kbps")]
    pub least: Rate,
    /// The largest rate.
    #[schemars(example = "1.5 Mbps")]
    pub most: Rate,
    /// The rate at the start; by default the least one.
    pub start: Option<Rate>,
    /// The part of what congestion control allows that it uses.
    #[serde(default = "all")]
    pub uses: Fraction,
    /// Time between two changes of the rate.
    #[serde(default = "reaction")]
    pub reaction: Duration,
    /// Scale of the Laplace distribution by which sizes of frames deviate from what the rate says.
    #[serde(default = "variation")]
    pub variation: Fraction,
    /// How many times larger than others the first frame of a group is.
    #[serde(default = "key_frame")]
    pub key_frame: f64,
}

fn all() -> Fraction {
    Fraction::ONE
}
/// tau_v of RFC 8593 section 5.
fn reaction() -> Duration {
    Duration::from_millis(200)
}
/// SCALE_B of RFC 8593 section 5.
fn variation() -> Fraction {
    Fraction::from_f64(0.15)
}
fn key_frame() -> f64 {
    1.0
}
