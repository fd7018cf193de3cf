//! ProbeRTT: as in the draft, but it takes its first sample as the minimum.

use super::{Bbr, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::AckPhase;
use thalweg_control::bbr_model::parameters::{PROBE_RTT_CWND_GAIN, PROBE_RTT_DURATION};
use thalweg_control::bbr_model::{Sample, min_pipe_cwnd};
use thalweg_units::{Bytes, Duration, Instant};

#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    done_stamp: Option<Instant>,
    round_done: bool,
}

impl Bbr {
    pub(super) fn check_probe_rtt(
        &mut self,
        sample: &Sample,
        rtt: Option<Duration>,
        cx: &mut Context<'_>,
    ) {
        let can_probe = self.state != State::ProbeRtt && self.state != State::StartupLongRtt;
        if can_probe && self.delay.expired && !self.idle_restart {
            self.recovery.save_cwnd(self.cwnd, true);
            if let Some(rtt) = rtt {
                self.delay.restart(rtt);
            }
            self.state = State::ProbeRtt;
            self.probe_rtt = ProbeRtt::default();
            self.probe.ack_phase = AckPhase::ProbeStopping;
            self.round.begin(cx.path.next_packet);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(sample, cx);
        }
        if !sample.delivered.is_zero() {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.probe_rtt.done_stamp.is_none() {
            if sample.tx_in_flight <= self.probe_rtt_cwnd() {
                self.probe_rtt.done_stamp = Some(cx.now + PROBE_RTT_DURATION);
                self.round.begin(cx.path.next_packet);
            }
            return;
        }
        self.probe_rtt.round_done |= self.round.start;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done(cx);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, cx: &mut Context<'_>) {
        if self
            .probe_rtt
            .done_stamp
            .is_some_and(|stamp| cx.now > stamp)
        {
            self.delay.probed(cx.now);
            self.cwnd = self.recovery.restored(self.cwnd);
            self.bounds.reset_short_term();
            if self.full_pipe.reached {
                self.enter_probe_bw(cx);
                self.state = State::ProbeBwCruise;
            } else {
                self.enter_startup();
            }
        }
    }

    pub(super) fn probe_rtt_cwnd(&self) -> Bytes {
        let half = self.inflight_unquantized(self.bw, PROBE_RTT_CWND_GAIN);
        half.max(min_pipe_cwnd(self.mtu))
    }
}
