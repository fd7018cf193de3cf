//! ProbeRTT: as in the draft.

use super::{Bbr1, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::{ProbeRtt, Sample, min_pipe_cwnd};

impl Bbr1 {
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, cx: &Context<'_>) {
        let can_probe = !matches!(self.state, State::ProbeRtt | State::StartupLongRtt);
        if can_probe && self.rtprop_expired {
            self.prior_cwnd = self.cwnd;
            self.state = State::ProbeRtt;
            self.probe_rtt = ProbeRtt::begun(cx.now);
        }
        if self.state != State::ProbeRtt {
            return;
        }
        let (low, round) = (min_pipe_cwnd(self.mtu), &mut self.round);
        if self.probe_rtt.is_over(sample, low, round, cx.now) {
            self.rtprop_stamp = cx.now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            if self.full_pipe.reached {
                self.enter_probe_bw(cx);
            } else {
                self.state = State::Startup;
            }
        }
    }
}
