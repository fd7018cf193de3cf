//! Delay events: the filtered RTT has risen above the minimum by more than the threshold.
//!
//! Source: c4-history.md section 2.3 (`on_rtt`) for v1, section 4 for the amounts of v2 and v3.

use super::EarlyC4;
use super::congestion::Signal;
use thalweg_control::Context;
use thalweg_units::Duration;

impl EarlyC4 {
    /// The largest filtered RTT that is not a delay event; `None` while there is no minimum RTT.
    fn delay_limit(&self) -> Option<Duration> {
        let margin = if self.chaotic.on {
            self.chaotic.max_rtt / 2
        } else {
            Duration::ZERO
        };
        self.min_rtt
            .nominal
            .map(|rtt_min| rtt_min + self.min_rtt.threshold + margin)
    }

    /// Compares the smallest of the last samples with the limit. v1 counts the excesses but asks only
    /// whether there is one, so one amount serves all variants.
    pub(super) fn update_delay_excess(&mut self) {
        let (Some(limit), true) = (self.delay_limit(), self.filter.has_risen()) else {
            self.delay_excess = Duration::ZERO;
            return;
        };
        if self.filter.min > limit {
            self.delay_excess = self.excess_over(limit);
        } else if !self.keeps_stale_excess() {
            self.delay_excess = Duration::ZERO;
        }
    }

    /// The amount of a delay event.
    ///
    /// Slip of v2 and v3: `min - (rtt_min + threshold + margin)` was intended,
    /// `min - rtt_min + threshold + margin` was written.
    fn excess_over(&self, limit: Duration) -> Duration {
        if self.version.writes_window_on_change() || !self.slips.excess_sign {
            return self.filter.min - limit;
        }
        let rtt_min = self.min_rtt.nominal.unwrap_or(Duration::ZERO);
        (self.filter.min - rtt_min) + (limit - rtt_min)
    }

    /// Slip of v2 and v3: only a filter that has not risen clears the excess; a filter that has risen by
    /// less than the threshold leaves the old one.
    fn keeps_stale_excess(&self) -> bool {
        !self.version.writes_window_on_change() && self.slips.stale_excess
    }

    /// Outside Initial, a delay event is congestion unless a pig war or chaotic jitter explains it.
    pub(super) fn delay_event(&mut self, rtt: Duration, cx: &Context<'_>) {
        let trusted = self.min_rtt.nominal.is_some();
        if trusted && !self.delay_excess.is_zero() && !self.chaotic.on && !self.pig_war {
            self.congestion(Signal::Delay(rtt), cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slips::Slips;
    use super::super::tests::Flow;
    use super::super::{State, Version};
    use super::*;

    /// RTT minimum 80 ms, threshold 10 ms, filter floor 80 ms; then seven samples of `rtt`.
    fn excess_at(flow: &mut Flow, rtt: u64) -> Duration {
        flow.rtts(7, rtt);
        flow.controller.delay_excess
    }

    #[test]
    fn seven_samples_above_the_threshold_are_a_delay_event() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.rtts(6, 91);
        assert_eq!(flow.controller.state, State::Cruising); // one of the last seven is still 80 ms
        flow.rtts(1, 91);
        assert_eq!(flow.controller.state, State::Recovery);
    }

    #[test]
    fn a_delay_within_the_threshold_is_no_event() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        flow.rtts(20, 90); // 80 + 80/8, not above it
        assert_eq!(flow.controller.state, State::Cruising);
    }

    #[test]
    fn pig_wars_and_chaotic_jitter_suspend_the_reaction() {
        let mut war = Flow::cruising(Version::V1, 100_000, 80);
        war.controller.pig_war = true;
        war.rtts(20, 200);
        assert_eq!(war.controller.state, State::Cruising);
        let mut chaos = Flow::cruising(Version::V1, 100_000, 80);
        chaos.controller.chaotic.on = true;
        chaos.rtts(20, 200);
        assert_eq!(chaos.controller.state, State::Cruising);
        assert!(!chaos.controller.delay_excess.is_zero());
    }

    #[test]
    fn chaotic_jitter_allows_half_the_maximum_rtt_more() {
        let mut flow = Flow::cruising(Version::V1, 100_000, 80);
        (flow.controller.chaotic.on, flow.controller.chaotic.max_rtt) =
            (true, Duration::from_millis(200));
        assert_eq!(excess_at(&mut flow, 190), Duration::ZERO); // 80 + 10 + 100
        assert_eq!(excess_at(&mut flow, 191), Duration::from_millis(1));
    }

    #[test]
    fn the_excess_of_v2_adds_the_thresholds_that_the_repair_subtracts() {
        // 95 - 80 + 10 = 25 ms as published, 95 - 80 - 10 = 5 ms as meant
        for (slips, excess) in [(Slips::AS_PUBLISHED, 25), (Slips::REPAIRED, 5)] {
            let mut flow = Flow::cruising(Version::V2, 100_000, 80);
            flow.controller.slips = slips;
            flow.controller.pig_war = true; // the event itself is not the subject
            assert_eq!(excess_at(&mut flow, 95), Duration::from_millis(excess));
        }
    }

    #[test]
    fn v2_keeps_a_stale_excess_while_the_filter_stays_above_its_floor() {
        for (version, slips, stale) in [
            (Version::V1, Slips::AS_PUBLISHED, false),
            (Version::V2, Slips::AS_PUBLISHED, true),
            (Version::V2, Slips::REPAIRED, false),
        ] {
            let mut flow = Flow::cruising(version, 100_000, 80);
            flow.controller.slips = slips;
            flow.controller.pig_war = true;
            excess_at(&mut flow, 95);
            assert_eq!(!excess_at(&mut flow, 85).is_zero(), stale, "{version:?}");
            assert!(excess_at(&mut flow, 80).is_zero());
        }
    }
}
