//! ProbeBW: the cycle DOWN, CRUISE, REFILL, UP of a flow in steady state
//! (draft-ietf-ccwg-bbr-06 section 5.3.3).

mod cruise;
mod down;
mod refill;
mod up;

use super::loss::is_inflight_too_high;
use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::{AckPhase, Sample};
use thalweg_units::{Bytes, Duration, Instant};

/// State of bandwidth probing (section 2.14).
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    pub(super) ack_phase: AckPhase,
    /// BBR.is_bw_probe_sample: a loss now may be due to probing.
    pub(super) is_bw_probe_sample: bool,
    /// BBR.prev_probe_too_high: the last probe met too much loss.
    pub(super) prev_probe_too_high: bool,
    /// BBR.prev_probe_precautionary: the last probe stopped at the bound of the one before.
    prev_probe_precautionary: bool,
    /// BBR.cycle_stamp.
    cycle_stamp: Instant,
    /// BBR.bw_probe_wait.
    wait: Duration,
    /// BBR.rounds_since_probe_up, as the round that it counts from.
    since_round: u64,
    /// Growth of `inflight_longterm` in UP.
    growth: up::Growth,
}

impl Bbr {
    /// UpdateProbeBWCyclePhase() (section 5.3.3.9).
    pub(super) fn update_probe_bw_cycle(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if !self.full_pipe.reached || self.adapt_long_term_model(sample, cx) {
            return;
        }
        match self.state {
            State::ProbeBwDown => self.update_down(sample, cx),
            State::ProbeBwCruise => self.update_cruise(cx),
            State::ProbeBwRefill => self.update_refill(sample, cx),
            State::ProbeBwUp => self.update_up(sample, cx),
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// AdaptLongTermModel(): advances the ACK phase and raises the long-term bound when the loss rate
    /// is safe. Returns whether it changed the state.
    fn adapt_long_term_model(&mut self, sample: &Sample, cx: &mut Context<'_>) -> bool {
        if self.round.start && self.probe.ack_phase == AckPhase::ProbeStarting {
            self.probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.round.start && self.probe.ack_phase == AckPhase::ProbeStopping {
            self.probe.is_bw_probe_sample = false;
            self.probe.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !sample.is_app_limited {
                    self.max_bw.advance();
                }
                // Precautionary bandwidth probing, acceleration (section 5.3.3.6).
                if self.probe.prev_probe_precautionary && !self.probe.prev_probe_too_high {
                    self.start_probe_bw_refill(cx);
                    return true;
                }
            }
        }
        let too_high =
            is_inflight_too_high(sample.lost, sample.tx_in_flight, self.tuning.loss_thresh);
        if !too_high && self.bounds.has_longterm() {
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(sample.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward(sample);
            }
        }
        false
    }

    /// IsTimeToProbeBW() (section 5.3.3.8): after two to three seconds, or after as many round trips as
    /// a Reno flow would need to grow by the same volume, whichever comes first.
    fn is_time_to_probe_bw(&self, cx: &Context<'_>) -> bool {
        let reno_rounds = self.target_inflight().as_u64() / self.mtu.as_u64().max(1);
        cx.now > self.probe.cycle_stamp + self.probe.wait
            || self.round.count >= self.probe.since_round + reno_rounds.min(MAX_RENO_ROUNDS)
    }

    /// Volume in flight above which the long-term bound limits UP.
    fn is_limited_by_longterm(&self) -> bool {
        self.round.is_window_limited() && self.cwnd >= self.bounds.inflight_longterm
    }
}

/// Bound of T_reno in round trips; the random start of the count makes it 62 or 63 (section 5.3.3.8.2).
const MAX_RENO_ROUNDS: u64 = 63;

/// One packet more for the long-term bound whenever this volume is acknowledged.
const NO_GROWTH: Bytes = Bytes::MAX;
