//! Slow start, and its end when delay grows.

use super::curve::packets;
use super::recovery::Cause;
use super::{Cubic, Phase, Signal};
use crate::picoquic::window::{
    TARGET_RENO_RTT, TARGET_SATELLITE_RTT, bandwidth_floor, data_limited, slow_start_increase,
};
use thalweg_control::Context;
use thalweg_control::event::Ack;
use thalweg_units::{Bytes, Duration};

impl Cubic {
    /// Before the first reaction.
    pub(super) fn in_initial_slow_start(&self) -> bool {
        self.phase == Phase::SlowStart && self.ssthresh == Bytes::MAX
    }

    pub(super) fn grow_in_slow_start(&mut self, event: &Ack, cx: &Context<'_>) {
        self.window = self.window.max(bandwidth_floor(cx.path));
        if data_limited(cx.path) {
            self.window += slow_start_increase(event.newly_acked, cx.path);
        }
        if self.window >= self.ssthresh {
            self.w_reno = self.window.as_u64() as f64 / 2.0;
            self.startup_done = true;
            self.enter_avoidance(cx.now);
        }
    }

    /// Ends the initial slow start: on delay, and dCubic's also on losses. Growth continues at once from the window that
    /// is left. Cubic takes the overshoot from it and reduces it by the curve, dCubic keeps it.
    pub(super) fn leave_slow_start(&mut self, cx: &Context<'_>) {
        if self.signal == Signal::Loss {
            self.window -= self.overshoot();
        }
        self.ssthresh = self.window;
        self.w_max = packets(self.window, cx.path);
        self.w_last_max = self.w_max;
        self.w_reno = self.window.as_u64() as f64;
        self.startup_done = true;
        match self.signal {
            Signal::Loss => self.enter_recovery(Cause::Delay, cx),
            Signal::Delay => self.enter_avoidance(cx.now),
        }
        // The plateau of the curve is now: the epoch started K ago.
        let age = cx.now - self.start;
        if age.as_secs_f64() < self.k {
            self.k = age.as_secs_f64();
            self.epoch = self.start;
        } else {
            self.epoch = cx.now - Duration::from_secs_f64(self.k);
        }
    }

    /// By how much the window grew since the packet left whose delay ended slow start.
    fn overshoot(&self) -> Bytes {
        let base = self.hystart.filtered_min();
        if base <= TARGET_RENO_RTT {
            return self.window - self.window / 2;
        }
        // Towards the window that a path of 100 ms would have, half way.
        let target = match base > TARGET_SATELLITE_RTT {
            true => TARGET_SATELLITE_RTT,
            false => TARGET_RENO_RTT,
        };
        let wanted = self.window.mul_div(target.as_nanos(), base.as_nanos());
        (self.window - wanted) / 2
    }
}
