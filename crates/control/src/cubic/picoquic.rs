//! Cubic and dCubic as picoquic of 2026-08-16 has them (picoquic-controllers.md section 3).
//!
//! They differ from RFC 9438 by a beta of 7/8, a filter that ignores isolated losses, a delay test that
//! halves the window at the end of slow start, a bandwidth floor, a Reno window that grows by a packet
//! per window from half the window, growth during recovery, a window that collapses at a probe timeout,
//! and a repair after any spurious loss. A probe timeout of the seam is the peer's loss of kind
//! "timeout". dCubic reacts to delay in congestion avoidance too and ignores ECN and spurious losses.
//!
//! Window maxima are real numbers of packets and times are seconds; the window itself is bytes.
//!
//! # Limits
//! Nothing is repaired before the first reaction, when there is nothing to return to. The window is held
//! at the peer's minimum of 3072 bytes in every state; the peer lets it sink a little lower in congestion
//! avoidance.

use crate::event::{Ack, EcnCounts, Lost, RttSample, SpuriousLoss, Timeout};
use crate::picoquic::delay_hystart::DelayHystart;
use crate::picoquic::loss_filter::LossFilter;
use crate::picoquic::window::{
    TARGET_RENO_RTT, TARGET_SATELLITE_RTT, bandwidth_floor, data_limited, long_rtt_floor,
    minimum_window, slow_start_increase,
};
use crate::picoquic::window_pacing::WindowPacing;
use crate::{Context, Control, Controller, Init, Observer, PathState};
use thalweg_units::{Bytes, Duration, Instant};

const C: f64 = 0.4;
const BETA: f64 = 7.0 / 8.0;
/// The beta that only the repair uses.
const REPAIR_BETA: f64 = 3.0 / 4.0;
/// Smoothed loss rate above which losses mean congestion.
const LOSS_THRESHOLD: f64 = 0.15;

/// What tells the algorithm of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Losses and CE marks: Cubic.
    Loss,
    /// Delay, and many losses: dCubic.
    Delay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    Avoidance,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Loss,
    Timeout,
    EcnMark,
    Delay,
}

/// What [`Cubic::enter_recovery`] remembers for the repair.
#[derive(Clone, Copy, Debug)]
struct Previous {
    epoch: Instant,
    phase: Phase,
    ssthresh: Bytes,
    window: Bytes,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Cubic {
    signal: Signal,
    initial_window: Bytes,
    phase: Phase,
    window: Bytes,
    /// [`Bytes::MAX`] before the first reaction.
    ssthresh: Bytes,
    /// Packets; infinite before the first reaction.
    w_max: f64,
    w_last_max: f64,
    /// Bytes, as a real number.
    w_reno: f64,
    /// Seconds.
    k: f64,
    epoch: Instant,
    /// First packet number after the last reaction.
    recovery_sequence: u64,
    previous: Option<Previous>,
    startup_done: bool,
    losses: LossFilter,
    hystart: DelayHystart,
    pacing: WindowPacing,
}

impl Cubic {
    pub(crate) fn new(init: &Init, signal: Signal) -> Self {
        Cubic {
            signal,
            initial_window: init.initial_window,
            phase: Phase::SlowStart,
            window: init.initial_window,
            ssthresh: Bytes::MAX,
            w_max: f64::INFINITY,
            w_last_max: f64::INFINITY,
            w_reno: init.initial_window.as_u64() as f64,
            k: 0.0,
            epoch: init.now,
            recovery_sequence: 0,
            previous: None,
            startup_done: false,
            losses: LossFilter::default(),
            hystart: DelayHystart::new(),
            pacing: WindowPacing::initial(init),
        }
    }

    fn pace(&mut self, path: &PathState) {
        let initial = self.phase == Phase::SlowStart && self.ssthresh == Bytes::MAX;
        self.pacing = WindowPacing::of(self.window, path, initial);
    }

    /// W(t) in packets.
    fn cubic_window(&self, now: Instant) -> f64 {
        let x = now.since(self.epoch).as_secs_f64() - self.k;
        self.w_max + C * x * x * x
    }

    fn enter_avoidance(&mut self, epoch: Instant) {
        self.phase = Phase::Avoidance;
        self.k = cube_root(self.w_max * (1.0 - BETA) / C);
        self.epoch = epoch;
    }

    fn enter_recovery(&mut self, cause: Cause, cx: &Context<'_>) {
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

    /// A packet was lost, timed out or came with a CE mark.
    fn congestion(&mut self, cause: Cause, packet: u64, cx: &Context<'_>) {
        let is_new = match self.phase {
            Phase::SlowStart => self.round_has_passed(cx),
            Phase::Avoidance => packet >= self.recovery_sequence,
        };
        // The peer looks at the filter first in slow start and last in avoidance, where a covered loss
        // therefore does not advance it.
        if self.phase == Phase::Avoidance && !is_new {
            return;
        }
        let counts = match cause {
            Cause::Loss => self.losses.record_exceeds(packet, LOSS_THRESHOLD),
            Cause::Timeout => self.losses.record(packet),
            Cause::EcnMark | Cause::Delay => true,
        };
        if counts && is_new {
            self.enter_recovery(cause, cx);
        }
    }

    /// Whether a round trip has passed since the last reaction.
    fn round_has_passed(&self, cx: &Context<'_>) -> bool {
        cx.now - self.epoch > cx.path.smoothed_rtt
            || cx
                .path
                .largest_acked
                .is_some_and(|largest| self.recovery_sequence <= largest)
    }

    /// The delay test fired in the initial slow start.
    fn leave_slow_start_on_delay(&mut self, cx: &Context<'_>) {
        let base = self.hystart.filtered_min();
        if base > TARGET_RENO_RTT {
            // Towards the window that a path of 100 ms would have, half way.
            let target = match base > TARGET_SATELLITE_RTT {
                true => TARGET_SATELLITE_RTT,
                false => TARGET_RENO_RTT,
            };
            let wanted = self.window.mul_div(target.as_nanos(), base.as_nanos());
            self.window -= (self.window - wanted) / 2;
        } else {
            self.window = self.window / 2;
        }
        self.ssthresh = self.window;
        self.w_max = packets(self.window, cx.path);
        self.w_last_max = self.w_max;
        self.w_reno = self.window.as_u64() as f64;
        self.startup_done = true;
        self.enter_recovery(Cause::Delay, cx);
        // Growth goes on from the plateau: the epoch began K ago.
        if cx.now.as_secs_f64() < self.k {
            self.k = cx.now.as_secs_f64();
            self.epoch = Instant::START;
        } else {
            self.epoch = cx.now - Duration::from_secs_f64(self.k);
        }
    }
}

impl Controller for Cubic {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.pacing = WindowPacing::of_first_flight(self.initial_window, cx.path);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        match self.phase {
            Phase::SlowStart => {
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
            Phase::Avoidance => {
                if data_limited(cx.path) {
                    self.epoch = self.epoch.max(cx.path.last_idle);
                    let mtu = cx.path.mtu.as_u64() as f64;
                    self.w_reno += event.newly_acked.as_u64() as f64 * mtu / self.w_reno;
                    let cubic = bytes(self.cubic_window(cx.now), cx.path);
                    self.window = cubic.max(Bytes::new(self.w_reno as u64));
                }
            }
        }
        self.window = self.window.max(minimum_window(cx.path));
        self.pace(cx.path);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.congestion(Cause::Loss, event.packet, cx);
        self.pace(cx.path);
    }

    fn on_timeout(&mut self, event: &Timeout, cx: &mut Context<'_>) {
        self.congestion(Cause::Timeout, event.packet, cx);
        self.pace(cx.path);
    }

    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        if self.signal == Signal::Loss {
            self.congestion(Cause::EcnMark, event.largest_acked, cx);
            self.pace(cx.path);
        }
    }

    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        let initial = self.phase == Phase::SlowStart && self.ssthresh == Bytes::MAX;
        if initial && self.signal == Signal::Delay {
            self.window = self
                .window
                .max(long_rtt_floor(self.initial_window, cx.path));
        }
        let in_avoidance = self.signal == Signal::Delay && self.phase == Phase::Avoidance;
        if initial || in_avoidance {
            let packet_time = self.pacing.packet_time(cx.path.mtu);
            if self.hystart.on_rtt(event.rtt, packet_time, cx.now) {
                if initial {
                    self.leave_slow_start_on_delay(cx);
                } else if self.round_has_passed(cx) {
                    self.enter_recovery(Cause::Delay, cx);
                }
            }
        }
        self.pace(cx.path);
    }

    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, cx: &mut Context<'_>) {
        if self.signal == Signal::Delay || self.ssthresh == Bytes::MAX {
            return;
        }
        let Some(previous) = self.previous else {
            return;
        };
        self.w_max = self.w_last_max;
        match previous.phase {
            Phase::SlowStart => {
                self.phase = Phase::SlowStart;
                self.epoch = previous.epoch;
                self.ssthresh = previous.ssthresh;
                self.window = previous.window;
                self.w_reno = previous.window.as_u64() as f64;
            }
            Phase::Avoidance => {
                self.enter_avoidance(previous.epoch);
                let window = bytes(self.cubic_window(cx.now), cx.path);
                self.window = window.max(minimum_window(cx.path));
                self.w_reno = self.window.as_u64() as f64;
                self.ssthresh = bytes(self.w_max * REPAIR_BETA, cx.path);
            }
        }
        self.pace(cx.path);
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        if self.phase == Phase::SlowStart && self.ssthresh == Bytes::MAX {
            self.window = self.window.max(window);
            self.ssthresh = window;
            self.w_max = packets(self.window, cx.path);
            self.w_reno = self.window.as_u64() as f64;
            self.startup_done = true;
            self.enter_avoidance(cx.now);
        }
        self.pace(cx.path);
    }

    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: Some(self.pacing.rate),
            quantum: self.pacing.quantum,
            startup_done: self.startup_done,
        }
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.phase {
            Phase::SlowStart => "slow start",
            Phase::Avoidance => "congestion avoidance",
        });
        out.variable("loss_rate", self.losses.rate());
        out.variable("w_reno", self.w_reno);
        if self.ssthresh != Bytes::MAX {
            out.variable("ssthresh", self.ssthresh.as_u64() as f64);
            out.variable("w_max_packets", self.w_max);
            out.variable("k", self.k);
        }
    }
}

fn packets(window: Bytes, path: &PathState) -> f64 {
    window.as_u64() as f64 / path.mtu.as_u64().max(1) as f64
}

/// Negative windows, which the curve gives before its start, are zero.
fn bytes(packets: f64, path: &PathState) -> Bytes {
    Bytes::new((packets * path.mtu.as_u64() as f64) as u64)
}

/// The peer's cube root: the next power of two and three steps of Newton's method, up to 1 % too large.
fn cube_root(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return 0.0;
    }
    let (mut root, mut cube) = (1.0, 1.0);
    while cube > x * 8.0 {
        root /= 2.0;
        cube /= 8.0;
    }
    while cube < x {
        root *= 2.0;
        cube *= 8.0;
    }
    for _ in 0..3 {
        root += (x - root * root * root) / (3.0 * root * root);
    }
    root
}

#[cfg(test)]
#[path = "picoquic_tests.rs"]
mod tests;
