//! Pacing rate, quantum and window, with the relevant slips.

use super::{Bbr, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::parameters::{
    DEFAULT_CWND_GAIN, DOWN_PACING_GAIN, DRAIN_PACING_GAIN, EXTRA_ACKED_FILTER_LEN,
    MAX_SEND_QUANTUM, PACING_MARGIN, PROBE_RTT_CWND_GAIN, STARTUP_PACING_GAIN, UP_CWND_GAIN,
    UP_PACING_GAIN,
};
use thalweg_control::bbr_model::{Gain, Sample, min_pipe_cwnd};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Gain of a start from a remembered volume.
const RESUME_GAIN: Gain = Gain::percent(125);
/// What Headroom leaves of `inflight_hi`.
const UNDER_HEADROOM: Gain = Gain::percent(85);
/// Below this rate the quantum is one packet: 150 kB/s.
const SLOW: Rate = Rate::from_bytes_per_sec(150_000);

impl State {
    pub(super) fn pacing_gain(self) -> Gain {
        match self {
            State::Startup | State::StartupLongRtt => STARTUP_PACING_GAIN,
            State::StartupResume => RESUME_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::ProbeBwDown => DOWN_PACING_GAIN,
            State::ProbeBwUp => UP_PACING_GAIN,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => Gain::UNITY,
        }
    }

    pub(super) fn cwnd_gain(self) -> Gain {
        match self {
            State::StartupResume => RESUME_GAIN,
            State::ProbeBwUp => UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => DEFAULT_CWND_GAIN,
        }
    }
}

pub(super) fn initial_pacing_rate(initial_window: Bytes, rtt: Duration) -> Rate {
    STARTUP_PACING_GAIN.of_rate(Rate::over(initial_window, rtt))
}

pub(super) fn send_quantum(rate: Rate, mtu: Bytes) -> Bytes {
    let floor = if rate < SLOW { mtu } else { mtu * 2 };
    rate.bytes_in(Duration::from_millis(1))
        .min(MAX_SEND_QUANTUM)
        .max(floor)
}

impl Bbr {
    /// The expected volume lacks a division by a million, so the interval restarts at nearly every
    /// ACK and the excess is the data acknowledged by one ACK.
    pub(super) fn update_extra_acked(&mut self, sample: &Sample, now: Instant) {
        let mut expected = self.bw.bytes_in(now - self.extra_acked_start) * 1_000_000;
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_start) = (Bytes::ZERO, now);
            expected = Bytes::ZERO;
        }
        self.extra_acked_delivered += sample.newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        self.extra_acked
            .update(extra.as_u64(), self.round.count, EXTRA_ACKED_FILTER_LEN);
    }

    pub(super) fn update_control(&mut self, sample: &Sample, newly_lost: Bytes, cx: &Context<'_>) {
        self.set_pacing_rate(self.state.pacing_gain());
        self.quantum = send_quantum(self.pacing_rate, self.mtu);
        if self.state == State::StartupLongRtt {
            self.grow_long_rtt_window(sample.newly_acked, cx);
            return;
        }
        self.modulate_for_recovery(sample, newly_lost);
        if !self.recovery.conserves_packets() {
            let max_inflight = self.max_inflight();
            let seed = self.seed.unwrap_or_default();
            if self.full_pipe.reached {
                self.cwnd = (self.cwnd + sample.newly_acked).min(max_inflight);
            } else if self.state == State::StartupResume && seed > self.cwnd {
                self.cwnd = seed;
            } else if self.cwnd < max_inflight || cx.path.delivered < self.initial_window {
                self.cwnd += sample.newly_acked;
            }
            self.cwnd = self.cwnd.max(min_pipe_cwnd(self.mtu));
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// A start from a remembered volume paces it over one round trip at least.
    pub(super) fn set_pacing_rate(&mut self, gain: Gain) {
        let mut rate = PACING_MARGIN.of_rate(gain.of_rate(self.bw));
        if let (State::StartupResume, Some(seed), Some(min_rtt)) =
            (self.state, self.seed, self.delay.min_rtt())
        {
            rate = rate.max(Rate::over(seed, min_rtt));
        }
        if !rate.is_zero() && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// An `inflight_hi` of zero means no bound.
    fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.upper_bound(),
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(),
            _ => Bytes::MAX,
        };
        let cap = cap
            .min(self.bounds.inflight_shortterm)
            .max(min_pipe_cwnd(self.mtu));
        self.cwnd = self.cwnd.min(cap);
    }

    fn upper_bound(&self) -> Bytes {
        let bound = self.bounds.inflight_longterm;
        if bound.is_zero() { Bytes::MAX } else { bound }
    }

    /// Zero does not mean "none" here: four packets.
    pub(super) fn inflight_with_headroom(&self) -> Bytes {
        let bound = UNDER_HEADROOM.of_bytes(self.bounds.inflight_longterm);
        bound.max(min_pipe_cwnd(self.mtu))
    }

    pub(super) fn inflight_unquantized(&self, bw: Rate, gain: Gain) -> Bytes {
        match self.delay.min_rtt() {
            None => self.initial_window,
            Some(min_rtt) => gain.of_bytes(bw.bytes_in(min_rtt)),
        }
    }

    pub(super) fn bdp(&self) -> Bytes {
        self.inflight_unquantized(self.bw, Gain::UNITY)
    }

    pub(super) fn inflight(&self, bw: Rate, gain: Gain) -> Bytes {
        self.quantized(self.inflight_unquantized(bw, gain))
    }

    pub(super) fn target_inflight(&self) -> Bytes {
        self.bdp().min(self.cwnd)
    }

    fn max_inflight(&self) -> Bytes {
        let cap = self.inflight_unquantized(self.bw, self.state.cwnd_gain());
        self.quantized(cap + Bytes::new(self.extra_acked.get()))
    }

    /// At least three quanta, as in the draft for TCP.
    fn quantized(&self, cap: Bytes) -> Bytes {
        let cap = cap.max(self.quantum * 3).max(min_pipe_cwnd(self.mtu));
        if self.state == State::ProbeBwUp {
            cap + self.mtu * 2
        } else {
            cap
        }
    }
}
