//! Statistics of one sender.

use super::peer::Peer;
use serde::{Deserialize, Serialize};

/// Measurements of a sender, in seconds, bytes and bits per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SenderReport {
    /// Its controller, with options.
    pub controller: String,
    /// Final state of the controller.
    pub state: String,
    /// Ack-eliciting packets.
    pub packets_sent: u64,
    /// Bytes of them (UDP payload).
    pub bytes_sent: u64,
    /// Packets declared lost, spurious losses included.
    pub packets_lost: u64,
    /// Losses that proved spurious.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// Smallest RTT sample; 0 without a sample, as the next two.
    pub min_rtt_s: f64,
    /// Mean of the RTT samples.
    pub mean_rtt_s: f64,
    /// Largest RTT sample.
    pub max_rtt_s: f64,
    /// Final UDP payload of a full packet.
    pub mtu_bytes: u64,
    /// Final congestion window.
    pub window_bytes: u64,
    /// Final pacing rate of the controller, if it sets one.
    pub pacing_bps: Option<u64>,
}

impl SenderReport {
    pub(super) fn of(peer: &Peer) -> SenderReport {
        let mut flow = peer.shared.flow();
        let control = flow.control();
        let (counters, path) = (*flow.counters(), flow.path());
        let samples = counters.rtt_samples.max(1);
        SenderReport {
            controller: peer.controller.clone(),
            state: peer.state_of(&flow).to_owned(),
            packets_sent: counters.packets_sent,
            bytes_sent: counters.bytes_sent,
            packets_lost: counters.packets_lost,
            spurious_losses: counters.spurious_losses,
            timeouts: counters.timeouts,
            min_rtt_s: counters.rtt_min.as_secs_f64(),
            mean_rtt_s: (counters.rtt_sum / samples).as_secs_f64(),
            max_rtt_s: counters.rtt_max.as_secs_f64(),
            mtu_bytes: path.mtu.as_u64(),
            window_bytes: control.window.as_u64(),
            pacing_bps: control.pacing.map(|rate| rate.as_bits_per_sec()),
        }
    }
}
