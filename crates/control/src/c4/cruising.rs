//! Cruising: send at the nominal rate between probes.
//!
//! draft-huitema-ccwg-c4-spec, "Cruising state" and "Pacing and CPU load".

use super::constants::{
    ALPHA_CRUISING, CRUISING_ERAS, CRUISING_ERAS_AFTER_CE, PROBE_LEVEL_AFTER_CE, SUBMILLISECOND,
};
use super::{C4, State};
use crate::PathState;

impl C4 {
    /// Enters Cruising. A count of eras that congestion interrupted continues.
    pub(super) fn enter_cruising(&mut self, path: &PathState) {
        self.begin_era(path);
        if self.cruising_eras_left == 0 {
            self.cruising_eras_left = match self.probe_level {
                PROBE_LEVEL_AFTER_CE => CRUISING_ERAS_AFTER_CE,
                _ => CRUISING_ERAS,
            };
        }
        self.alpha = ALPHA_CRUISING;
        // Below a millisecond, late timers cost a noticeable share of the rate.
        if path.smoothed_rtt < SUBMILLISECOND {
            self.alpha = self.alpha + self.tuning.submillisecond_bonus;
        }
        self.state = State::Cruising;
    }

    /// Ends an era. A probe follows the last one, but only if the newest acknowledged data was sent after
    /// the sender last ran out of data: a probe by an application-limited sender would measure the application.
    pub(super) fn cruising_era_end(&mut self, path: &PathState) {
        self.cruising_eras_left = self.cruising_eras_left.saturating_sub(1);
        self.begin_era(path);
        if self.cruising_eras_left == 0 && path.newest_acked_data_sent > path.last_idle {
            self.enter_probing(path);
        }
    }
}
