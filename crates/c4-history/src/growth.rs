//! The growth test: did the last push find capacity?
//!
//! Source: c4-history.md section 2.3 (`evaluate`, `growth_reset`).

use super::constants::ALPHA_PUSH_LOW;
use thalweg_control::coefficient::Coefficient;
use thalweg_units::Bytes;

/// What the growth test compares with, and how the last tests went.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// Nominal window at the last reset (`ref`).
    reference: Bytes,
    /// Factor that the growth is expected from (`push_alpha`).
    pub(super) alpha: Coefficient,
    /// Successes in a row (`good`).
    pub(super) good_pushes: u64,
    /// Failures in a row (`no_inc`).
    pub(super) eras_without: u64,
    /// Failures with a delay event, less successes (`delay_dec`).
    pub(super) delay_eras: u64,
    /// Largest nominal window at the end of a recovery since Initial began.
    pub(super) max_nominal: Bytes,
    /// Whether congestion was signalled since the last reset (`cong`).
    pub(super) congested: bool,
    /// Whether delay was among the signals (`cong_delay`).
    pub(super) congested_by_delay: bool,
}

impl Growth {
    /// Nothing tested yet.
    pub(super) fn of(nominal: Bytes, alpha: Coefficient) -> Self {
        Growth {
            reference: nominal,
            alpha,
            good_pushes: 0,
            eras_without: 0,
            delay_eras: 0,
            max_nominal: Bytes::ZERO,
            congested: false,
            congested_by_delay: false,
        }
    }

    /// Starts a new test from the present nominal window. A push sets only `alpha`: its reference is the
    /// one that the recovery before has left.
    pub(super) fn reset(&mut self, nominal: Bytes, alpha: Coefficient) {
        (self.congested, self.congested_by_delay) = (false, false);
        (self.reference, self.alpha) = (nominal, alpha);
    }

    /// Whether the nominal window has grown: by half of what a strong push has sent in excess; after a
    /// light push, or none, it is enough not to have shrunk and to have met no congestion.
    fn has_grown(&self, nominal: Bytes) -> bool {
        if self.alpha > ALPHA_PUSH_LOW {
            nominal >= (self.reference + self.alpha.of_size(self.reference)) / 2
        } else {
            nominal >= self.reference && !self.congested
        }
    }

    /// Counts a success or a failure.
    pub(super) fn evaluate(&mut self, nominal: Bytes) {
        if self.has_grown(nominal) {
            self.good_pushes += 1;
            self.eras_without = 0;
            self.delay_eras = self.delay_eras.saturating_sub(1);
        } else {
            self.good_pushes = 0;
            self.eras_without += 1;
            self.delay_eras += u64::from(self.congested_by_delay);
        }
    }

    /// Forgets the counts, not the reference.
    pub(super) fn clear_counts(&mut self) {
        (self.good_pushes, self.eras_without, self.delay_eras) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants::{ALPHA_INITIAL, ALPHA_NEUTRAL, ALPHA_PUSH};
    use super::*;

    fn grows(alpha: Coefficient, from: u64, to: u64) -> bool {
        Growth::of(Bytes::new(from), alpha).has_grown(Bytes::new(to))
    }

    #[test]
    fn a_push_of_a_quarter_must_yield_an_eighth() {
        assert!(!grows(ALPHA_PUSH, 80_000, 89_999));
        assert!(grows(ALPHA_PUSH, 80_000, 90_000)); // (80 000 + 100 000)/2
        // section 7, alone, v1: 216 083 pushed to 270 103 gave 223 278, which is not growth
        assert!(!grows(ALPHA_PUSH, 216_083, 223_278));
    }

    #[test]
    fn initial_must_yield_a_half() {
        assert!(!grows(ALPHA_INITIAL, 80_000, 119_999));
        assert!(grows(ALPHA_INITIAL, 80_000, 120_000)); // (80 000 + 160 000)/2
    }

    #[test]
    fn a_light_push_succeeds_unless_it_shrinks_or_meets_congestion() {
        for alpha in [ALPHA_PUSH_LOW, ALPHA_NEUTRAL] {
            assert!(grows(alpha, 80_000, 80_000));
            assert!(!grows(alpha, 80_000, 79_999));
            let mut growth = Growth::of(Bytes::new(80_000), alpha);
            growth.congested = true;
            assert!(!growth.has_grown(Bytes::new(90_000)));
        }
    }

    #[test]
    fn only_failures_with_delay_count_as_delay_eras_and_each_success_takes_one_back() {
        let mut growth = Growth::of(Bytes::new(80_000), ALPHA_NEUTRAL);
        for delay_eras in [1, 2] {
            (growth.congested, growth.congested_by_delay) = (true, true);
            growth.evaluate(Bytes::new(80_000));
            assert_eq!((growth.delay_eras, growth.good_pushes), (delay_eras, 0));
        }
        growth.congested_by_delay = false; // congestion only by loss
        growth.evaluate(Bytes::new(80_000));
        assert_eq!((growth.delay_eras, growth.eras_without), (2, 3));
        growth.reset(Bytes::new(80_000), ALPHA_NEUTRAL);
        growth.evaluate(Bytes::new(80_000));
        assert_eq!(
            (growth.delay_eras, growth.good_pushes, growth.eras_without),
            (1, 1, 0)
        );
    }
}
