//! What a congestion signal does.
//!
//! draft-huitema-ccwg-c4-spec, "Applying congestion signals" and "Rate Reduction on Congestion". In Probing
//! and Pushing it costs no more than the end of the push and the slowdown of Recovery, because the nominal
//! rate had not been raised; in Recovery it deepens the slowdown once; elsewhere it lowers the nominal rate.

use super::constants::{ALPHA_RECOVERY, ALPHA_RECOVERY_DEEP, BETA_MAX};
use super::sensitivity::{loss_beta, sensitivity};
use super::{C4, State};
use crate::PathState;
use crate::coefficient::Coefficient;
use thalweg_units::Duration;

/// Kinds of congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The smoothed loss rate is over its threshold.
    Loss,
    /// The share of CE marks is over its threshold.
    Ecn,
    /// The RTT is over the nominal max RTT by more than the delay threshold.
    Delay,
}

impl C4 {
    /// Reacts to `signal`. Initial handles its signals itself and never comes here.
    pub(super) fn congestion(&mut self, signal: Signal, path: &PathState) {
        let beta = self.beta(signal);
        self.congestion_seen = true;
        if signal != Signal::Delay {
            self.delay_excess = Duration::ZERO;
        }
        match self.state {
            State::Recovery => self.deepen_recovery(signal, path),
            State::Probing | State::Pushing => self.enter_recovery(Some(signal), path),
            State::Initial | State::Cruising | State::Resuming => {
                self.nominal_rate = self.nominal_rate - beta.of_rate(self.nominal_rate);
                if signal == Signal::Loss {
                    let cut = beta.of_span(self.nominal_max_rtt);
                    self.set_nominal_max_rtt(self.nominal_max_rtt - cut);
                }
                self.enter_recovery(Some(signal), path);
            }
        }
        self.apply_outputs(path);
        self.control.startup_done = true;
    }

    /// The reduction that answers `signal`: 1/8 to 1/4 for loss; for ECN and delay the excess in
    /// proportion to its threshold, 1/4 at most.
    pub(super) fn beta(&self, signal: Signal) -> Coefficient {
        match signal {
            Signal::Loss => loss_beta(sensitivity(self.nominal_rate)),
            Signal::Ecn => {
                let excess = self.ecn.alpha - self.ecn.threshold;
                Coefficient::ratio(excess.units(), self.ecn.threshold.units()).min(BETA_MAX)
            }
            Signal::Delay => {
                let (excess, threshold) = (self.delay_excess, self.delay_threshold);
                Coefficient::of_spans(excess, threshold).min(BETA_MAX)
            }
        }
    }

    /// A second signal slows Recovery down to 7/8 and makes it last until packets sent from now on are
    /// acknowledged; a third one does nothing more.
    fn deepen_recovery(&mut self, signal: Signal, path: &PathState) {
        if self.alpha == ALPHA_RECOVERY {
            self.alpha = ALPHA_RECOVERY_DEEP;
            self.era.start = path.next_packet;
        }
        if signal == Signal::Ecn {
            self.ce_excess = true;
        }
    }
}
