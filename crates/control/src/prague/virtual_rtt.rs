//! Less dependence on the round-trip time: a flow on a short path behaves as if its RTT were 25 ms.
//!
//! Prague draft section 2.4.4, for the requirement of RFC 9331 section 4.3 (rationale in its appendix
//! A.1.6). Without a standing queue the RTT of a flow is its base RTT, so short paths would starve long
//! ones. Below the reference RTT the flow takes `R_virt = max(srtt, 25 ms)` for
//! - the time between two updates of alpha and between two reductions on marks;
//! - its growth in rate. A flow of RTT `R_virt` adds one packet to its window, so `1 / R_virt` to its
//!   rate, each `R_virt`. For the window `rate * srtt` that is `srtt / R_virt` packets each `R_virt`, or
//!   `(srtt / R_virt)^2` packets each `srtt`.
//!
//! Only long flows do this: a flow takes its real RTT in slow start and for 500 round trips after it.

use thalweg_units::Duration;

/// The reference RTT, and whether it applies yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct VirtualRtt {
    /// Zero leaves the RTT as it is.
    reference: Duration,
    /// Round trips of congestion avoidance before it applies.
    transition: u64,
    rounds: u64,
}

impl VirtualRtt {
    pub(super) fn new(reference: Duration, transition: u64) -> Self {
        VirtualRtt {
            reference,
            transition,
            rounds: 0,
        }
    }

    /// A round trip of congestion avoidance is over.
    pub(super) fn on_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }

    /// Shortest time between two updates or two reductions, in addition to a real round trip.
    pub(super) fn shortest_round(&self) -> Duration {
        if self.rounds >= self.transition {
            self.reference
        } else {
            Duration::ZERO
        }
    }

    /// The factor on additive increase, at most one.
    pub(super) fn growth(&self, smoothed_rtt: Duration) -> f64 {
        let virtual_rtt = self.shortest_round().max(smoothed_rtt).as_nanos().max(1);
        let ratio = smoothed_rtt.as_nanos() as f64 / virtual_rtt as f64;
        ratio * ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn growth_is_the_square_of_the_ratio_below_the_reference() {
        let rtt = VirtualRtt::new(MS(25), 0);
        // (5/25)^2 = 0.04; (12.5/25)^2 = 0.25
        assert!((rtt.growth(MS(5)) - 0.04).abs() < 1e-12);
        assert!((rtt.growth(Duration::from_micros(12_500)) - 0.25).abs() < 1e-12);
        assert_eq!(rtt.growth(MS(25)), 1.0);
        assert_eq!(rtt.growth(MS(100)), 1.0);
    }

    #[test]
    fn the_reference_applies_after_the_transition_and_never_if_it_is_zero() {
        let mut rtt = VirtualRtt::new(MS(25), 2);
        rtt.on_round();
        assert_eq!((rtt.shortest_round(), rtt.growth(MS(5))), (MS(0), 1.0));
        rtt.on_round();
        assert_eq!(rtt.shortest_round(), MS(25));
        assert!(rtt.growth(MS(5)) < 0.05);
        let mut off = VirtualRtt::new(MS(0), 0);
        off.on_round();
        assert_eq!((off.shortest_round(), off.growth(MS(5))), (MS(0), 1.0));
    }
}
