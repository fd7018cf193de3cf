//! The three ways to start, and Drain.

use super::{Bbr, ECN_EXCESS, LONG_RTT, State};
use crate::Context;
use crate::bbr::parameters::{Gain, STARTUP_FULL_LOSS_COUNT};
use crate::bbr::sample::Sample;
use thalweg_units::{Bytes, Duration};

/// ACKs with an excess of delay that end Startup.
const DELAY_EXCESS: u32 = 7;
/// Growth that a start from a remembered volume is judged by.
const RESUME_GROWTH: Gain = Gain::permille(1125);
/// The RTT that the initial window is meant for, and the longest that it is scaled to.
const TARGET_RENO: Duration = Duration::from_millis(100);
const TARGET_SATELLITE: Duration = Duration::from_millis(610);

impl Bbr {
    /// Starts again, from the remembered volume if there is one.
    pub(super) fn enter_startup(&mut self) {
        self.full_pipe.restart(Default::default());
        self.full_pipe.reached = false;
        self.state = State::Startup;
        if let Some(seed) = self.seed {
            self.state = State::StartupResume;
            self.cwnd = self.cwnd.max(seed);
        }
    }

    /// A seed has come: resume, unless the path is long, where it sets the first window.
    pub(super) fn check_seed(&mut self, cx: &Context<'_>) {
        if self.state == State::StartupLongRtt {
            self.cwnd = self.cwnd.max(self.seed.unwrap_or_default());
        } else if cx.path.min_rtt <= LONG_RTT {
            self.enter_startup();
        }
    }

    /// A path of more than 250 ms starts like a window-based algorithm, until HyStart stops it.
    pub(super) fn check_long_rtt(&mut self, rtt: Duration, cx: &mut Context<'_>) {
        if self.state == State::Startup && !self.startup_done && cx.path.min_rtt > LONG_RTT {
            self.state = State::StartupLongRtt;
            let scaled = cx.path.min_rtt.min(TARGET_SATELLITE).as_nanos();
            let window = self.initial_window.mul_div(scaled, TARGET_RENO.as_nanos());
            self.cwnd = self.cwnd.max(self.seed.unwrap_or(window));
        }
        if self.state == State::StartupLongRtt {
            let window = self.cwnd.as_u64().max(1);
            let packet_time = cx.path.smoothed_rtt.mul_div(self.mtu.as_u64() * 4, window) / 5;
            if self.hystart.on_rtt(rtt, packet_time, cx.now) || self.ecn_alpha > ECN_EXCESS {
                self.full_pipe.declare();
                self.enter_drain();
            }
        }
    }

    /// Window of the long start: slow start, and at least half of what the best rate fills.
    pub(super) fn grow_long_rtt_window(&mut self, newly_acked: Bytes, cx: &Context<'_>) {
        if cx.path.window_limited {
            self.cwnd += newly_acked;
        }
        self.cwnd = self
            .cwnd
            .max(cx.path.peak_rate.bytes_in(cx.path.min_rtt) / 2);
    }

    /// Ends Startup on a plateau of `max_bw`, on marks, on loss in six runs, or on delay.
    pub(super) fn check_startup(&mut self, sample: &Sample) {
        if self.loss_round.start {
            self.loss_round.ranges = 0;
        }
        let max_bw = self.max_bw.get();
        let counts = self.round.start && !sample.is_app_limited;
        match self.state {
            State::Startup => {
                if counts {
                    self.full_pipe.check(max_bw);
                }
                let too_high = self.is_inflight_too_high(sample)
                    && self.loss_round.ranges >= STARTUP_FULL_LOSS_COUNT;
                if too_high || self.ecn_alpha >= ECN_EXCESS {
                    self.full_pipe.declare();
                    self.bounds.inflight_longterm = self.bdp().max(self.loss_round.latest.inflight);
                } else if self.delay.excess() > DELAY_EXCESS {
                    self.full_pipe.declare();
                }
            }
            State::StartupResume => {
                if counts {
                    self.full_pipe.check_growth(max_bw, RESUME_GROWTH);
                }
                // Bytes per second against bytes: true at once on any path of less than 0.9 s.
                let limit = RESUME_GROWTH.of_bytes(self.seed.unwrap_or_default());
                if !self.full_pipe.reached && max_bw.as_bytes_per_sec() > limit.as_u64() {
                    self.seed = None;
                    self.state = State::Startup;
                }
            }
            _ => return,
        }
        if self.full_pipe.reached {
            self.enter_drain();
        }
    }

    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.startup_done = true;
    }

    pub(super) fn check_drain_done(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state == State::Drain && sample.in_flight <= self.inflight(self.bw, Gain::UNITY) {
            self.enter_probe_bw(cx);
        }
    }
}
