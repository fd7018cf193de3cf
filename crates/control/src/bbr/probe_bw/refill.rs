//! ProbeBW_REFILL: fills the pipe for one round trip, so that the probe that follows does not mistake an
//! empty pipe for a short buffer (draft-ietf-ccwg-bbr-06 section 5.3.3.3).

use super::super::{Bbr, State};
use super::AckPhase;
use crate::Context;
use crate::bbr_model::Sample;

impl Bbr {
    /// StartProbeBW_REFILL().
    pub(in super::super) fn start_probe_bw_refill(&mut self, cx: &mut Context<'_>) {
        self.bounds.reset_short_term();
        self.probe.growth.restart();
        self.probe.prev_probe_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.round.begin(cx.path.delivered);
        self.state = State::ProbeBwRefill;
    }

    /// After one round trip the probe begins, and losses count as its feedback.
    pub(super) fn update_refill(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.round.start {
            self.probe.is_bw_probe_sample = true;
            self.start_probe_bw_up(sample, cx);
        }
    }
}
