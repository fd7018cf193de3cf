//! picoquic's Cubic and dCubic of 2026-08-16 (picoquic-controllers.md section 3).
//!
//! They differ from RFC 9438 by a beta of 7/8, a filter that ignores isolated losses, a delay test that
//! halves the window at the end of slow start, a bandwidth floor, a Reno window that grows by a packet
//! per window from half the window, growth during recovery, a window that collapses at a probe timeout,
//! and a repair after any spurious loss. A probe timeout here is the peer's loss of kind
//! "timeout". dCubic also reacts to delay after the initial slow start, which it leaves with its whole window, and ignores
//! ECN and spurious losses.
//!
//! One file for each state ([`slow_start`], [`avoidance`]), for the reaction to congestion ([`recovery`]), for
//! the [`repair`] and for the window function ([`curve`]).
//!
//! Window maxima are real numbers of packets and times are seconds; the window itself is bytes.
//!
//! # Limits
//! Nothing is repaired before the first reaction, when there is no earlier state. The window is at least
//! the peer's minimum of 3072 bytes in every state; the peer lets it fall slightly lower in congestion
//! avoidance.

mod avoidance;
mod curve;
mod recovery;
mod repair;
mod slow_start;
#[cfg(test)]
mod tests;

use crate::picoquic::window::{long_rtt_floor, minimum_window};
use crate::picoquic::window_pacing::WindowPacing;
use curve::packets;
use recovery::{Cause, Previous};
use thalweg_control::delay_hystart::DelayHystart;
use thalweg_control::event::{Ack, EcnCounts, Lost, RttSample, SpuriousLoss, Timeout};
use thalweg_control::loss_filter::LossFilter;
use thalweg_control::phase::{CONGESTION_AVOIDANCE, SLOW_START};
use thalweg_control::{Context, Control, Controller, Init, Observer, PathState};
use thalweg_units::{Bytes, Ecn, Instant};

const BETA: f64 = 7.0 / 8.0;

/// The congestion signals of the algorithm.
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
    /// When the connection started.
    start: Instant,
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
            start: init.now,
            k: 0.0,
            epoch: init.now,
            recovery_sequence: 0,
            previous: None,
            startup_done: false,
            losses: LossFilter::default(),
            hystart: DelayHystart::default(),
            pacing: WindowPacing::initial(init),
        }
    }

    fn pace(&mut self, path: &PathState) {
        let initial = self.in_initial_slow_start();
        self.pacing = WindowPacing::of(self.window, path, initial);
    }
}

impl Controller for Cubic {
    fn on_handshake_rtt(&mut self, cx: &mut Context<'_>) {
        self.pacing = WindowPacing::of_first_flight(self.initial_window, cx.path);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        match self.phase {
            Phase::SlowStart => self.grow_in_slow_start(event, cx),
            Phase::Avoidance => self.grow_in_avoidance(event, cx),
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
        let initial = self.in_initial_slow_start();
        if initial && self.signal == Signal::Delay {
            self.window = self
                .window
                .max(long_rtt_floor(self.initial_window, cx.path));
        }
        if initial || self.signal == Signal::Delay {
            let packet_time = self.pacing.packet_time(cx.path.mtu);
            if self.hystart.on_rtt(event.rtt, packet_time, cx.now) {
                if initial {
                    self.leave_slow_start(cx);
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
        self.repair(cx);
        self.pace(cx.path);
    }

    fn on_seed(&mut self, window: Bytes, cx: &mut Context<'_>) {
        if self.in_initial_slow_start() {
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

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.phase {
            Phase::SlowStart => SLOW_START,
            Phase::Avoidance => CONGESTION_AVOIDANCE,
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
