//! Gains, pacing rate, quantum and window.

use super::probe_bw::GAINS;
use super::{Bbr1, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::{Gain, Sample, min_pipe_cwnd};
use thalweg_control::bbr_model::{initial_pacing_rate, send_quantum};
use thalweg_units::Bytes;

const HIGH_GAIN: Gain = Gain::permille(2885);
const DRAIN_GAIN: Gain = Gain::permille(347);
const CWND_GAIN: Gain = Gain::percent(200);

impl Bbr1 {
    pub(super) fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::StartupLongRtt => HIGH_GAIN,
            State::Drain => DRAIN_GAIN,
            State::ProbeBw => GAINS[self.cycle_index as usize % GAINS.len()],
            State::ProbeRtt => Gain::UNITY,
        }
    }

    pub(super) fn cwnd_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::StartupLongRtt | State::Drain => HIGH_GAIN,
            State::ProbeBw => CWND_GAIN,
            State::ProbeRtt => Gain::UNITY,
        }
    }

    pub(super) fn inflight(&self, gain: Gain) -> Bytes {
        if self.rtprop.is_zero() {
            return self.initial_window;
        }
        gain.of_bytes(self.btl_bw().bytes_in(self.rtprop)) + self.quantum * 3
    }

    pub(super) fn note_rtt(&mut self, cx: &Context<'_>) {
        self.mtu = cx.path.mtu;
        // A packet may have become larger than the window.
        self.cwnd = self.cwnd.max(self.least_window());
        if self.has_seen_rtt || !cx.path.has_rtt() {
            return;
        }
        self.has_seen_rtt = true;
        let rate = initial_pacing_rate(self.initial_window, cx.path.smoothed_rtt);
        if self.btl_bw().is_zero() && !rate.is_zero() {
            self.pacing_rate = rate;
            self.quantum = send_quantum(rate, self.mtu);
        }
    }

    pub(super) fn update_control(&mut self, sample: &Sample, cx: &Context<'_>) {
        let rate = self.pacing_gain().of_rate(self.btl_bw());
        if !rate.is_zero() && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
        self.quantum = send_quantum(self.pacing_rate, self.mtu);
        if self.state == State::StartupLongRtt {
            if cx.path.window_limited {
                self.cwnd += sample.newly_acked;
            }
            self.cwnd = self.cwnd.max(cx.path.peak_rate.bytes_in(self.rtprop) / 2);
            return;
        }
        let target = self.inflight(self.cwnd_gain());
        if self.full_pipe.reached {
            self.cwnd = (self.cwnd + sample.newly_acked).min(target);
        } else if self.cwnd < target || sample.total_delivered < self.initial_window {
            self.cwnd += sample.newly_acked;
        }
        self.cwnd = self.cwnd.max(min_pipe_cwnd(self.mtu));
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(min_pipe_cwnd(self.mtu));
        }
    }
}
