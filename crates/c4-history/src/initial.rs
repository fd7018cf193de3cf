//! Initial: grow at twice the nominal window until a signal shows that the capacity is reached.
//!
//! Source: c4-history.md section 2.3 (`initial_ack`, `enter_initial`, `exit_initial`), section 2.5 for
//! the four exits, section 3 for the version without the exit on delay. No exit lowers the nominal
//! window; the factor alone falls, from 200 % to 100 %.

use super::constants::{ALPHA_INITIAL, ERAS_WITHOUT_GROWTH, STARTUP_EVENTS};
use super::{EarlyC4, State, Version};
use thalweg_control::Context;
use thalweg_units::Bytes;

/// What only Initial needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Startup {
    /// ACKs, and losses or CE marks that would be congestion elsewhere, since Initial began (`startup`).
    pub(super) events: u64,
    /// Window of an earlier connection (`use_seed` and `seed`), until it is reached or Initial is left.
    pub(super) seed: Option<Bytes>,
}

/// Half of the BDP at the peak rate: the least window of Initial.
pub(super) fn half_peak_window(cx: &Context<'_>) -> Bytes {
    cx.path.peak_rate.bytes_in(cx.path.smoothed_rtt) / 2
}

impl EarlyC4 {
    pub(super) fn enter_initial(&mut self, cx: &Context<'_>) {
        self.state = State::Initial;
        self.alpha = ALPHA_INITIAL;
        self.startup.events = 0;
        self.filter.restart_count();
        self.write_window(self.nominal * 2);
        self.reset_era(cx);
        self.growth.clear_counts();
        self.growth.max_nominal = Bytes::ZERO;
        self.growth.reset(self.nominal, self.alpha);
    }

    pub(super) fn initial_ack(&mut self, cx: &Context<'_>) {
        self.startup.events += 1;
        if self.startup.seed.is_some_and(|seed| self.nominal >= seed) {
            self.startup.seed = None;
        }
        if self.era.is_over(cx) {
            self.growth.evaluate(self.nominal);
            self.reset_era(cx);
            if self.growth.eras_without >= ERAS_WITHOUT_GROWTH {
                self.exit_initial(cx);
                return;
            }
            self.growth.reset(self.nominal, self.alpha);
        }
        let window = self.window.max(half_peak_window(cx));
        self.write_window(self.towards_seed(window, self.nominal * 2));
    }

    /// Averages a remembered window that is larger than `window` with `target`; never less than `window`.
    fn towards_seed(&self, window: Bytes, target: Bytes) -> Bytes {
        match self.startup.seed {
            Some(seed) if seed > window => window.max((seed + target) / 2),
            _ => window,
        }
    }

    /// The exit on delay: a filtered excess after at least one round without growth.
    pub(super) fn initial_rtt(&mut self, cx: &Context<'_>) {
        let exits = self.version != Version::V1NoExitOnDelay;
        let excess = self.filter.ready && !self.delay_excess.is_zero();
        if exits && excess && self.growth.eras_without > 0 {
            self.exit_initial(cx);
        }
    }

    /// The exit on loss or CE, effective after the first events only.
    pub(super) fn initial_congestion(&mut self, cx: &Context<'_>) {
        self.startup.events += 1;
        if self.startup.events > STARTUP_EVENTS {
            self.exit_initial(cx);
        }
    }

    pub(super) fn exit_initial(&mut self, cx: &Context<'_>) {
        self.growth.clear_counts();
        self.enter_recovery(None, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Flow;
    use super::*;
    use thalweg_control::event::EcnCounts;
    use thalweg_units::{Duration, Rate};

    #[test]
    fn three_eras_without_growth_of_a_half_end_initial_and_keep_the_nominal_window() {
        let mut flow = Flow::of_version(Version::V1);
        flow.end_era(100_000, 80);
        assert_eq!(flow.controller.growth.eras_without, 0); // the start was 7680
        for era in 1..=2 {
            flow.end_era(149_999, 80); // grows to 149 999 once: not a half
            assert_eq!(
                (flow.controller.state, flow.controller.growth.eras_without),
                (State::Initial, era)
            );
        }
        flow.end_era(149_999, 80);
        assert_eq!(flow.controller.state, State::Recovery);
        assert_eq!(flow.controller.nominal, Bytes::new(149_999));
        assert_eq!(flow.controller.window, Bytes::new(149_999)); // from 200 % to 100 %
    }

    #[test]
    fn delay_ends_initial_after_one_era_without_growth() {
        for version in [Version::V1, Version::V2, Version::V3] {
            let mut flow = Flow::of_version(version);
            flow.rtts(8, 80);
            flow.end_era(100_000, 80);
            flow.rtts(7, 120);
            assert_eq!(flow.controller.state, State::Initial); // no era without growth yet
            flow.end_era(100_000, 120);
            flow.rtts(1, 120);
            assert_eq!(flow.controller.state, State::Recovery, "{version:?}");
        }
    }

    #[test]
    fn the_variant_without_exit_on_delay_stays_in_initial() {
        let mut flow = Flow::of_version(Version::V1NoExitOnDelay);
        flow.rtts(8, 80);
        flow.end_era(100_000, 80);
        flow.end_era(100_000, 120);
        flow.rtts(20, 120);
        assert!(flow.controller.growth.eras_without > 0 && !flow.controller.delay_excess.is_zero());
        assert_eq!(flow.controller.state, State::Initial);
    }

    #[test]
    fn losses_end_initial_only_after_twenty_events() {
        let mut flow = Flow::of_version(Version::V1);
        flow.path.largest_acked = Some(0);
        flow.controller.era.first = u64::MAX; // no era ends in this test
        (0..17).for_each(|_| flow.deliver(20_000, 80));
        // the third loss in a row is the first above the threshold: event 18 ; then 19, 20 and 21
        flow.losses(100, 5);
        assert_eq!(
            (flow.controller.state, flow.controller.startup.events),
            (State::Initial, 20)
        );
        flow.losses(105, 1);
        assert_eq!(flow.controller.state, State::Recovery);
        assert_eq!(flow.controller.nominal, Bytes::new(20_000));
    }

    #[test]
    fn ce_marks_end_initial_without_any_filter() {
        let mut flow = Flow::of_version(Version::V1);
        (0..20).for_each(|_| flow.report_ecn(EcnCounts::default()));
        assert_eq!(flow.controller.state, State::Initial);
        flow.report_ecn(EcnCounts::default());
        assert_eq!(flow.controller.state, State::Recovery);
    }

    #[test]
    fn the_window_covers_half_of_what_the_peak_rate_carries() {
        for version in [Version::V1, Version::V2] {
            let mut flow = Flow::of_version(version);
            flow.path.peak_rate = Rate::from_bytes_per_sec(2_500_000);
            flow.path.smoothed_rtt = Duration::from_millis(80);
            flow.deliver(10_000, 80);
            assert_eq!(flow.controller.window, Bytes::new(100_000)); // 2.5 MB/s * 80 ms / 2
        }
    }

    #[test]
    fn a_seed_pulls_the_window_half_way_and_is_forgotten_when_it_is_reached() {
        for version in [Version::V1, Version::V2] {
            let mut flow = Flow::of_version(version);
            flow.report_seed(Bytes::new(200_000));
            flow.deliver(10_000, 80);
            assert_eq!(flow.controller.window, Bytes::new(110_000)); // (200 000 + 2*10 000)/2
            flow.deliver(200_000, 80);
            assert_eq!(flow.controller.startup.seed, None);
            assert_eq!(flow.controller.window, Bytes::new(400_000));
        }
    }
}
