//! Slowdown and Checking: re-measuring the minimum RTT.
//!
//! Every five seconds, and sooner the more the RTT exceeds the minimum, one era at half the window
//! (Slowdown) drains the flow's own queue, and the next era (Checking) measures the remaining
//! RTT. An era that has delivered little anyway counts as a slowdown (*natural*). Two consecutive
//! checks above the minimum raise it and restart Initial.
//!
//! Under jitter the smallest of seven samples almost always exceeds the minimum, so eras that
//! deliver little keep becoming natural slowdowns; the following restarts cause most of the window
//! spikes of these variants. Source: c4-history.md sections 2.3 (`slowdown_needed` to `end_checking`) and
//! 2.5.

use super::constants::{ALPHA_NEUTRAL, ALPHA_SLOWDOWN, SLOWDOWN_MIN_RTTS, SLOWDOWN_PERIOD};
use super::{EarlyC4, State};
use thalweg_control::Context;
use thalweg_control::coefficient::Coefficient;
use thalweg_units::{Bytes, Duration, Instant};

/// Whether the minimum RTT should be measured now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// No.
    None,
    /// The last era was slow enough; check the next one.
    Natural,
    /// The window must be halved for it.
    Forced,
}

impl EarlyC4 {
    /// Decides at the end of an era that delivered `delivered`. Without a minimum RTT (2^64-1 in the
    /// original, five times of which never passes) there is no need.
    pub(super) fn slowdown_need(&self, delivered: Bytes, now: Instant) -> Need {
        if matches!(self.state, State::Slowdown | State::Checking) {
            return Need::None;
        }
        let Some(rtt_min) = self.min_rtt.nominal else {
            return Need::None;
        };
        let urgent = self.filter.min > rtt_min;
        let (period, expected) = if urgent {
            let shorter = Coefficient::of_spans(rtt_min, self.filter.min);
            let longer = Coefficient::of_spans(self.filter.min, rtt_min);
            (
                shorter.of_span(SLOWDOWN_PERIOD),
                longer.of_size(self.nominal),
            )
        } else {
            (SLOWDOWN_PERIOD, self.nominal)
        };
        let natural = delivered * 2 < expected;
        let last = self.min_rtt.set_at;
        let due = last + period < now && last + rtt_min * SLOWDOWN_MIN_RTTS < now;
        match (natural, due) {
            (true, _) if urgent || due => Need::Natural,
            (_, true) => Need::Forced,
            _ => Need::None,
        }
    }

    pub(super) fn enter_slowdown(&mut self, cx: &Context<'_>) {
        self.alpha = ALPHA_SLOWDOWN;
        self.write_window(self.nominal / 2);
        self.min_rtt.confirm(self.filter.max, cx.now);
        self.state = State::Slowdown;
        self.reset_era(cx);
    }

    pub(super) fn enter_checking(&mut self, cx: &Context<'_>) {
        self.alpha = ALPHA_NEUTRAL;
        self.write_window(self.nominal);
        self.state = State::Checking;
        self.reset_era(cx);
    }

    /// Compares two checks in a row with the minimum.
    pub(super) fn end_checking(&mut self, cx: &Context<'_>) {
        let sample = Self::sample(cx);
        let running = self.min_rtt.running.min(sample);
        let before = std::mem::replace(&mut self.min_rtt.last_check, running);
        let rtt_min = self.min_rtt.nominal.unwrap_or(Duration::MAX);
        self.min_rtt.running = running;
        if running > rtt_min && before > rtt_min {
            self.growth.delay_eras = 0;
            self.min_rtt.set(running, sample, cx.now);
            self.filter.fill(running);
            self.enter_initial(cx);
        } else {
            self.min_rtt.confirm(sample, cx.now);
            self.enter_cruise(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::super::tests::Flow;
    use super::*;

    fn need(flow: &Flow, delivered: u64, after_ms: u64) -> Need {
        let now = flow.controller.min_rtt.set_at + Duration::from_millis(after_ms);
        flow.controller.slowdown_need(Bytes::new(delivered), now)
    }

    /// Nominal 80 000, minimum RTT 80 ms, and a filter that shows `rtt`.
    fn filtered(rtt: u64) -> Flow {
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        flow.controller.filter.fill(Duration::from_millis(rtt));
        flow
    }

    #[test]
    fn at_the_minimum_rtt_a_slowdown_is_forced_every_five_seconds() {
        let calm = filtered(80);
        assert_eq!(need(&calm, 80_000, 5000), Need::None);
        assert_eq!(need(&calm, 80_000, 5001), Need::Forced);
    }

    #[test]
    fn a_higher_rtt_shortens_the_wait_in_proportion() {
        let queued = filtered(160);
        // 5 s * 80/160 ; the era delivered enough: 2*100 000 >= 80 000*160/80
        assert_eq!(need(&queued, 100_000, 2500), Need::None);
        assert_eq!(need(&queued, 100_000, 2501), Need::Forced);
    }

    #[test]
    fn five_round_trips_must_have_passed_whatever_the_rtt() {
        let far = filtered(80_000); // 5 s * 80 ms/80 s = 5 ms ; five round trips are 400 ms
        assert_eq!(need(&far, 1_000_000_000, 400), Need::None);
        assert_eq!(need(&far, 1_000_000_000, 401), Need::Forced);
    }

    #[test]
    fn an_era_that_delivered_less_than_half_is_a_natural_slowdown_when_the_rtt_is_high() {
        let queued = filtered(160); // expects 80 000*160/80 = 160 000 in an era of 160 ms
        assert_eq!(need(&queued, 79_999, 1), Need::Natural);
        assert_eq!(need(&queued, 80_000, 1), Need::None);
    }

    #[test]
    fn a_slow_era_at_the_minimum_rtt_is_natural_only_when_a_slowdown_is_due() {
        let calm = filtered(80);
        assert_eq!(need(&calm, 39_999, 5000), Need::None);
        assert_eq!(need(&calm, 39_999, 5001), Need::Natural);
        assert_eq!(need(&calm, 40_000, 5001), Need::Forced);
    }

    #[test]
    fn slowdown_and_checking_are_not_interrupted_and_nothing_is_due_without_a_minimum() {
        let mut flow = filtered(160);
        for state in [State::Slowdown, State::Checking] {
            flow.controller.state = state;
            assert_eq!(need(&flow, 0, 60_000), Need::None);
        }
        flow.controller.state = State::Cruising;
        flow.controller.min_rtt.nominal = None;
        assert_eq!(need(&flow, 0, 60_000), Need::None);
    }

    #[test]
    fn a_forced_slowdown_halves_the_window_and_restarts_the_running_minimum() {
        // section 7, vs_cubic_lg, v1: cruise at 162 202, forced slowdown to 81 101
        let mut flow = Flow::cruising(Version::V1, 162_202, 80);
        flow.controller.filter.fill(Duration::from_millis(120));
        flow.work_for(3500);
        flow.call(|c4, cx| c4.end_era(Bytes::new(200_000), cx));
        assert_eq!(flow.controller.state, State::Slowdown);
        assert_eq!(flow.controller.window, Bytes::new(81_101));
        assert_eq!(flow.controller.min_rtt.running, Duration::from_millis(120));
        assert_eq!(flow.controller.min_rtt.set_at, flow.now);
        flow.end_era(81_000, 80);
        assert_eq!(flow.controller.state, State::Checking);
        assert_eq!(flow.controller.window, Bytes::new(162_202));
    }

    #[test]
    fn two_checks_above_the_minimum_raise_it_and_restart_initial() {
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        for check in [1, 2] {
            flow.path.latest_rtt = Duration::from_millis(100);
            flow.controller.min_rtt.running = Duration::from_millis(95);
            flow.call(|c4, cx| c4.enter_checking(cx));
            flow.call(|c4, cx| c4.end_checking(cx));
            if check == 1 {
                assert_eq!(flow.controller.state, State::Cruising);
                assert_eq!(
                    flow.controller.min_rtt.nominal,
                    Some(Duration::from_millis(80))
                );
            }
        }
        assert_eq!(flow.controller.state, State::Initial);
        assert_eq!(
            flow.controller.min_rtt.nominal,
            Some(Duration::from_millis(95))
        );
        assert_eq!(flow.controller.filter.min, Duration::from_millis(95));
        assert_eq!(flow.controller.window, Bytes::new(160_000));
    }

    #[test]
    fn a_check_at_the_minimum_confirms_it() {
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        flow.controller.min_rtt.last_check = Duration::from_millis(95);
        flow.work_for(1000);
        flow.path.latest_rtt = Duration::from_millis(80);
        flow.call(|c4, cx| c4.end_checking(cx));
        assert_eq!(flow.controller.state, State::Cruising);
        assert_eq!(
            flow.controller.min_rtt.nominal,
            Some(Duration::from_millis(80))
        );
        assert_eq!(flow.controller.min_rtt.set_at, flow.now);
        assert_eq!(
            flow.controller.min_rtt.last_check,
            Duration::from_millis(80)
        );
    }
}
