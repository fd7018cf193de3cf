//! The two ways to start, by rate and by window, and Drain.

use super::{Bbr1, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::{Gain, Sample};
use thalweg_units::{Bytes, Duration, Rate};

/// Above this RTT, a path starts by window.
const LONG_RTT: Duration = Duration::from_millis(50);

impl Bbr1 {
    /// A path of more than 50 ms starts by window, until HyStart ends that.
    pub(super) fn check_long_rtt(&mut self, rtt: Duration, cx: &Context<'_>) {
        if self.state == State::Startup && !self.full_pipe.reached && cx.path.min_rtt > LONG_RTT {
            self.state = State::StartupLongRtt;
        }
        if self.state == State::StartupLongRtt {
            let start = &mut self.window_start;
            let is_over = start.on_rtt(rtt, self.cwnd, self.mtu, cx.path, cx.now);
            if is_over {
                self.enter_drain();
            }
        }
    }

    /// A remembered window ends the start by window: it is taken as the BDP.
    pub(super) fn take_seed(&mut self, window: Bytes, cx: &Context<'_>) {
        let rate = Rate::over(window, cx.path.min_rtt);
        if self.state == State::StartupLongRtt && window > self.cwnd && !rate.is_zero() {
            self.btl_bw_filter
                .update(rate.as_bits_per_sec(), self.round.count, 10);
            self.cwnd = window;
            self.enter_drain();
        }
    }

    /// Ends the start by rate on a plateau of the bandwidth.
    pub(super) fn check_startup(&mut self, sample: &Sample) {
        if self.round.start && !sample.is_app_limited && !self.full_pipe.reached {
            self.full_pipe.check(self.btl_bw());
        }
        if self.state == State::Startup && self.full_pipe.reached {
            self.enter_drain();
        }
    }

    pub(super) fn enter_drain(&mut self) {
        self.full_pipe.declare();
        self.state = State::Drain;
    }

    pub(super) fn check_drain_done(&mut self, sample: &Sample, cx: &Context<'_>) {
        if self.state == State::Drain && sample.in_flight <= self.inflight(Gain::UNITY) {
            self.enter_probe_bw(cx);
        }
    }
}
