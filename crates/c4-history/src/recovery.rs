//! Recovery: one era in which the acknowledgements of the previous era arrive, then its evaluation.
//!
//! Source: c4-history.md section 2.3 (`enter_recovery`, `exit_recovery`).

use super::congestion::Signal;
use super::constants::{ALPHA_NEUTRAL, ALPHA_PUSH_LOW, ALPHA_RECOVER, GOOD_PUSHES};
use super::{EarlyC4, State};
use thalweg_control::Context;
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
                // 90 % only after a strong push, which has filled the queue.
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

    /// Evaluates the growth and selects the next state.
    ///
    /// Slip: the end of a pig war does not change the state. The era is still over, so the next ACK calls this
    /// again, evaluates the same recovery as a push without excess, and cruises.
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
    use super::super::Version;
    use super::super::constants::ALPHA_PUSH;
    use super::super::tests::Flow;
    use super::*;
    use thalweg_units::Bytes;

    #[test]
    fn congestion_in_a_strong_push_recovers_at_90_percent_and_otherwise_at_100() {
        for (alpha, window) in [(ALPHA_PUSH, 71_953), (ALPHA_PUSH_LOW, 80_000)] {
            let mut flow = Flow::cruising(Version::V1, 80_000, 80);
            flow.controller.alpha = alpha;
            flow.call(|c4, cx| c4.enter_recovery(Some(Signal::Loss), cx));
            assert_eq!(flow.controller.window, Bytes::new(window)); // 80 000*921/1024 = 71 953
        }
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        flow.controller.alpha = ALPHA_PUSH;
        flow.call(|c4, cx| c4.enter_recovery(None, cx));
        assert_eq!(flow.controller.window, Bytes::new(80_000));
    }

    #[test]
    fn four_good_pushes_restart_initial_at_twice_the_nominal_window() {
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        for good in 0..4 {
            assert_eq!(flow.controller.growth.good_pushes, good);
            flow.controller.growth.alpha = ALPHA_PUSH;
            flow.controller.nominal = flow.controller.nominal.mul_div(9, 8); // +12.5 %
            flow.call(|c4, cx| c4.exit_recovery(cx));
        }
        assert_eq!(flow.controller.state, State::Initial);
        assert_eq!(flow.controller.window, flow.controller.nominal * 2);
        assert_eq!(flow.controller.growth.good_pushes, 0);
    }

    #[test]
    fn four_good_pushes_end_a_pig_war_and_the_next_ack_cruises() {
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        flow.controller.pig_war = true;
        flow.controller.growth.good_pushes = 3;
        flow.call(|c4, cx| c4.enter_recovery(None, cx));
        flow.end_era(80_000, 80);
        assert_eq!(
            (flow.controller.state, flow.controller.pig_war),
            (State::Recovery, false)
        );
        flow.deliver(80_000, 80);
        assert_eq!(
            (flow.controller.state, flow.controller.growth.good_pushes),
            (State::Cruising, 1)
        );
    }

    #[test]
    fn a_recovery_that_delay_has_spoilt_counts_as_a_delay_era() {
        // section 7, alone, v1, at 683050: delay in the recovery after Initial gives delay_dec 1
        let mut flow = Flow::cruising(Version::V1, 80_000, 80);
        flow.controller.growth.congested = true;
        flow.controller.growth.congested_by_delay = true;
        flow.call(|c4, cx| c4.exit_recovery(cx));
        assert_eq!(
            (flow.controller.state, flow.controller.growth.delay_eras),
            (State::Cruising, 1)
        );
    }
}
