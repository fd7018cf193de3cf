//! Pacing rate, send quantum and congestion window (draft-ietf-ccwg-bbr-06 section 5.6).

use super::options::Tuning;
use super::{Bbr, State};
use crate::bbr_model::parameters::{
    DRAIN_PACING_GAIN, MAX_SEND_QUANTUM, PACING_MARGIN, PROBE_RTT_CWND_GAIN, UP_CWND_GAIN,
};
use crate::bbr_model::{Gain, Sample, min_pipe_cwnd};
use thalweg_units::{Bytes, Duration, Rate};

impl State {
    /// BBR.pacing_gain (section 5.6.1).
    pub(super) fn pacing_gain(self, tuning: Tuning) -> Gain {
        match self {
            State::Startup => tuning.startup_gain,
            State::Drain => DRAIN_PACING_GAIN,
            State::ProbeBwDown => tuning.down_gain,
            State::ProbeBwUp => tuning.up_gain,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => Gain::UNITY,
        }
    }

    /// BBR.cwnd_gain (section 5.6.1).
    pub(super) fn cwnd_gain(self, tuning: Tuning) -> Gain {
        match self {
            State::ProbeBwUp => UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => tuning.cwnd_gain,
        }
    }
}

/// InitPacingRate() (section 5.6.2): the initial window over the RTT, at the gain of Startup.
pub(super) fn initial_pacing_rate(tuning: Tuning, initial_window: Bytes, rtt: Duration) -> Rate {
    tuning.startup_gain.of_rate(Rate::over(initial_window, rtt))
}

/// SetSendQuantum() (section 5.6.3): what the pacing rate moves in 1 ms, from two packets to 64 KiB.
pub(super) fn send_quantum(pacing_rate: Rate, mtu: Bytes) -> Bytes {
    pacing_rate
        .bytes_in(Duration::from_millis(1))
        .min(MAX_SEND_QUANTUM)
        .max(mtu * 2)
}

impl Bbr {
    /// UpdateControlParameters() (section 5.2.3).
    pub(super) fn update_control(&mut self, sample: &Sample) {
        self.set_pacing_rate(self.state.pacing_gain(self.tuning));
        self.quantum = send_quantum(self.pacing_rate, self.mtu);
        self.set_cwnd(sample);
    }

    /// SetPacingRateWithGain(): before the pipe is full, the rate only rises. Without any bandwidth
    /// sample the initial rate stays.
    pub(super) fn set_pacing_rate(&mut self, gain: Gain) {
        let rate = PACING_MARGIN.of_rate(gain.of_rate(self.bw));
        if !rate.is_zero() && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// SetCwnd() (section 5.6.4.6).
    fn set_cwnd(&mut self, sample: &Sample) {
        let max_inflight = self.max_inflight();
        if self.full_pipe.reached {
            self.cwnd = (self.cwnd + sample.newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || sample.total_delivered < self.initial_window {
            self.cwnd += sample.newly_acked;
        }
        self.cwnd = self.cwnd.max(min_pipe_cwnd(self.mtu));
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// BoundCwndForModel() (section 5.6.4.7).
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::Startup | State::Drain => Bytes::MAX,
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => {
                self.bounds.inflight_longterm
            }
            State::ProbeBwCruise | State::ProbeRtt => {
                (self.bounds).inflight_with_headroom(self.mtu, self.tuning.headroom)
            }
        };
        let cap = cap
            .min(self.bounds.inflight_shortterm)
            .max(min_pipe_cwnd(self.mtu));
        self.cwnd = self.cwnd.min(cap);
    }

    /// BBR.bdp; the initial window before the first RTT sample.
    pub(super) fn bdp(&self) -> Bytes {
        self.bdp_multiple(self.bw, Gain::UNITY)
    }

    /// BDPMultiple() for any bandwidth (section 5.6.4.2).
    pub(super) fn bdp_multiple(&self, bw: Rate, gain: Gain) -> Bytes {
        match self.min_rtt.get() {
            None => self.initial_window,
            Some(min_rtt) => gain.of_bytes(bw.bytes_in(min_rtt)),
        }
    }

    /// Inflight(): a multiple of the BDP that can also be sent and acknowledged in whole quanta.
    pub(super) fn inflight(&self, bw: Rate, gain: Gain) -> Bytes {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// TargetInflight() (section 5.3.3.8).
    pub(super) fn target_inflight(&self) -> Bytes {
        self.bdp().min(self.cwnd)
    }

    /// UpdateMaxInflight().
    fn max_inflight(&self) -> Bytes {
        let cap = self.bdp_multiple(self.bw, self.state.cwnd_gain(self.tuning));
        self.quantization_budget(cap + self.aggregation.extra_acked())
    }

    /// QuantizationBudget(), with the offload budget of QUIC (section 5.5.8.2): one send quantum.
    fn quantization_budget(&self, inflight_cap: Bytes) -> Bytes {
        let cap = inflight_cap.max(self.quantum).max(min_pipe_cwnd(self.mtu));
        if self.state == State::ProbeBwUp {
            cap + self.mtu * 2
        } else {
            cap
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pacing_rate_sends_the_initial_window_in_a_part_of_the_round_trip() {
        // 15 360 bytes * 8 / 80 ms * 2.77 = 4 254 720 bit/s
        let rate =
            initial_pacing_rate(Tuning::DRAFT, Bytes::new(15_360), Duration::from_millis(80));
        assert_eq!(rate, Rate::from_bits_per_sec(4_254_720));
    }

    #[test]
    fn the_quantum_is_a_millisecond_between_two_packets_and_64_kib() {
        let quantum = |mbps: u64| {
            send_quantum(Rate::from_bits_per_sec(mbps * 1_000_000), Bytes::new(1_440)).as_u64()
        };
        assert_eq!(
            [quantum(1), quantum(100), quantum(10_000)],
            [2_880, 12_500, 65_536]
        );
    }
}
