//! Keys of `[transport]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration};

/// Transport parameters, for all flows.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transport {
    /// Whose rules the modelled endpoint follows: "rfc", or "picoquic" for comparison with results made with it.
    /// They decide whether a packet may exceed the window, what is acknowledged when, and the defaults below.
    #[serde(default)]
    pub(crate) rules: Rules,
    /// Initial congestion window.
    pub(crate) initial_window: Option<Bytes>,
    /// UDP payload of full packets before path MTU discovery.
    pub(crate) initial_mtu: Option<Bytes>,
    /// UDP payload that path MTU discovery finds.
    pub(crate) max_mtu: Option<Bytes>,
    /// Largest delay of an acknowledgement.
    pub(crate) max_ack_delay: Option<Duration>,
    /// Packets for each acknowledgement until the sender asks for another frequency.
    pub(crate) ack_every: Option<u32>,
    /// Whether senders ask for an acknowledgement frequency.
    pub(crate) ack_frequency: Option<bool>,
    /// Connection flow-control window at the start.
    pub(crate) initial_max_data: Option<Bytes>,
    /// Stream flow-control window at the start.
    pub(crate) initial_max_stream_data: Option<Bytes>,
}

/// Whose rules the modelled endpoint follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rules {
    /// RFC 9000 and RFC 9002.
    #[default]
    Rfc,
    /// Those of picoquic.
    Picoquic,
}
