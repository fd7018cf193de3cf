//! Initial: grow at twice the nominal window until something says that the capacity is reached.
//!
//! Source: c4-history.md section 2.3 (`initial_ack`, `enter_initial`, `exit_initial`), section 2.5 for
//! the four exits, section 3 for the variant without the exit on delay. No exit lowers the nominal
//! window; the factor alone falls, from 200 % to 100 %.

use super::constants::{ALPHA_INITIAL, ERAS_WITHOUT_GROWTH, STARTUP_EVENTS};
use super::{EarlyC4, State, Variant};
use crate::Context;
use thalweg_units::Bytes;

/// What only Initial needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Startup {
    /// ACKs, and losses or CE marks that would be congestion elsewhere, since Initial began (`startup`).
    pub(super) events: u64,
    /// Window of an earlier connection (`use_seed` and `seed`), until it is reached or Initial is left.
    pub(super) seed: Option<Bytes>,
}

/// Half of what the peak rate carries in a round trip: the least window of Initial.
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
        let exits = self.variant != Variant::V1NoExitOnDelay;
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
    use super::super::bench::Bench;
    use super::*;
    use thalweg_units::{Duration, Rate};

    #[test]
    fn three_eras_without_growth_of_a_half_end_initial_and_keep_the_nominal_window() {
        let mut bench = Bench::new(Variant::V1);
        bench.end_era(100_000, 80);
        assert_eq!(bench.c4.growth.eras_without, 0); // the start was 7680
        for era in 1..=2 {
            bench.end_era(149_999, 80); // grows to 149 999 once: not a half
            assert_eq!(
                (bench.c4.state, bench.c4.growth.eras_without),
                (State::Initial, era)
            );
        }
        bench.end_era(149_999, 80);
        assert_eq!(bench.c4.state, State::Recovery);
        assert_eq!(bench.c4.nominal, Bytes::new(149_999));
        assert_eq!(bench.c4.window, Bytes::new(149_999)); // from 200 % to 100 %
    }

    #[test]
    fn delay_ends_initial_after_one_era_without_growth() {
        for variant in [Variant::V1, Variant::V2, Variant::V3] {
            let mut bench = Bench::new(variant);
            bench.rtts(8, 80);
            bench.end_era(100_000, 80);
            bench.rtts(7, 120);
            assert_eq!(bench.c4.state, State::Initial); // no era without growth yet
            bench.end_era(100_000, 120);
            bench.rtts(1, 120);
            assert_eq!(bench.c4.state, State::Recovery, "{variant:?}");
        }
    }

    #[test]
    fn the_variant_without_exit_on_delay_stays_in_initial() {
        let mut bench = Bench::new(Variant::V1NoExitOnDelay);
        bench.rtts(8, 80);
        bench.end_era(100_000, 80);
        bench.end_era(100_000, 120);
        bench.rtts(20, 120);
        assert!(bench.c4.growth.eras_without > 0 && !bench.c4.delay_excess.is_zero());
        assert_eq!(bench.c4.state, State::Initial);
    }

    #[test]
    fn losses_end_initial_only_after_twenty_events() {
        let mut bench = Bench::new(Variant::V1);
        bench.path.largest_acked = Some(0);
        bench.c4.era.first = u64::MAX; // no era ends in this test
        (0..17).for_each(|_| bench.ack(20_000, 80));
        // the third loss in a row is the first above the threshold: event 18 ; then 19, 20 and 21
        bench.losses(100, 5);
        assert_eq!(
            (bench.c4.state, bench.c4.startup.events),
            (State::Initial, 20)
        );
        bench.losses(105, 1);
        assert_eq!(bench.c4.state, State::Recovery);
        assert_eq!(bench.c4.nominal, Bytes::new(20_000));
    }

    #[test]
    fn ce_marks_end_initial_without_any_filter() {
        let mut bench = Bench::new(Variant::V1);
        (0..20).for_each(|_| bench.ce());
        assert_eq!(bench.c4.state, State::Initial);
        bench.ce();
        assert_eq!(bench.c4.state, State::Recovery);
    }

    #[test]
    fn the_window_covers_half_of_what_the_peak_rate_carries() {
        for variant in [Variant::V1, Variant::V2] {
            let mut bench = Bench::new(variant);
            bench.path.peak_rate = Rate::from_bytes_per_sec(2_500_000);
            bench.path.smoothed_rtt = Duration::from_millis(80);
            bench.ack(10_000, 80);
            assert_eq!(bench.c4.window, Bytes::new(100_000)); // 2.5 MB/s * 80 ms / 2
        }
    }

    #[test]
    fn a_seed_pulls_the_window_half_way_and_is_forgotten_when_it_is_reached() {
        for variant in [Variant::V1, Variant::V2] {
            let mut bench = Bench::new(variant);
            bench.seed(200_000);
            bench.ack(10_000, 80);
            assert_eq!(bench.c4.window, Bytes::new(110_000)); // (200 000 + 2*10 000)/2
            bench.ack(200_000, 80);
            assert_eq!(bench.c4.startup.seed, None);
            assert_eq!(bench.c4.window, Bytes::new(400_000));
        }
    }
}
