//! Restarting from idle (draft-ietf-ccwg-bbr-06 section 5.4).

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::Gain;

impl Bbr {
    /// HandleRestartFromIdle(): nothing is in flight because there was nothing to send. The flow
    /// resumes at exactly its bandwidth, and the idle period counts as an attempt to drain the queue.
    pub(super) fn handle_restart_from_idle(&mut self, cx: &mut Context<'_>) {
        if !cx.path.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.on_idle_restart(cx.now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(Gain::UNITY);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(cx);
        }
    }
}
