//! The result of one connection of either transport.

use serde::{Deserialize, Serialize};
use thalweg_sim::MediaOutcome;
use thalweg_units::{Bytes, Duration};

/// The result of one connection. Times are since the start of the trial.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ConnectionResult {
    pub(crate) start: Option<Duration>,
    /// Lateness of the actual start.
    pub(crate) start_lateness: Duration,
    pub(crate) completion: Option<Duration>,
    pub(crate) closed: Option<Duration>,
    pub(crate) bytes_delivered: Bytes,
    pub(crate) packets_sent: u64,
    /// Retransmitted by TCP; declared lost by QUIC.
    pub(crate) packets_lost: u64,
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    /// The sum of the smoothed RTT for TCP, of samples for QUIC.
    pub(crate) rtt_sum: Duration,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_max: Duration,
    pub(crate) rtt_min: Option<Duration>,
    /// The outcome of each stream of a call.
    pub(crate) media: Vec<MediaOutcome>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}
