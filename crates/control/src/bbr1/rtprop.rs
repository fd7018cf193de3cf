//! Round-trip propagation time (draft-cardwell-iccrg-bbr-congestion-control-00 sections 4.1.2 and
//! 4.3.5): the smallest RTT of the last ten seconds, whose expiry also triggers ProbeRTT.

use thalweg_units::{Duration, Instant};

/// RTpropFilterLen (section 4.1.2.2).
const FILTER_LEN: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(super) struct RtProp {
    rtprop: Option<Duration>,
    stamp: Instant,
    /// BBR.rtprop_expired.
    pub(super) expired: bool,
}

impl RtProp {
    pub(super) fn new(now: Instant) -> Self {
        RtProp {
            rtprop: None,
            stamp: now,
            expired: false,
        }
    }

    /// BBR.RTprop, if any RTT is known.
    pub(super) fn get(&self) -> Option<Duration> {
        self.rtprop
    }

    /// The smoothed RTT of the handshake is used until the first sample.
    pub(super) fn seed(&mut self, smoothed_rtt: Duration) {
        self.rtprop.get_or_insert(smoothed_rtt);
    }

    /// BBRUpdateRTprop().
    pub(super) fn update(&mut self, rtt: Duration, now: Instant) {
        self.expired = now > self.stamp + FILTER_LEN;
        if self.expired || self.rtprop.is_none_or(|least| rtt <= least) {
            (self.rtprop, self.stamp) = (Some(rtt), now);
        }
    }

    /// ProbeRTT is over.
    pub(super) fn probed(&mut self, now: Instant) {
        self.stamp = now;
    }
}
