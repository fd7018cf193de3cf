//! The gain cycle, which starts the earlier the less it finds.

use super::{Bbr1, State};
use std::cmp::Ordering;
use thalweg_control::Context;
use thalweg_control::bbr_model::Gain;
use thalweg_units::Duration;

/// Starts with six phases of cruising.
pub(super) const GAINS: [Gain; 8] = [
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::percent(125),
    Gain::percent(75),
];
/// The phase before the one with which a short path begins.
const FIRST_PHASE: u64 = 2;
/// The last phase of cruising.
const LAST_CRUISE: u64 = 5;
/// One phase of cruising less for each of these in RTprop.
const PHASE_RTT: Duration = Duration::from_millis(100);

impl Bbr1 {
    pub(super) fn enter_probe_bw(&mut self, cx: &Context<'_>) {
        self.state = State::ProbeBw;
        self.cycle_first = match self.rtprop > PHASE_RTT {
            true => (self.rtprop.as_nanos() / PHASE_RTT.as_nanos()).min(LAST_CRUISE),
            false => FIRST_PHASE,
        };
        self.cycle_index = self.cycle_first;
        self.has_grown = true;
        self.advance_cycle(cx);
    }

    /// Phases last one RTprop; then a probe waits until as much is in flight as it is for, and the phase after it until
    /// the queue is drained. Both compare what the acknowledgement before left in flight.
    pub(super) fn check_cycle_phase(&mut self, cx: &Context<'_>) {
        if self.state != State::ProbeBw {
            return;
        }
        let gain = self.pacing_gain();
        let has_arrived = match gain.cmp(&Gain::UNITY) {
            Ordering::Less => self.prior_in_flight <= self.inflight(Gain::UNITY),
            Ordering::Equal => true,
            Ordering::Greater => self.prior_in_flight >= self.inflight(gain),
        };
        let is_full_length = self.ends_phase || cx.now - self.cycle_stamp > self.rtprop;
        if is_full_length && has_arrived {
            self.advance_cycle(cx);
        }
    }

    /// Where the cycle restarts depends on what it found.
    fn advance_cycle(&mut self, cx: &Context<'_>) {
        self.ends_phase = false;
        self.cycle_stamp = cx.now;
        self.cycle_index += 1;
        if self.cycle_index >= GAINS.len() as u64 {
            self.cycle_first = match std::mem::take(&mut self.has_grown) {
                true => (self.cycle_first + 1).min(LAST_CRUISE),
                false => self.cycle_first.saturating_sub(1),
            };
            self.cycle_index = self.cycle_first;
        }
    }
}
