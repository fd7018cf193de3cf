//! Eras: C4's round trips, delimited by packet numbers.
//!
//! draft-huitema-ccwg-c4-spec, "Per era variables". An era ends once its first packet and all older ones
//! are acknowledged or declared lost, so that no era ends while packets of an older one are outstanding.

use super::C4;
use crate::PathState;
use thalweg_units::Duration;

/// The current era.
#[derive(Clone, Copy, Debug)]
pub(super) struct Era {
    /// Number of its first packet.
    pub(super) start: u64,
    /// Largest RTT in it; zero before the first sample.
    pub(super) max_rtt: Duration,
    /// Smallest RTT in it; [`Duration::MAX`] before the first sample.
    pub(super) min_rtt: Duration,
}

impl Era {
    /// An era whose first packet will be `start`.
    pub(super) fn starting_at(start: u64) -> Self {
        Era {
            start,
            max_rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
        }
    }

    /// A sample of the RTT.
    pub(super) fn add(&mut self, rtt: Duration) {
        self.max_rtt = self.max_rtt.max(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// Whether the first packet of the era and all before it have ended. The comparison is strict: the
    /// first packet itself must have ended. No era ends during the handshake.
    pub(super) fn is_over(&self, path: &PathState) -> bool {
        path.established && path.lowest_unacked > self.start
    }
}

impl C4 {
    /// Begins an era with the next packet, and remembers the coefficient now in force as the coefficient of the
    /// packets which the new era will acknowledge.
    ///
    /// The order of statements on entering a state decides which coefficient that is: Recovery
    /// and Cruising set theirs afterwards, so `alpha_previous` is the coefficient of the previous state; Initial,
    /// Resuming, Probing and Pushing set theirs before, so it is already the new one.
    pub(super) fn begin_era(&mut self, path: &PathState) {
        self.era = Era::starting_at(path.next_packet);
        self.alpha_previous = self.alpha;
        self.ecn.update(&path.ecn);
    }
}
