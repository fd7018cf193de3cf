//! ProbeRTT: four packets in flight for 200 ms
//! (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.5).

use super::{Bbr1, State};
use crate::Context;
use crate::bbr_model::{ProbeRtt, Sample, min_pipe_cwnd};

impl Bbr1 {
    /// BBRCheckProbeRTT().
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state != State::ProbeRtt && self.rtprop.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt = ProbeRtt::begun(cx.now);
        }
        if self.state == State::ProbeRtt {
            let (low, round) = (min_pipe_cwnd(self.mtu), &mut self.round);
            if self.probe_rtt.is_over(sample, low, round, cx.now) {
                self.exit_probe_rtt(cx);
            }
        }
        self.idle_restart = false;
    }

    /// BBRExitProbeRTT().
    fn exit_probe_rtt(&mut self, cx: &mut Context<'_>) {
        self.rtprop.probed(cx.now);
        self.restore_cwnd();
        if self.full_pipe.reached {
            self.enter_probe_bw(cx);
        } else {
            self.state = State::Startup;
        }
    }
}
