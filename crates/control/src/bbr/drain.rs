//! Drain: empties the queue that Startup left (draft-ietf-ccwg-bbr-06 section 5.3.2).

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::parameters::DRAIN_MAX_ROUNDS;
use crate::bbr_model::{Gain, Sample};

impl Bbr {
    /// EnterDrain().
    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_start_round = self.round.count;
    }

    /// CheckDrainDone(): the queue is empty, or three round trips have passed (the bandwidth was
    /// overestimated, and the next probe will correct it).
    pub(super) fn check_drain_done(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state == State::Drain
            && (sample.in_flight <= self.inflight(self.bw, Gain::UNITY)
                || self.round.count > self.drain_start_round + DRAIN_MAX_ROUNDS)
        {
            self.start_probe_bw_down(cx);
        }
    }
}
