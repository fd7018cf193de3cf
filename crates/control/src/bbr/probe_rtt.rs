//! ProbeRTT: halves the volume in flight to measure the propagation delay
//! (draft-ietf-ccwg-bbr-06 section 5.3.4).

use super::{Bbr, State};
use crate::Context;
use crate::bbr_model::parameters::{PROBE_RTT_CWND_GAIN, PROBE_RTT_DURATION};
use crate::bbr_model::{AckPhase, Bubble, Sample, min_pipe_cwnd};
use thalweg_units::{Bytes, Instant};

/// Progress of a ProbeRTT episode.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    /// BBR.probe_rtt_done_stamp, once the volume in flight is low enough.
    done_stamp: Option<Instant>,
    /// BBR.probe_rtt_round_done.
    round_done: bool,
    /// The gap that the episode leaves in the pipe.
    pub(super) bubble: Bubble,
}

impl Bbr {
    /// CheckProbeRTT().
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            let bubble = Bubble::opened(cx.now);
            self.probe_rtt = ProbeRtt {
                bubble,
                ..ProbeRtt::default()
            };
            self.probe.ack_phase = AckPhase::ProbeStopping;
            self.round.begin(sample.total_delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(sample, cx);
        }
        if !sample.delivered.is_zero() {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT().
    fn handle_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        self.probe_rtt
            .bubble
            .extend(sample.total_delivered + sample.in_flight);
        if self.probe_rtt.done_stamp.is_some() {
            self.probe_rtt.round_done |= self.round.start;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(cx);
            }
        } else if sample.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt.done_stamp = Some(cx.now + PROBE_RTT_DURATION);
            self.round.begin(sample.total_delivered);
        }
    }

    /// CheckProbeRTTDone(), also called when the flow restarts from idle in this state.
    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut Context<'_>) {
        if self
            .probe_rtt
            .done_stamp
            .is_some_and(|stamp| cx.now > stamp)
        {
            self.min_rtt.probed(cx.now);
            self.restore_cwnd();
            self.exit_probe_rtt(cx);
        }
    }

    /// ExitProbeRTT() (section 5.3.4.4): the probing clock starts again, but as the queue is empty the
    /// flow goes straight on to CRUISE.
    fn exit_probe_rtt(&mut self, cx: &mut Context<'_>) {
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
