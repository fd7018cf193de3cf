//! ECN: the smoothed share of CE marks, and when it means congestion.
//!
//! draft-huitema-ccwg-c4-spec, "Detecting Excessive CE Marks". The share is CE over CE + ECT(1): packets
//! marked ECT(0) are not counted, because C4 sends ECT(1). Marks alone never end Initial; a delay excess
//! must accompany them.

use super::congestion::Signal;
use super::sensitivity::ecn_threshold;
use super::{C4, State};
use crate::PathState;
use crate::coefficient::Coefficient;
use crate::event::EcnCounts;

/// From this share on, a rise is followed immediately instead of smoothed.
const FOLLOWED_AT_ONCE: Coefficient = Coefficient::new(512);

/// Exponentially weighted share of CE marks, and the counts that it has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnFilter {
    /// The smoothed share (`ecn_alpha`).
    pub(super) alpha: Coefficient,
    /// The share that means congestion, as of the last notification.
    pub(super) threshold: Coefficient,
    pub(super) ect1: u64,
    pub(super) ce: u64,
}

impl EcnFilter {
    /// Processes cumulative counts. Counts that have not grown change nothing.
    pub(super) fn update(&mut self, counts: &EcnCounts) {
        let ect1 = counts.ect1.saturating_sub(self.ect1);
        let ce = counts.ce.saturating_sub(self.ce);
        if ect1 == 0 && ce == 0 {
            return;
        }
        (self.ect1, self.ce) = (self.ect1 + ect1, self.ce + ce);
        let share = Coefficient::ratio(ce, ect1.saturating_add(ce));
        self.alpha = if share > self.alpha && share >= FOLLOWED_AT_ONCE {
            share
        } else {
            Coefficient::new((15 * self.alpha.units() + share.units()) >> 4)
        };
    }
}

impl C4 {
    /// The count of CE marks has grown.
    pub(super) fn marked(&mut self, counts: &EcnCounts, path: &PathState) {
        self.ecn.threshold = ecn_threshold(self.tuning.sensitivity(self.nominal_rate));
        self.ecn.update(counts);
        if self.ecn.alpha > self.ecn.threshold {
            match self.state {
                State::Initial => self.initial_excess_delay(path),
                _ => self.congestion(Signal::Ecn, path),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect1: u64, ce: u64) -> EcnCounts {
        EcnCounts {
            ect0: 0,
            ect1,
            ce,
            largest_acked: 0,
        }
    }

    #[test]
    fn a_small_share_of_marks_is_smoothed_with_a_gain_of_one_sixteenth() {
        let mut filter = EcnFilter::default();
        // 1 of 4: share 256; (15 * 0 + 256) / 16 = 16
        filter.update(&counts(3, 1));
        assert_eq!(filter.alpha.units(), 16);
        // the increments are 3 and 1 again: (15 * 16 + 256) / 16 = 31
        filter.update(&counts(6, 2));
        assert_eq!(filter.alpha.units(), 31);
    }

    #[test]
    fn a_rise_to_half_or_more_is_followed_at_once_and_a_fall_is_smoothed() {
        let mut filter = EcnFilter::default();
        filter.update(&counts(1, 1));
        assert_eq!(filter.alpha.units(), 512);
        filter.update(&counts(1, 2));
        assert_eq!(filter.alpha.units(), 1024);
        // share 0: 15 * 1024 / 16
        filter.update(&counts(5, 2));
        assert_eq!(filter.alpha.units(), 960);
    }

    #[test]
    fn counts_that_do_not_grow_leave_the_share_alone() {
        let mut filter = EcnFilter::default();
        filter.update(&counts(1, 1));
        filter.update(&counts(1, 1));
        filter.update(&counts(0, 0));
        assert_eq!(filter.alpha.units(), 512);
    }

    #[test]
    fn packets_marked_ect0_do_not_dilute_the_share() {
        let mut filter = EcnFilter::default();
        filter.update(&EcnCounts {
            ect0: 1_000,
            ect1: 0,
            ce: 1,
            largest_acked: 0,
        });
        assert_eq!(filter.alpha, Coefficient::ONE);
    }
}
