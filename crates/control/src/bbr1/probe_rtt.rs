//! ProbeRTT: four packets in flight for 200 ms
//! (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.5).

use super::{Bbr1, State};
use crate::Context;
use crate::bbr_model::{Bubble, Sample, min_pipe_cwnd};
use thalweg_units::{Duration, Instant};

/// ProbeRTTDuration.
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    done_stamp: Option<Instant>,
    round_done: bool,
    /// The gap that the episode leaves in the pipe.
    pub(super) bubble: Bubble,
}

impl Bbr1 {
    /// BBRCheckProbeRTT().
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state != State::ProbeRtt && self.rtprop.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            let bubble = Bubble::opened(cx.now);
            self.probe_rtt = ProbeRtt {
                bubble,
                ..ProbeRtt::default()
            };
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(sample, cx);
        }
        self.idle_restart = false;
    }

    /// BBRHandleProbeRTT().
    fn handle_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        self.probe_rtt
            .bubble
            .extend(sample.total_delivered + sample.in_flight);
        let Some(done_stamp) = self.probe_rtt.done_stamp else {
            if sample.in_flight <= min_pipe_cwnd(self.mtu) {
                self.probe_rtt.done_stamp = Some(cx.now + PROBE_RTT_DURATION);
                self.round.begin(sample.total_delivered);
            }
            return;
        };
        self.probe_rtt.round_done |= self.round.start;
        if self.probe_rtt.round_done && cx.now > done_stamp {
            self.rtprop.probed(cx.now);
            self.restore_cwnd();
            if self.full_pipe.reached {
                self.enter_probe_bw(cx);
            } else {
                self.state = State::Startup;
            }
        }
    }
}
