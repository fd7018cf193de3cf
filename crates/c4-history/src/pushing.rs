//! Pushing: one era above the nominal window, to probe for capacity.
//!
//! Source: c4-history.md section 2.3 (`enter_push`).

use super::constants::{ALPHA_PUSH, ALPHA_PUSH_LOW, LIGHT_PUSH};
use super::{EarlyC4, State};
use thalweg_control::Context;

impl EarlyC4 {
    /// A strong push after a good one and in a pig war, a light one otherwise; never less than one packet
    /// above the nominal window.
    pub(super) fn enter_push(&mut self, cx: &Context<'_>) {
        let light = self.growth.good_pushes == 0 && !self.pig_war && LIGHT_PUSH;
        self.alpha = if light { ALPHA_PUSH_LOW } else { ALPHA_PUSH };
        // The growth test keeps the reference of the last recovery.
        self.growth.alpha = self.alpha;
        self.write_window(
            self.alpha
                .of_size(self.nominal)
                .max(self.nominal + cx.path.mtu),
        );
        self.reset_era(cx);
        self.state = State::Pushing;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::super::tests::Flow;

    fn push(nominal: u64, good_pushes: u64, pig_war: bool) -> u64 {
        let mut flow = Flow::cruising(Version::V1, nominal, 80);
        flow.controller.growth.good_pushes = good_pushes;
        flow.controller.pig_war = pig_war;
        flow.call(|c4, cx| c4.enter_push(cx));
        flow.controller.window.as_u64()
    }

    #[test]
    fn pushes_are_those_of_the_published_run() {
        // section 7, alone, v1
        assert_eq!(push(215_240, 0, false), 228_692); // 930388: light
        assert_eq!(push(216_083, 1, false), 270_103); // 1177705: strong, after a good push
        assert_eq!(push(223_278, 0, false), 237_232); // the cycle
    }

    #[test]
    fn a_pig_war_pushes_strongly_whatever_the_last_result() {
        assert_eq!(push(216_083, 0, true), 270_103);
    }

    #[test]
    fn a_push_adds_at_least_one_packet() {
        assert_eq!(push(10_240, 0, false), 10_240 + 1440); // 6.25 % would be 640 bytes
    }

    #[test]
    fn the_wifi_run_pushes_by_one_sixteenth() {
        // section 7, wifi_bad, v1, at 800019: 62 656 * 1088/1024 = 66 572
        assert_eq!(push(62_656, 0, false), 66_572);
    }
}
