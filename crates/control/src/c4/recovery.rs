//! Recovery: send less for one era, let the queue drain, and evaluate the state before.
//!
//! draft-huitema-ccwg-c4-spec, "Recovery state" and "Reaction to persistent congestion". The samples of this
//! era measure packets of the state before, so this is where a probe proves to have found capacity. Successes
//! add up: probe, Recovery, push, Recovery, push, Recovery, and then Initial once more.

use super::congestion::Signal;
use super::constants::{
    PERSISTENT_CONGESTION_CYCLES, PROBE_LEVEL_AFTER_CE, PROBE_LEVEL_DEFAULT, PROBE_LEVEL_MAX,
    SUBMILLISECOND,
};
use super::growth::Growth;
use super::rules::Trim;
use super::{C4, State};
use crate::PathState;
use crate::coefficient::Coefficient;
use thalweg_units::{Duration, Instant, Rate};

impl C4 {
    /// Begins Recovery, because of `signal` or in the course of the cycle.
    pub(super) fn enter_recovery(&mut self, signal: Option<Signal>, path: &PathState) {
        if self.state == State::Initial {
            self.mark_reference();
        }
        if self.state != State::Recovery {
            self.ce_excess = signal == Some(Signal::Ecn);
            self.state = State::Recovery;
            let alpha = self.recovery_alpha();
            // The order decides what the packets acknowledged in Recovery count as: with the coefficient of
            // the state before, delay may still be congestion and the era teaches no max RTT; with the coefficient of Recovery
            // it is the other way round. The code changed the order in October 2026; no text says which is meant.
            if self.tuning.rules.own_alpha_in_recovery {
                self.alpha = alpha;
                self.begin_era(path);
            } else {
                self.begin_era(path);
                self.alpha = alpha;
            }
        }
    }

    /// Ends Recovery: towards Cruising, Pushing or Initial, as the growth test says.
    pub(super) fn exit_recovery(&mut self, now: Instant, path: &PathState) {
        self.first_recovery_end.get_or_insert(now);
        self.pay_off_drain();
        if self.growth() != Growth::None {
            if !self.ce_excess && self.resuming_eras == 0 {
                self.probe_level += 1;
            }
            self.congested_cycles = 0;
        } else {
            if self.fully_used {
                self.probe_level = match self.ce_excess {
                    true => PROBE_LEVEL_AFTER_CE,
                    false => PROBE_LEVEL_DEFAULT,
                };
            }
            if self.congestion_seen {
                self.count_congested_cycle();
            } else {
                self.congested_cycles = 0;
                self.trim(path);
            }
        }
        self.resuming_eras = 0;
        self.recent_max_rate = Rate::ZERO;
        // The coefficient still comes from Recovery: until a probe or a push sets its own, the growth
        // test asks for any growth without congestion.
        self.mark_reference();
        self.delay_excess = Duration::ZERO;
        self.loss.clear();
        self.ecn.alpha = Coefficient::ZERO;
        if self.probe_level > PROBE_LEVEL_MAX {
            self.enter_initial(path);
        } else if self.probe_level > PROBE_LEVEL_DEFAULT {
            self.enter_pushing(path);
        } else {
            self.enter_cruising(path);
        }
    }

    /// Congestion in two cycles in a row lowers the nominal rate to the best recent sample. Up to draft -04 each further
    /// such cycle may lower it again; afterwards the count restarts.
    fn count_congested_cycle(&mut self) {
        self.congested_cycles = self.congested_cycles.saturating_add(1);
        if self.congested_cycles >= PERSISTENT_CONGESTION_CYCLES
            && !self.recent_max_rate.is_zero()
            && self.nominal_rate > self.recent_max_rate
        {
            self.nominal_rate = self.recent_max_rate;
            if self.tuning.rules.clamp_restarts {
                self.congested_cycles = 0;
            }
        }
    }

    /// Trimming, of the draft after -04: a cycle that used the path fully, without growth and congestion, brings the
    /// nominal rate half-way to the best sample. The delay threshold stays.
    fn trim(&mut self, path: &PathState) {
        let applies = match self.tuning.rules.trim {
            Trim::Off => false,
            Trim::On => true,
            Trim::AboveMillisecond => path.smoothed_rtt > SUBMILLISECOND,
        };
        if applies && self.fully_used && self.nominal_rate > self.recent_max_rate {
            self.nominal_rate = (self.nominal_rate + self.recent_max_rate).mul_div(1, 2);
        }
    }
}
