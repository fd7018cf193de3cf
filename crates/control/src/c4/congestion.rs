//! Reaction to congestion signals.
//!
//! draft-huitema-ccwg-c4-spec, "Applying congestion signals" and "Rate Reduction on Congestion". In Probing
//! and Pushing a signal only ends the push and enters Recovery, because the nominal
//! rate has not been raised; in Recovery it deepens the slowdown once; elsewhere it lowers the nominal rate.

use super::constants::{ALPHA_RECOVERY, ALPHA_RECOVERY_DEEP};
use super::sensitivity::loss_beta;
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
    /// Reacts to `signal`, in any state but Initial, which handles its own signals.
    pub(super) fn congestion(&mut self, signal: Signal, path: &PathState) {
        if signal == Signal::Ecn {
            self.forgive_debt();
        }
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
        let most = self.tuning.max_reduction;
        match signal {
            Signal::Loss => {
                let sensitivity = self.tuning.sensitivity(self.nominal_rate);
                loss_beta(most, sensitivity)
            }
            Signal::Ecn => {
                let excess = self.ecn.alpha - self.ecn.threshold;
                Coefficient::ratio(excess.units(), self.ecn.threshold.units()).min(most)
            }
            Signal::Delay => {
                let (excess, threshold) = (self.delay_excess, self.delay_threshold);
                Coefficient::of_spans(excess, threshold).min(most)
            }
        }
    }

    /// A second signal lowers the coefficient of Recovery to 7/8 and extends it until packets sent from now on are
    /// acknowledged; further ones have no effect.
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
