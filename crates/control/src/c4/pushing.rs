//! Pushing: use capacity that a probe has found.
//!
//! draft-huitema-ccwg-c4-spec, "Pushing state". The text requires at least two eras, because the first one
//! measures packets sent in Recovery. The reference code tests this with the coefficient of the
//! previous era, which entering Pushing has already replaced; so it leaves after one era unless growth is
//! fast, and the published results were obtained that way. This code has the same test.

use super::growth::Growth;
use super::{C4, State};
use crate::PathState;

impl C4 {
    /// Begins Pushing.
    pub(super) fn enter_pushing(&mut self, path: &PathState) {
        self.alpha = self.tuning.push;
        self.state = State::Pushing;
        self.mark_reference();
        self.begin_era(path);
    }

    /// An acknowledgement inside an era of Pushing: fast growth begins a new era immediately.
    pub(super) fn pushing_on_ack(&mut self, path: &PathState) {
        if self.growth() == Growth::Fast {
            self.mark_reference();
            self.begin_era(path);
        }
    }

    /// Ends an era: fast growth deserves another, anything less leads to Recovery.
    pub(super) fn pushing_era_end(&mut self, path: &PathState) {
        if self.growth() == Growth::Fast {
            self.mark_reference();
            self.begin_era(path);
        } else if self.alpha_previous >= self.tuning.push {
            self.drain_push();
            self.enter_recovery(None, path);
        }
    }
}
