//! The reaction to losses, timeouts, CE marks and delay.

use super::curve::{bytes, packets};
use super::{BETA, Cubic, Phase, Signal};
use crate::picoquic::window::minimum_window;
use thalweg_control::Context;
use thalweg_units::{Bytes, Instant};

/// Smoothed loss rate above which losses mean congestion.
const LOSS_THRESHOLD: f64 = 0.15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Loss,
    Timeout,
    EcnMark,
    Delay,
}

/// What [`Cubic::enter_recovery`] saves for the repair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Previous {
    pub(super) epoch: Instant,
    pub(super) phase: Phase,
    pub(super) ssthresh: Bytes,
    pub(super) window: Bytes,
}

impl Cubic {
    /// A packet was lost, timed out or was CE-marked.
    pub(super) fn congestion(&mut self, cause: Cause, packet: u64, cx: &Context<'_>) {
        let is_covered = match (self.phase, self.signal) {
            (Phase::SlowStart, _) => !self.round_has_passed(cx),
            // The peer looks at the filter last only here: a covered loss does not advance it.
            (Phase::Avoidance, Signal::Loss) if packet < self.recovery_sequence => return,
            (Phase::Avoidance, Signal::Loss) => false,
            (Phase::Avoidance, Signal::Delay) => packet <= self.recovery_sequence,
        };
        let counts = match cause {
            Cause::Loss => self.losses.record_exceeds(packet, LOSS_THRESHOLD),
            Cause::Timeout => self.losses.record(packet),
            Cause::EcnMark | Cause::Delay => true,
        };
        if counts && self.signal == Signal::Delay && self.in_initial_slow_start() {
            self.leave_slow_start(cx);
        } else if counts && !is_covered {
            self.enter_recovery(cause, cx);
        }
    }

    pub(super) fn enter_recovery(&mut self, cause: Cause, cx: &Context<'_>) {
        let minimum = minimum_window(cx.path);
        self.recovery_sequence = cx.path.next_packet;
        self.previous = Some(Previous {
            epoch: self.epoch,
            phase: self.phase,
            ssthresh: self.ssthresh,
            window: self.window,
        });
        self.w_max = packets(self.window, cx.path);
        if self.w_max < self.w_last_max {
            // Fast convergence; the first reaction always takes this branch.
            self.w_last_max = self.w_max;
            self.w_max *= BETA;
        } else {
            self.w_last_max = self.w_max;
        }
        self.ssthresh = bytes(self.w_max * BETA, cx.path);
        if self.ssthresh < minimum {
            self.phase = Phase::SlowStart;
            self.ssthresh = Bytes::MAX;
            self.window = minimum;
            self.w_reno = minimum.as_u64() as f64;
            self.epoch = cx.now;
            self.startup_done = false;
        } else if cause == Cause::Timeout {
            self.window = minimum;
            self.epoch = cx.now;
            self.phase = Phase::SlowStart;
        } else {
            self.w_reno = self.window.as_u64() as f64 / 2.0;
            self.enter_avoidance(cx.now);
            self.window = bytes(self.cubic_window(cx.now), cx.path).max(minimum);
        }
    }

    /// Whether a round trip has passed since the last reaction.
    pub(super) fn round_has_passed(&self, cx: &Context<'_>) -> bool {
        cx.now - self.epoch > cx.path.smoothed_rtt
            || cx
                .path
                .largest_acked
                .is_some_and(|largest| self.recovery_sequence <= largest)
    }
}
