//! Connection flow control (RFC 9000 section 4) with auto-tuned windows.

use thalweg_units::Duration;

/// Windows grow in proportion to paths longer than this.
const NOMINAL_RTT: Duration = Duration::from_millis(100);
/// ... up to that of a geostationary satellite.
const LONGEST_RTT: Duration = Duration::from_millis(610);

/// The limit that replaces `limit` once half of it is used: three times as much on ordinary
/// paths, `1 + rtt / 100 ms` times as much on longer ones (reference behaviour).
pub(crate) fn grown(limit: u64, min_rtt: Duration) -> u64 {
    if min_rtt <= NOMINAL_RTT {
        return limit.saturating_mul(3);
    }
    let more = min_rtt
        .min(LONGEST_RTT)
        .mul_div(limit, NOMINAL_RTT.as_nanos());
    limit.saturating_add(more.as_nanos())
}

/// Both directions of one connection.
#[derive(Debug)]
pub(crate) struct FlowControl {
    /// New stream bytes sent, and how many the peer allows.
    pub(crate) sent: u64,
    pub(crate) peer_limit: u64,
    /// Stream bytes received, and how many we allow.
    received: u64,
    limit: u64,
    /// A MAX_DATA frame is due.
    pub(crate) pending: bool,
}

impl FlowControl {
    pub(crate) fn new(window: u64) -> Self {
        FlowControl {
            sent: 0,
            peer_limit: window,
            received: 0,
            limit: window,
            pending: false,
        }
    }

    /// How many new bytes may be sent.
    pub(crate) fn credit(&self) -> u64 {
        self.peer_limit.saturating_sub(self.sent)
    }

    /// New bytes have arrived.
    pub(crate) fn on_received(&mut self, bytes: u64, min_rtt: Duration) {
        self.received += bytes;
        if self.received >= self.limit / 2 {
            self.limit = grown(self.limit, min_rtt);
            self.pending = true;
        }
    }

    /// The limit for a MAX_DATA frame, which settles what is pending.
    pub(crate) fn take_update(&mut self) -> u64 {
        self.pending = false;
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_triple_and_grow_faster_on_satellite_paths() {
        assert_eq!(grown(1 << 20, Duration::from_millis(80)), 3 << 20);
        assert_eq!(grown(1000, Duration::from_millis(600)), 7000);
        assert_eq!(grown(1000, Duration::from_secs(5)), 7100);
    }

    #[test]
    fn half_of_the_window_opens_the_next() {
        let mut flow = FlowControl::new(1000);
        flow.on_received(499, Duration::ZERO);
        assert!(!flow.pending);
        flow.on_received(1, Duration::ZERO);
        assert!(flow.pending);
        assert_eq!((flow.take_update(), flow.pending), (3000, false));
    }
}
