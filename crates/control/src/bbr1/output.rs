//! Pacing rate, send quantum and congestion window
//! (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2).

use super::{Bbr1, State};
use crate::bbr_model::{Gain, HIGH_GAIN, Sample, min_pipe_cwnd, send_quantum};
use thalweg_units::Bytes;

/// Its inverse (section 4.3.3).
const DRAIN_GAIN: Gain = Gain::permille(347);
/// Window gain of ProbeBW (section 4.3.4.1).
const PROBE_BW_CWND_GAIN: Gain = Gain::percent(200);
/// What `bbr_pacing_margin_percent` leaves.
const LINUX_MARGIN: Gain = Gain::percent(99);

impl Bbr1 {
    /// BBR.pacing_gain.
    pub(super) fn pacing_gain(&self) -> Gain {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => DRAIN_GAIN,
            State::ProbeBw => self.cycle.gain(),
            State::ProbeRtt => Gain::UNITY,
        }
    }

    /// BBR.cwnd_gain.
    pub(super) fn cwnd_gain(&self) -> Gain {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw => PROBE_BW_CWND_GAIN,
            State::ProbeRtt => Gain::UNITY,
        }
    }

    /// BBRUpdateControlParameters().
    pub(super) fn update_control(&mut self, sample: &Sample, newly_lost: Bytes) {
        self.set_pacing_rate(self.pacing_gain());
        self.quantum = send_quantum(self.pacing_rate, self.mtu);
        self.set_cwnd(sample, newly_lost);
    }

    /// BBRSetPacingRateWithGain(): before the pipe is full, the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: Gain) {
        let of = if self.is_linux {
            LINUX_MARGIN
        } else {
            Gain::UNITY
        };
        let rate = gain.of_rate(of.of_rate(self.btl_bw()));
        if !rate.is_zero() && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BBRInflight() (section 4.2.3.2): a multiple of the BDP and three quanta.
    pub(super) fn inflight(&self, gain: Gain) -> Bytes {
        match self.rtprop.get() {
            None => self.initial_window,
            Some(rtprop) => gain.of_bytes(self.btl_bw().bytes_in(rtprop)) + self.quantum * 3,
        }
    }

    /// BBRSetCwnd() (section 4.2.3.6).
    fn set_cwnd(&mut self, sample: &Sample, newly_lost: Bytes) {
        let target = self.inflight(self.cwnd_gain());
        let min_pipe = min_pipe_cwnd(self.mtu);
        self.modulate_cwnd_for_recovery(sample, newly_lost);
        if !self.conserves_packets() {
            if self.full_pipe.reached {
                self.cwnd = (self.cwnd + sample.newly_acked).min(target);
            } else if self.cwnd < target || sample.total_delivered < self.initial_window {
                self.cwnd += sample.newly_acked;
            }
        }
        self.cwnd = self.cwnd.max(min_pipe);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(min_pipe);
        }
    }
}
