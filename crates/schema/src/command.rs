//! Keys of `[flow.command]`: programs that are the ends of a flow, in real time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Duration;

/// A client and a server that transfer the data of a flow. Each has a host of its own, where `sh` runs its command.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The command of the client, which ends with status 0 when the transfer is complete.
    #[schemars(example = &"curl -s -o /dev/null http://$THALWEG_PEER:8000/file")]
    pub client: String,
    /// The command of the server, which stays in the foreground.
    pub server: Option<String>,
    /// What the client waits for: "tcp:80", "udp:443", or a command that ends with status 0 on the host of the server.
    pub ready: Option<String>,
    /// How long that may take.
    #[serde(default = "half_a_minute")]
    pub ready_within: Duration,
    /// How its bytes are counted.
    #[serde(default)]
    pub count: Count,
}

/// How the bytes of a program are counted from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// As the bytes of the workload, when the client has ended with status 0.
    #[default]
    Workload,
    /// As what the packets carry above TCP and UDP.
    Packets,
}

fn half_a_minute() -> Duration {
    Duration::from_secs(30)
}
