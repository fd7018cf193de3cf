//! Cruising: hold the nominal window until enough was acknowledged to try a push.
//!
//! Source: c4-history.md section 2.3 (`enter_cruise`, `era_end`, `T(w)`).

use super::constants::{ALPHA_NEUTRAL, CASCADE};
use super::{EarlyC4, State};
use thalweg_control::Context;
use thalweg_units::Bytes;

/// Progress of a cruise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cruise {
    /// Acknowledged since the last cruise began (`cruise_acked`).
    pub(super) acked: Bytes,
    /// What a push waits for (`cruise_target`).
    pub(super) target: Bytes,
}

/// Windows from which the logarithmic term of the cruise target takes its next step.
const STEPS: [Bytes; 7] = [
    Bytes::new(8 << 10),
    Bytes::new(32 << 10),
    Bytes::new(256 << 10),
    Bytes::new(1 << 20),
    Bytes::new(8 << 20),
    Bytes::new(32 << 20),
    Bytes::new(128 << 20),
];

/// How much must be acknowledged before a push, `T(w)`.
///
/// Intended as `w` times 1 + (1 to 8), growing with the logarithm of the window. Slip: the integer division
/// of the original scales the term down to k/1024, so the target is always twice the window (plus k/1024 of
/// it).
pub(super) fn cruise_target(window: Bytes, flat: bool) -> Bytes {
    let k = STEPS.iter().filter(|step| window >= **step).count() as u64;
    if flat {
        window + window.mul_div(1024 + k, 1024)
    } else {
        window * (2 + k)
    }
}

impl EarlyC4 {
    pub(super) fn enter_cruise(&mut self, cx: &Context<'_>) {
        self.reset_era(cx);
        self.startup.seed = None;
        self.cruise = Cruise {
            acked: Bytes::ZERO,
            target: if self.growth.good_pushes > 0 && CASCADE {
                Bytes::ZERO
            } else {
                cruise_target(self.nominal, self.slips.flat_cruise_target)
            },
        };
        self.alpha = ALPHA_NEUTRAL;
        self.write_window(self.nominal);
        self.state = State::Cruising;
    }

    /// Continues until the target is reached and the flow is not application-limited: the
    /// newest acknowledged data was sent after the sender had last run out of data.
    pub(super) fn cruising_era_end(&mut self, cx: &Context<'_>) {
        self.reset_era(cx);
        let busy = cx.path.newest_acked_data_sent > cx.path.last_idle;
        if self.cruise.acked >= self.cruise.target && busy {
            self.enter_push(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::super::tests::Flow;
    use super::*;

    #[test]
    fn the_target_is_twice_the_window_whatever_the_window_is() {
        for window in [
            3072,
            8192,
            40_000,
            300_000,
            2 << 20,
            9 << 20,
            64 << 20,
            1 << 30,
        ] {
            let target = cruise_target(Bytes::new(window), true).as_u64();
            // k is at most 7: 2.00 to 2.007 windows
            assert!(
                (2 * window..2 * window + window / 128).contains(&target),
                "{window}"
            );
        }
        // 215 240 + 215 240*1026/1024 (k = 2 from 32 KiB)
        assert_eq!(cruise_target(Bytes::new(215_240), true).as_u64(), 430_900);
    }

    #[test]
    fn without_the_slip_the_target_grows_with_the_logarithm_of_the_window() {
        assert_eq!(cruise_target(Bytes::new(4096), false).as_u64(), 2 * 4096);
        assert_eq!(cruise_target(Bytes::new(1 << 30), false).as_u64(), 9 << 30);
    }

    #[test]
    fn a_cruise_of_twice_the_window_takes_three_eras_when_an_era_acknowledges_one_window() {
        // 40 000 acknowledged per era, target 80 078: the era that ends with 120 000 starts the push
        let mut flow = Flow::cruising(Version::V1, 40_000, 100);
        for _ in 0..2 {
            flow.end_era(40_000, 100);
            assert_eq!(flow.controller.state, State::Cruising);
        }
        flow.end_era(40_000, 100);
        assert_eq!(flow.controller.state, State::Pushing);
    }

    #[test]
    fn an_application_limited_flow_keeps_cruising() {
        let mut flow = Flow::cruising(Version::V1, 40_000, 100);
        flow.path.last_idle = flow.path.newest_acked_data_sent;
        (0..20).for_each(|_| flow.end_era(40_000, 100));
        assert_eq!(flow.controller.state, State::Cruising);
        flow.busy();
        flow.end_era(40_000, 100);
        assert_eq!(flow.controller.state, State::Pushing);
    }

    #[test]
    fn after_a_good_push_the_next_one_follows_at_once() {
        let mut flow = Flow::cruising(Version::V1, 40_000, 100);
        flow.controller.growth.good_pushes = 1;
        flow.call(|c4, cx| c4.enter_cruise(cx));
        flow.end_era(40_000, 100);
        assert_eq!(flow.controller.state, State::Pushing);
    }
}
