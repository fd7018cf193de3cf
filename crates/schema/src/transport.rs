//! Keys of `[transport]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration};

/// Transport parameters, for all flows.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Whose rules the modelled endpoint follows: "rfc", or "picoquic" for comparison with results made with it.
    /// They decide whether a packet may exceed the window, what is acknowledged when, and the defaults below.
    #[serde(default)]
    pub rules: Rules,
    /// Initial congestion window.
    pub initial_window: Option<Bytes>,
    /// UDP payload of full packets before path MTU discovery.
    pub initial_mtu: Option<Bytes>,
    /// UDP payload that path MTU discovery finds.
    pub max_mtu: Option<Bytes>,
    /// Whether senders return to `initial_mtu`, and probe anew, when eleven full packets in a row are lost, and at a
    /// probe timeout, as picoquic does. The modelled endpoint only.
    pub mtu_fallback: Option<bool>,
    /// Whether senders pace a controller that sets no pacing rate, at 5/4 of window over smoothed RTT.
    pub pacing: Option<bool>,
    /// Largest delay of an acknowledgement.
    pub max_ack_delay: Option<Duration>,
    /// Packets per acknowledgement until the sender requests another frequency.
    pub ack_every: Option<u32>,
    /// Whether senders request an acknowledgement frequency.
    pub ack_frequency: Option<bool>,
    /// Whether packets that only acknowledge are "free", or "counted": numbered, in flight and paced under a controller.
    pub acks: Option<Acks>,
    /// Whether senders leave packet numbers out, to find receivers that acknowledge what has not arrived.
    pub skip_packet_numbers: Option<bool>,
    /// Initial flow-control limit of the connection.
    pub initial_max_data: Option<Bytes>,
    /// Initial flow-control limit of a stream.
    pub initial_max_stream_data: Option<Bytes>,
}

/// What packets that only acknowledge are to their sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// Not congestion controlled (RFC 9002 section 7).
    #[default]
    Free,
    /// Numbered, in flight until they are acknowledged, and paced, as in picoquic. The modelled endpoint only.
    Counted,
}

/// Rules of the modelled endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// RFC 9000 and RFC 9002.
    #[default]
    Rfc,
    /// The rules of picoquic.
    Picoquic,
}
