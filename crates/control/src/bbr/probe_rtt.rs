//! ProbeRTT: halves the volume in flight to measure the propagation delay
//! (draft-ietf-ccwg-bbr-06 section 5.3.4).

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::parameters::PROBE_RTT_CWND_GAIN;
use crate::bbr_model::{AckPhase, ProbeRtt, Sample, min_pipe_cwnd};
use thalweg_units::Bytes;

impl Bbr {
    /// CheckProbeRTT().
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt = ProbeRtt::begun(cx.now);
            self.probe.ack_phase = AckPhase::ProbeStopping;
            self.round.begin(sample.total_delivered);
        }
        if self.state == State::ProbeRtt {
            let (low, round) = (self.probe_rtt_cwnd(), &mut self.round);
            if self.probe_rtt.is_over(sample, low, round, cx.now) {
                self.exit_probe_rtt(cx);
            }
        }
        if !sample.delivered.is_zero() {
            self.idle_restart = false;
        }
    }

    /// CheckProbeRTTDone() when the flow restarts from idle in this state.
    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut Context<'_>) {
        if self.probe_rtt.has_lasted(cx.now) {
            self.exit_probe_rtt(cx);
        }
    }

    /// ExitProbeRTT() (section 5.3.4.4): the probing clock starts again, but as the queue is empty the
    /// flow goes straight on to CRUISE.
    fn exit_probe_rtt(&mut self, cx: &mut Context<'_>) {
        self.min_rtt.probed(cx.now);
        self.restore_cwnd();
        self.bounds.reset_short_term();
        if self.full_pipe.reached {
            self.start_probe_bw_down(cx);
            self.state = State::ProbeBwCruise;
        } else {
            self.enter_startup();
        }
    }

    /// ProbeRTTCwnd() (section 5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> Bytes {
        self.bdp_multiple(self.bw, PROBE_RTT_CWND_GAIN)
            .max(min_pipe_cwnd(self.mtu))
    }
}
