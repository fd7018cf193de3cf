//! Resuming: start from the window of an earlier connection over the same path.
//!
//! draft-huitema-ccwg-c4-spec, "Resuming state". Window and pacing come from the seed for two eras, of
//! which the first begins once the seed's worth of data is in flight.

use super::constants::{ALPHA_RESUMING, RESUMING_ERAS};
use super::{C4, State};
use crate::PathState;
use thalweg_units::{Bytes, Rate};

/// What an earlier connection left behind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seed {
    /// Its window.
    pub(super) window: Bytes,
    /// That window over the smoothed RTT of this connection.
    pub(super) rate: Rate,
}

impl C4 {
    /// Begins Resuming, from Initial only.
    pub(super) fn enter_resuming(&mut self, window: Bytes, path: &PathState) {
        if self.state != State::Initial {
            return;
        }
        self.seed = Seed {
            window,
            rate: Rate::over(window, path.smoothed_rtt),
        };
        if path.smoothed_rtt > self.nominal_max_rtt {
            self.set_nominal_max_rtt(path.smoothed_rtt);
        }
        self.alpha = ALPHA_RESUMING;
        self.resuming_eras = 0;
        self.state = State::Resuming;
        self.mark_reference();
        self.begin_era(path);
    }

    /// Delays the end of the era while less than 16/17 of the seed is in flight, so that a slow start of the
    /// application does not use up the eras.
    pub(super) fn resuming_on_ack(&mut self, path: &PathState) {
        if path.bytes_in_flight.mul_div(17, 16) < self.seed.window {
            self.era.start = path.next_packet;
        }
    }

    /// Ends an era; Recovery follows the second one.
    pub(super) fn resuming_era_end(&mut self, path: &PathState) {
        self.resuming_eras += 1;
        if self.resuming_eras >= RESUMING_ERAS {
            self.enter_recovery(None, path);
        } else {
            self.begin_era(path);
        }
    }
}
