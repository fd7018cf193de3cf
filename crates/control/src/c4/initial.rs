//! Initial: find the rate of the path.
//!
//! draft-huitema-ccwg-c4-spec, "Initial state". A window that grows as Reno's slow start does, pacing at
//! twice the nominal rate, and an end when the rate has not grown for three eras that used the path fully.
//! Growth of the window slows to 1/8 and 1/64 in eras after one without growth. The nominal rate is kept
//! at the end; the max RTT becomes half the window over the rate, as if the window were twice the right one.

use super::constants::{
    ALPHA_INITIAL, INITIAL_ERAS_WITHOUT_GROWTH, INITIAL_EVENTS_BEFORE_LOSS_EXIT,
    PROBE_LEVEL_DEFAULT,
};
use super::growth::Growth;
use super::{C4, State};
use crate::PathState;
use crate::coefficient::Coefficient;
use crate::event::Ack;
use thalweg_units::{Bytes, Duration};

impl C4 {
    /// Begins Initial: with the window now in force, and from the draft after -04 on (code only) with the smoothed
    /// RTT as max RTT and the window that this and the nominal rate give. The delay threshold stays until the
    /// rate rises.
    pub(super) fn enter_initial(&mut self, path: &PathState) {
        self.state = State::Initial;
        self.initial_window = self.control.window;
        if self.tuning.rules.smoothed_max_rtt {
            self.nominal_max_rtt = path.smoothed_rtt;
            if !self.nominal_rate.is_zero() {
                self.initial_window = self.nominal_rate.bytes_in(self.nominal_max_rtt);
            }
        }
        self.first_recovery_end = None;
        self.probe_level = PROBE_LEVEL_DEFAULT;
        self.alpha = ALPHA_INITIAL;
        self.initial_events = 0;
        self.begin_era(path);
        self.eras_without_growth = 0;
        self.ecn.alpha = Coefficient::ZERO;
        self.mark_reference();
    }

    /// An acknowledgement in Initial.
    pub(super) fn initial_on_ack(&mut self, ack: &Ack, path: &PathState) {
        self.initial_events += 1;
        self.initial_window +=
            Bytes::new(ack.newly_acked.as_u64() >> (3 * self.eras_without_growth));
        if !self.era.is_over(path) {
            return;
        }
        if self.growth() != Growth::None {
            self.eras_without_growth = 0;
        } else if self.fully_used && !self.nominal_rate.is_zero() {
            self.eras_without_growth += 1;
        }
        self.begin_era(path);
        if self.eras_without_growth >= INITIAL_ERAS_WITHOUT_GROWTH {
            self.exit_initial(path);
        } else {
            self.mark_reference();
        }
    }

    /// Delay, alone or with CE marks, ends Initial only when the rate had stopped growing for two eras.
    pub(super) fn initial_excess_delay(&mut self, path: &PathState) {
        if !self.delay_excess.is_zero()
            && self.eras_without_growth > 1
            && self.reference.rate >= self.nominal_rate
        {
            self.exit_initial(path);
        }
    }

    /// A loss rate over the threshold ends Initial once more than 20 acknowledgements and such losses
    /// were counted. The text counts packets.
    pub(super) fn initial_excess_loss(&mut self, path: &PathState) {
        self.initial_events += 1;
        if self.initial_events > INITIAL_EVENTS_BEFORE_LOSS_EXIT {
            self.exit_initial(path);
        }
    }

    /// Leaves for Recovery, unless no rate was ever measured.
    fn exit_initial(&mut self, path: &PathState) {
        if self.nominal_rate.is_zero() {
            return;
        }
        let half: Bytes = self.initial_window / 2;
        let max_rtt: Duration = self.nominal_rate.time_for(half);
        self.set_nominal_max_rtt(max_rtt);
        self.drain_initial(max_rtt, path);
        self.eras_without_growth = 0;
        self.probe_level = PROBE_LEVEL_DEFAULT;
        self.enter_recovery(None, path);
    }
}
