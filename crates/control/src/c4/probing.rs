//! Probing: one era slightly above the nominal rate.
//!
//! draft-huitema-ccwg-c4-spec, "Probing state". Its result shows during the Recovery that follows.

use super::constants::{ALPHA_PROBING, ALPHA_PROBING_LOW, PROBE_LEVEL_AFTER_CE};
use super::{C4, State};
use crate::PathState;

impl C4 {
    /// Begins Probing. The reference code's table has two more coefficients, for levels that lead to
    /// Pushing instead and never get here.
    pub(super) fn enter_probing(&mut self, path: &PathState) {
        self.alpha = match self.probe_level {
            PROBE_LEVEL_AFTER_CE => ALPHA_PROBING_LOW,
            _ => ALPHA_PROBING,
        };
        // The rate to compare with stays the rate at the end of Recovery: growth while cruising counts.
        self.reference.alpha = self.alpha;
        self.begin_era(path);
        self.state = State::Probing;
    }
}
