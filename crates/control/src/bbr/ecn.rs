//! Response to ECN marks, for the option `ecn`.
//!
//! draft-ietf-ccwg-bbr-06 section 3.7 specifies no response, but requires a flow that claims ECN
//! support to treat CE marks as congestion. By default this flow claims none. With the option, a mark is
//! equivalent to a lost packet (RFC 3168 section 5). A round trip with marks lowers the
//! short-term bounds, ends Startup, or ends the bandwidth probe that caused them.

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::Sample;

impl Bbr {
    /// The newest ACK reported CE marks; its sample has the volume in flight that caused them.
    pub(super) fn note_marks(&mut self, cx: &Context<'_>) {
        if self.ecn_capable {
            self.loss_round.note_loss(cx.path.delivered);
            self.marked = true;
        }
    }

    /// Part of the per-ACK steps, before the state machine runs.
    pub(super) fn respond_to_marks(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if !std::mem::take(&mut self.marked) {
            return;
        }
        if self.state == State::Startup {
            self.leave_startup_for_congestion();
        } else if self.probe.is_bw_probe_sample {
            self.handle_inflight_too_high(sample.tx_in_flight, sample.is_app_limited, cx);
        }
    }
}
