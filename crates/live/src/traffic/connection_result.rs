//! What one connection experienced, whatever carried it.

use serde::{Deserialize, Serialize};

/// What one connection experienced. Times are nanoseconds, those of events since the start.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ConnectionResult {
    pub(crate) start: Option<u64>,
    /// How long after that it really began.
    pub(crate) start_lateness: u64,
    pub(crate) completion: Option<u64>,
    pub(crate) closed: Option<u64>,
    pub(crate) bytes_delivered: u64,
    pub(crate) packets_sent: u64,
    /// Sent again by TCP; declared lost by QUIC.
    pub(crate) packets_lost: u64,
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    /// Of the smoothed RTT for TCP, of the samples for QUIC.
    pub(crate) rtt_sum: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_max: u64,
    pub(crate) rtt_min: Option<u64>,
    /// Of each stream of a call, the columns; what is absent is none.
    pub(crate) media: Vec<(String, Option<f64>)>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}
