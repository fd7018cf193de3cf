//! Pig war: the competitor fills the queue and ignores delay, so this flow does the same.
//!
//! Source: c4-history.md section 2.3 (`exit_recovery`, `start_pig_war`). v1 introduced the condition on
//! the window (section 1: 1 September): in false alarms the window was at 75 % of its maximum, in true
//! ones at 30 %.

use super::EarlyC4;
use super::constants::DELAY_ERAS;
use thalweg_control::Context;

impl EarlyC4 {
    /// Whether four eras failed by delay and the window has more than halved.
    pub(super) fn suspects_pig_war(&self) -> bool {
        !self.pig_war
            && self.growth.delay_eras >= DELAY_ERAS
            && self.nominal * 2 < self.growth.max_nominal
    }

    /// Ignores delay from now on, takes the RTT with the competitor's queue as the minimum, and
    /// restarts Initial. The threshold and the running minimum do not change.
    pub(super) fn start_pig_war(&mut self, cx: &Context<'_>) {
        let rtt = Self::sample(cx);
        self.growth.delay_eras = 0;
        self.pig_war = true;
        self.min_rtt.nominal = Some(rtt);
        self.min_rtt.set_at = cx.now;
        self.filter.fill(rtt);
        self.enter_initial(cx);
    }

    /// Four good pushes: the competitor has gone.
    pub(super) fn end_pig_war(&mut self) {
        self.pig_war = false;
        self.growth.good_pushes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Flow;
    use super::super::{State, Version};
    use thalweg_units::{Bytes, Duration};

    fn suspects(delay_eras: u64, nominal: u64, max_nominal: u64, pig_war: bool) -> bool {
        let mut flow = Flow::cruising(Version::V1, nominal, 80);
        flow.controller.growth.delay_eras = delay_eras;
        flow.controller.growth.max_nominal = Bytes::new(max_nominal);
        flow.controller.pig_war = pig_war;
        flow.controller.suspects_pig_war()
    }

    #[test]
    fn four_delay_eras_and_less_than_half_the_largest_window_are_both_needed() {
        // section 7, vs_cubic_lg, v1, at 1707884: 30 488 of at most 79 525
        assert!(suspects(4, 30_488, 79_525, false));
        assert!(!suspects(3, 30_488, 79_525, false));
        assert!(!suspects(4, 40_000, 80_000, false));
        assert!(suspects(4, 39_999, 80_000, false));
        assert!(!suspects(4, 30_488, 79_525, true)); // there is one already
    }

    #[test]
    fn a_flow_alone_never_suspects_one_however_many_delay_eras_it_has() {
        // section 7, alone, v1: delay_dec 8 at the end, nominal = maximum
        assert!(!suspects(8, 223_278, 223_278, false));
    }

    #[test]
    fn a_pig_war_takes_the_present_rtt_for_the_minimum_and_restarts_initial() {
        let mut flow = Flow::cruising(Version::V1, 30_488, 80);
        flow.controller.growth.delay_eras = 4;
        flow.controller.growth.max_nominal = Bytes::new(79_525);
        flow.controller.growth.congested = true;
        flow.path.latest_rtt = Duration::from_micros(114_222);
        flow.call(|c4, cx| c4.exit_recovery(cx));
        let c4 = &flow.controller;
        assert_eq!((c4.state, c4.pig_war), (State::Initial, true));
        assert_eq!(c4.min_rtt.nominal, Some(Duration::from_micros(114_222)));
        assert_eq!(c4.min_rtt.threshold, Duration::from_millis(10)); // still 80 ms / 8
        assert_eq!(
            (c4.growth.delay_eras, c4.growth.max_nominal),
            (0, Bytes::ZERO)
        );
        assert_eq!(c4.window, Bytes::new(60_976));
    }
}
