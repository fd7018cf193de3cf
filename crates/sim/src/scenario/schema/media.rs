//! Keys of `[[flow.media]]`.

use super::name::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// One stream of a media call.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Media {
    /// Name, unique in the flow.
    #[schemars(example = &"video")]
    pub(crate) name: Name,
    /// Whether each frame is a datagram, or each group of frames a stream.
    #[serde(default)]
    pub(crate) carriage: Carriage,
    /// Who sends it.
    #[serde(default)]
    pub(crate) from: From,
    /// Frames per second.
    #[schemars(example = 30)]
    pub(crate) per_second: u32,
    /// Duration.
    #[schemars(example = "10 s")]
    pub(crate) duration: Duration,
    /// Frames of a group; by default the whole stream of media.
    pub(crate) group: Option<u32>,
    /// Size of the first frame of a group, if it differs.
    pub(crate) first_frame: Option<Bytes>,
    /// Size of a frame, if all have one.
    #[schemars(example = "4 kB")]
    pub(crate) frame: Option<Bytes>,
    /// In place of `frame`: an encoder that follows the rate which congestion control allows.
    pub(crate) rate: Option<Encoder>,
    /// Times of the stream, each from one to another, during which it has no frames.
    #[serde(default)]
    #[schemars(example = PAUSES)]
    pub(crate) pauses: Vec<(Duration, Duration)>,
    /// Priority; lower is more urgent. Streams of even priority are served in round robin, of odd priority in order.
    #[serde(default = "media_priority")]
    pub(crate) priority: u8,
    /// How lost datagrams of frames are repaired.
    pub(crate) repair: Option<Repair>,
    /// A receiver that falls behind by more cancels the rest of the group.
    pub(crate) skip_after: Option<Duration>,
    /// Frames later than this count as late.
    #[serde(default = "media_deadline")]
    pub(crate) deadline: Duration,
    /// Frames with an earlier nominal time are not counted.
    #[serde(default)]
    pub(crate) measure_from: Duration,
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
pub(crate) struct Repair {
    /// Whether lost datagrams are sent again until the deadline of their frame has passed.
    #[serde(default)]
    pub(crate) retransmit: bool,
    /// Packets of repair that follow each frame, as a part of its packets, rounded up.
    #[serde(default)]
    #[schemars(example = "20 %")]
    pub(crate) fec: Fraction,
}

/// What the senders of a call send, beyond their media, to learn the capacity of their path.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// The rate up to which media is filled up.
    #[schemars(example = "8 Mbps")]
    pub(crate) target: Rate,
    /// The most of what a sender sends that may be probes.
    #[schemars(example = "20 %")]
    pub(crate) budget: Fraction,
    /// What probes are.
    #[serde(default)]
    pub(crate) by: By,
}

/// What probes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    /// Packets that the receiver discards.
    #[default]
    Padding,
    /// Packets of repair of the newest frame that datagrams carry.
    Redundancy,
}

/// Transport of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Carriage {
    /// Each group of frames is a stream.
    #[default]
    Streams,
    /// Each frame is a datagram.
    Datagrams,
}

/// Who sends a stream of media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum From {
    /// The server.
    #[default]
    Server,
    /// The client.
    Client,
}

/// An encoder that follows the rate which congestion control allows (RFC 8593 section 5).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Encoder {
    /// The least rate.
    #[schemars(example = "150 kbps")]
    pub(crate) least: Rate,
    /// The largest rate.
    #[schemars(example = "1.5 Mbps")]
    pub(crate) most: Rate,
    /// The rate at the start; by default the least one.
    pub(crate) start: Option<Rate>,
    /// The part of what congestion control allows that it uses.
    #[serde(default = "all")]
    pub(crate) uses: Fraction,
    /// Time between two changes of the rate.
    #[serde(default = "reaction")]
    pub(crate) reaction: Duration,
    /// Scale of the Laplace distribution by which sizes of frames deviate from what the rate says.
    #[serde(default = "variation")]
    pub(crate) variation: Fraction,
    /// How many times larger than others the first frame of a group is.
    #[serde(default = "key_frame")]
    pub(crate) key_frame: f64,
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
