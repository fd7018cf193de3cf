//! ProbeRTT: as in the draft.

use super::{Bbr1, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::{Bubble, Sample, min_pipe_cwnd};
use thalweg_units::Duration;

const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

impl Bbr1 {
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, cx: &Context<'_>) {
        let can_probe = !matches!(self.state, State::ProbeRtt | State::StartupLongRtt);
        if can_probe && self.rtprop_expired {
            self.prior_cwnd = self.cwnd;
            self.state = State::ProbeRtt;
            (self.done_stamp, self.round_done) = (None, false);
            self.bubble = Bubble::opened(cx.now);
        }
        if self.state != State::ProbeRtt {
            return;
        }
        self.bubble
            .extend(sample.total_delivered + sample.in_flight);
        let Some(done_stamp) = self.done_stamp else {
            if sample.in_flight <= min_pipe_cwnd(self.mtu) {
                self.done_stamp = Some(cx.now + PROBE_RTT_DURATION);
                self.round.begin(sample.total_delivered);
            }
            return;
        };
        self.round_done |= self.round.start;
        if self.round_done && cx.now > done_stamp {
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
