//! RTT: the nominal max RTT, the running min RTT, and when delay means congestion.
//!
//! draft-huitema-ccwg-c4-spec, "Nominal max RTT" and "Detecting Excessive Delays". The nominal max RTT is
//! the largest RTT that the path shows when this flow builds no queue, so it learns only from eras whose
//! acknowledged packets left at no more than the nominal rate.

use super::congestion::Signal;
use super::constants::{
    JITTER_RESTART_MIN_MAX_RTT, JITTER_RESTART_RATE, JITTER_RESTART_WAIT, MAX_JITTER,
};
use super::rules::Reentry;
use super::sensitivity::delay_threshold;
use super::{C4, State};
use crate::PathState;
use crate::coefficient::Coefficient;
use thalweg_units::{Duration, Instant};

impl C4 {
    /// A new RTT sample.
    ///
    /// Delay is congestion only while the packets that are being acknowledged left above the nominal
    /// rate: in Probing, in Pushing, in Resuming, in the Recovery after one of them or after Initial, and
    /// in Cruising below one millisecond. The text lets it act in Cruising too; the reference code does not.
    pub(super) fn measured_rtt(&mut self, rtt: Duration, path: &PathState) {
        self.era.add(rtt);
        self.running_min_rtt = self.running_min_rtt.min(rtt);
        if self.nominal_max_rtt.is_zero() {
            self.set_nominal_max_rtt(rtt);
            self.delay_excess = Duration::ZERO;
        } else {
            self.delay_excess = rtt - (self.nominal_max_rtt + self.delay_threshold);
        }
        if self.state == State::Initial {
            self.initial_excess_delay(path);
            self.apply_outputs(path);
        } else if !self.delay_excess.is_zero() && self.alpha_previous > Coefficient::ONE {
            self.congestion(Signal::Delay, path);
        }
    }

    /// Learns from the RTT extremes of the era that ends, Initial excepted.
    ///
    /// The first cruising era ends with acknowledgements of packets sent in Recovery, the second with those
    /// sent in Cruising: with the bonus below one millisecond only the first one counts.
    pub(super) fn update_min_max_rtt(&mut self, path: &PathState) {
        if path.latest_rtt < self.era.min_rtt {
            self.drain_lower_rtt();
        }
        self.era.add(path.latest_rtt);
        let (era_min, era_max) = (self.era.min_rtt, self.era.max_rtt);
        if self.alpha_previous <= Coefficient::ONE {
            self.running_min_rtt = if era_min < self.running_min_rtt {
                era_min
            } else {
                (self.running_min_rtt * 7 + era_min) / 8
            };
            let capped = era_max.min(self.running_min_rtt + MAX_JITTER);
            if capped > self.nominal_max_rtt {
                self.nominal_max_rtt = capped;
            } else {
                self.nominal_max_rtt = (self.nominal_max_rtt * 7 + capped) / 8;
                self.drain_lower_rtt();
            }
            self.update_delay_threshold();
        } else if self.nominal_max_rtt.is_zero() {
            self.set_nominal_max_rtt(era_max);
        }
        if self.nominal_max_rtt < self.tuning.max_rtt_floor() {
            self.set_nominal_max_rtt(self.nominal_max_rtt);
            self.forgive_debt();
        }
    }

    /// Changes the nominal max RTT, floor applied, and the delay threshold with it.
    pub(super) fn set_nominal_max_rtt(&mut self, max_rtt: Duration) {
        self.nominal_max_rtt = max_rtt.max(self.tuning.max_rtt_floor());
        self.update_delay_threshold();
    }

    /// Follows the nominal rate and max RTT. Only some of the changes to the nominal rate call for it: a
    /// rise does and a loss does, a reduction by delay or ECN and the clamp of persistent congestion do not.
    pub(super) fn update_delay_threshold(&mut self) {
        let sensitivity = self.tuning.sensitivity(self.nominal_rate);
        self.delay_threshold =
            delay_threshold(sensitivity, self.nominal_max_rtt, self.tuning.delay_bound);
    }

    /// Whether jitter keeps a slow flow from finding its rate, so that Initial should be tried again ("Restarting
    /// Initial if High Jitter"): once per connection, from the draft after -04 on without a limit. The bounds of 50 ms and
    /// 1 MB/s and the wait of a second are the reference code's.
    pub(super) fn needs_jitter_restart(&self, now: Instant) -> bool {
        let allowed = match self.tuning.rules.reentry {
            Reentry::Off => false,
            Reentry::Once => !self.jitter_restart_done,
            Reentry::Repeated => self
                .first_recovery_end
                .is_some_and(|end| now > end + JITTER_RESTART_WAIT),
        };
        allowed
            && self.nominal_max_rtt > JITTER_RESTART_MIN_MAX_RTT
            && self.nominal_rate < JITTER_RESTART_RATE
            && self.running_min_rtt * 5 < self.nominal_max_rtt * 2
    }
}
