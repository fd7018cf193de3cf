//! Recovery: one era in which the acknowledgements of the era before come in, then the verdict on it.
//!
//! Source: c4-history.md section 2.3 (`enter_recovery`, `exit_recovery`).

use super::congestion::Signal;
use super::constants::{ALPHA_NEUTRAL, ALPHA_PUSH_LOW, ALPHA_RECOVER, GOOD_PUSHES};
use super::{EarlyC4, State};
use crate::Context;
use thalweg_units::Duration;

impl EarlyC4 {
    /// Enters, or starts again, a recovery. `signal` is the congestion that caused it, if any did.
    pub(super) fn enter_recovery(&mut self, signal: Option<Signal>, cx: &Context<'_>) {
        match signal {
            None => {
                self.recovering_from_loss = false;
                self.alpha = ALPHA_NEUTRAL;
            }
            Some(signal) => {
                self.growth.good_pushes = 0;
                self.recovering_from_loss = !signal.is_delay();
                // 90 % only after a strong push: it is what has filled the queue.
                let strong = self.alpha > ALPHA_PUSH_LOW;
                self.alpha = if strong { ALPHA_RECOVER } else { ALPHA_NEUTRAL };
            }
        }
        if self.state == State::Initial {
            self.growth.reset(self.nominal, self.alpha);
        }
        self.state = State::Recovery;
        self.write_window(self.alpha.of_size(self.nominal));
        self.reset_era(cx);
    }

    /// Judges the growth and chooses what follows.
    ///
    /// Slip: the end of a pig war changes no state. The era is over still, so the next ACK comes here
    /// again, judges the same recovery as a push without excess, and cruises.
    pub(super) fn exit_recovery(&mut self, cx: &Context<'_>) {
        self.growth.evaluate(self.nominal);
        self.growth.reset(self.nominal, self.alpha);
        self.growth.max_nominal = self.growth.max_nominal.max(self.nominal);
        self.delay_excess = Duration::ZERO;
        self.filter.restart_count();
        if self.suspects_pig_war() {
            self.start_pig_war(cx);
        } else if self.growth.good_pushes < GOOD_PUSHES {
            self.enter_cruise(cx);
        } else if self.pig_war {
            self.end_pig_war();
        } else {
            self.enter_initial(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Variant;
    use super::super::bench::Bench;
    use super::super::constants::ALPHA_PUSH;
    use super::*;
    use thalweg_units::Bytes;

    #[test]
    fn congestion_in_a_strong_push_recovers_at_90_percent_and_otherwise_at_100() {
        for (alpha, window) in [(ALPHA_PUSH, 71_953), (ALPHA_PUSH_LOW, 80_000)] {
            let mut bench = Bench::cruising(Variant::V1, 80_000, 80);
            bench.c4.alpha = alpha;
            bench.with(|c4, cx| c4.enter_recovery(Some(Signal::Loss), cx));
            assert_eq!(bench.c4.window, Bytes::new(window)); // 80 000*921/1024 = 71 953
        }
        let mut bench = Bench::cruising(Variant::V1, 80_000, 80);
        bench.c4.alpha = ALPHA_PUSH;
        bench.with(|c4, cx| c4.enter_recovery(None, cx));
        assert_eq!(bench.c4.window, Bytes::new(80_000));
    }

    #[test]
    fn four_good_pushes_restart_initial_at_twice_the_nominal_window() {
        let mut bench = Bench::cruising(Variant::V1, 80_000, 80);
        for good in 0..4 {
            assert_eq!(bench.c4.growth.good_pushes, good);
            bench.c4.growth.alpha = ALPHA_PUSH;
            bench.c4.nominal = bench.c4.nominal.mul_div(9, 8); // +12.5 %
            bench.with(|c4, cx| c4.exit_recovery(cx));
        }
        assert_eq!(bench.c4.state, State::Initial);
        assert_eq!(bench.c4.window, bench.c4.nominal * 2);
        assert_eq!(bench.c4.growth.good_pushes, 0);
    }

    #[test]
    fn four_good_pushes_end_a_pig_war_and_the_next_ack_cruises() {
        let mut bench = Bench::cruising(Variant::V1, 80_000, 80);
        bench.c4.pig_war = true;
        bench.c4.growth.good_pushes = 3;
        bench.with(|c4, cx| c4.enter_recovery(None, cx));
        bench.end_era(80_000, 80);
        assert_eq!((bench.c4.state, bench.c4.pig_war), (State::Recovery, false));
        bench.ack(80_000, 80);
        assert_eq!(
            (bench.c4.state, bench.c4.growth.good_pushes),
            (State::Cruising, 1)
        );
    }

    #[test]
    fn a_recovery_that_delay_has_spoilt_counts_as_a_delay_era() {
        // section 7, alone, v1, at 683050: delay in the recovery after Initial gives delay_dec 1
        let mut bench = Bench::cruising(Variant::V1, 80_000, 80);
        bench.c4.growth.congested = true;
        bench.c4.growth.congested_by_delay = true;
        bench.with(|c4, cx| c4.exit_recovery(cx));
        assert_eq!(
            (bench.c4.state, bench.c4.growth.delay_eras),
            (State::Cruising, 1)
        );
    }
}
