//! The gain cycle, which starts the earlier the less it finds.

use super::{Bbr1, State};
use crate::Context;
use crate::bbr_model::Gain;
use crate::event::Ack;
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
/// Index of the cycle at which a short path begins.
pub(super) const FIRST_PHASE: u64 = 2;
/// The last phase of cruising.
const LAST_CRUISE: u64 = 5;
/// One phase of cruising less for each of these in RTprop.
const PHASE_RTT: Duration = Duration::from_millis(100);

impl Bbr1 {
    pub(super) fn enter_probe_bw(&mut self, cx: &Context<'_>) {
        self.state = State::ProbeBw;
        if self.rtprop > PHASE_RTT {
            let phases = self.rtprop.as_nanos() / PHASE_RTT.as_nanos();
            self.cycle_first = phases.min(LAST_CRUISE);
        }
        self.cycle_index = self.cycle_first;
        (self.cycle_stamp, self.cycle_bw) = (cx.now, self.btl_bw());
    }

    /// Phases last one RTprop, as in the draft; the index at which the cycle restarts depends on what it found.
    pub(super) fn check_cycle_phase(&mut self, event: &Ack, cx: &Context<'_>) {
        if self.state != State::ProbeBw {
            return;
        }
        let is_full_length = cx.now - self.cycle_stamp > self.rtprop;
        let gain = self.pacing_gain();
        let is_over = if gain == Gain::UNITY {
            is_full_length
        } else if gain > Gain::UNITY {
            let has_filled = event.prior_in_flight >= self.inflight(gain);
            is_full_length && (has_filled || !event.newly_lost.is_zero())
        } else {
            is_full_length || event.prior_in_flight <= self.inflight(Gain::UNITY)
        };
        if !is_over {
            return;
        }
        self.cycle_stamp = cx.now;
        self.cycle_index += 1;
        if self.cycle_index >= GAINS.len() as u64 {
            self.cycle_first = match self.btl_bw() > self.cycle_bw {
                true => (self.cycle_first + 1).min(LAST_CRUISE),
                false => self.cycle_first.saturating_sub(1),
            };
            (self.cycle_index, self.cycle_bw) = (self.cycle_first, self.btl_bw());
        }
    }
}
