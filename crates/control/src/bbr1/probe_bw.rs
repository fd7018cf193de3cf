//! ProbeBW: the cycle of eight pacing gains
//! (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4).

use super::{Bbr1, State};
use crate::Context;
use crate::bbr_model::Gain;
use crate::event::Ack;
use rand_core::Rng as _;
use thalweg_units::{Bytes, Instant};

/// One phase that probes, one that drains the queue, six that cruise (section 4.3.4.2).
const GAINS: [Gain; 8] = [
    Gain::percent(125),
    Gain::percent(75),
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
    Gain::UNITY,
];

/// Place in the cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    index: usize,
    stamp: Instant,
}

impl Cycle {
    pub(super) fn gain(&self) -> Gain {
        GAINS[self.index]
    }
}

impl Bbr1 {
    /// BBREnterProbeBW(): starts with a random phase, but never the one that drains, since there is
    /// no queue yet.
    pub(super) fn enter_probe_bw(&mut self, cx: &mut Context<'_>) {
        self.state = State::ProbeBw;
        self.cycle.index = GAINS.len() - 1 - (cx.rng.next_u64() % 7) as usize;
        self.advance_cycle_phase(cx);
    }

    /// BBRAdvanceCyclePhase().
    fn advance_cycle_phase(&mut self, cx: &Context<'_>) {
        self.cycle.stamp = cx.now;
        self.cycle.index = (self.cycle.index + 1) % GAINS.len();
    }

    /// BBRCheckCyclePhase().
    pub(super) fn check_cycle_phase(&mut self, event: &Ack, cx: &Context<'_>) {
        if self.state == State::ProbeBw && self.is_next_cycle_phase(event, cx) {
            self.advance_cycle_phase(cx);
        }
    }

    /// BBRIsNextCyclePhase(): a phase lasts one RTprop. Probing continues until its target volume is in
    /// flight or packets are lost; draining ends early when the queue is empty.
    fn is_next_cycle_phase(&self, event: &Ack, cx: &Context<'_>) -> bool {
        let rtprop = self.rtprop.get().unwrap_or_default();
        let is_full_length = cx.now - self.cycle.stamp > rtprop;
        let gain = self.cycle.gain();
        if gain == Gain::UNITY {
            is_full_length
        } else if gain > Gain::UNITY {
            let paced = if self.is_linux {
                self.quantum
            } else {
                Bytes::ZERO
            };
            let in_flight = event.prior_in_flight + paced;
            is_full_length && (!event.newly_lost.is_zero() || in_flight >= self.inflight(gain))
        } else {
            is_full_length || event.prior_in_flight <= self.inflight(Gain::UNITY)
        }
    }
}
