//! Eras: periods of about one round trip, each at one factor.
//!
//! An era starts at the next packet to leave and ends when an acknowledgement has reached that packet.
//! Source: c4-history.md section 2.3 (`era_over`, `era_reset`, `era_end`).

use super::slowdown::Need;
use super::{EarlyC4, State};
use thalweg_control::{Context, PathState};
use thalweg_units::{Bytes, Duration};

/// The current era.
#[derive(Clone, Debug)]
pub(super) struct Era {
    /// Its first packet (`era_seq`).
    pub(super) first: u64,
    /// Largest RTT seen in it (`era_max`).
    pub(super) max_rtt: Duration,
}

/// The largest packet acknowledged.
///
/// Slip: "nothing acknowledged yet" is 2^64-1 in the original, so an event before the first
/// acknowledgement ends the era. (Today's C4 also waits for the packets before.)
pub(super) fn highest_acked(path: &PathState) -> u64 {
    path.largest_acked.unwrap_or(u64::MAX)
}

impl Era {
    pub(super) fn starting_at(packet: u64) -> Self {
        Era {
            first: packet,
            max_rtt: Duration::ZERO,
        }
    }

    /// Whether the first packet of the era is acknowledged. No era ends during the handshake.
    pub(super) fn is_over(&self, cx: &Context<'_>) -> bool {
        cx.path.established && highest_acked(cx.path) >= self.first
    }

    pub(super) fn extend(&mut self, rtt: Duration) {
        self.max_rtt = self.max_rtt.max(rtt);
    }
}

impl EarlyC4 {
    pub(super) fn reset_era(&mut self, cx: &Context<'_>) {
        self.era = Era::starting_at(cx.path.next_packet);
    }

    /// The natural end of an era in any state but Initial. A slowdown takes precedence over the action of the
    /// state, even over the evaluation at the end of a recovery.
    pub(super) fn end_era(&mut self, delivered: Bytes, cx: &Context<'_>) {
        self.era.extend(Self::sample(cx));
        self.chaotic.end_era(self.era.max_rtt, self.min_rtt.nominal);
        match self.slowdown_need(delivered, cx.now) {
            Need::Natural => self.enter_checking(cx),
            Need::Forced => self.enter_slowdown(cx),
            Need::None => match self.state {
                State::Initial => {}
                State::Recovery => self.exit_recovery(cx),
                State::Cruising => self.cruising_era_end(cx),
                State::Pushing => self.enter_recovery(None, cx),
                State::Slowdown => self.enter_checking(cx),
                State::Checking => self.end_checking(cx),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::super::tests::Flow;
    use super::*;

    #[test]
    fn an_era_ends_with_the_acknowledgement_of_its_first_packet() {
        let mut flow = Flow::cruising(Version::V1, 40_000, 100);
        flow.path.next_packet = 500;
        flow.call(|c4, cx| c4.reset_era(cx));
        for (acked, over) in [(Some(499), false), (Some(500), true), (None, true)] {
            flow.path.largest_acked = acked;
            assert_eq!(flow.call(|c4, cx| c4.era.is_over(cx)), over, "{acked:?}");
        }
    }

    #[test]
    fn no_era_ends_during_the_handshake() {
        let mut flow = Flow::cruising(Version::V1, 40_000, 100);
        flow.path.established = false;
        flow.path.largest_acked = Some(u64::MAX);
        assert!(!flow.call(|c4, cx| c4.era.is_over(cx)));
    }

    #[test]
    fn a_push_is_followed_by_a_recovery_and_a_slowdown_by_a_check() {
        for (from, to) in [
            (State::Pushing, State::Recovery),
            (State::Slowdown, State::Checking),
        ] {
            let mut flow = Flow::cruising(Version::V1, 40_000, 100);
            flow.controller.state = from;
            flow.end_era(40_000, 100);
            assert_eq!(flow.controller.state, to);
        }
    }
}
