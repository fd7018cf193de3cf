//! DCTCP, for data centers (RFC 8257; Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, "the paper" below).
//!
//! # Model
//! Queues mark every packet that finds more than a threshold K waiting. The sender smooths the fraction of marked packets
//! in [`alpha`](crate::alpha), and takes half of it off its window once for each window with marks (RFC 8257 section 3.3).
//! All the rest is Reno: slow start, one packet of growth for each window, half of the window after a loss (RFC 8257 sections 3.4
//! and 3.5), here by the rules of RFC 9002.
//!
//! Where RFC 8257 leaves a choice or QUIC differs from TCP:
//! - The ECN counts of QUIC say how many packets were marked, so the state machine of RFC 8257 section 3.2, by which a receiver of
//!   TCP echoes marks, has no counterpart.
//! - The window rests for a round trip after a reduction, as in any recovery period (RFC 9002 section 7.3.2).
//! - A loss after a mark in the same round trip halves the window again: RFC 8257 section 3.5 makes no exception.
//! - Pacing is left to the transport (RFC 9002 section 7.7). The paper has bursts.
//!
//! # Limits
//! It is meant for paths whose queues all mark by a step, `step` among our queues: elsewhere it takes more than its
//! share (RFC 8257 section 5). A remembered window is not used, spurious losses and probe timeouts change nothing.

#[cfg(test)]
mod tests;

use crate::alpha::Alpha;
use crate::event::{Ack, EcnCounts, Lost};
use crate::phase::{CONGESTION_AVOIDANCE, RECOVERY, REDUCED, SLOW_START};
use crate::recovery_period::RecoveryPeriod;
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, PathState,
    Purpose,
};
use thalweg_units::{Bytes, Duration, Ecn};

/// DCTCP in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "dctcp",
    purpose: Purpose::DataCenter,
    title: "DCTCP for data centers",
    source: "RFC 8257",
    options: &[OptionDoc {
        name: "gain",
        kind: OptionKind::Number(0.001, 1.0),
        default: "0.0625",
        meaning: "g, gain of the average of marks: 1/16, as in the experiments of the paper (RFC 8257 section 4.2)",
    }],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    Box::new(Dctcp {
        mtu: init.mtu,
        initial_window: init.initial_window,
        window: init.initial_window.max(init.mtu * MINIMUM_WINDOW),
        ssthresh: Bytes::MAX,
        acked: Bytes::ZERO,
        alpha: Alpha::of_one(init.now, options.number("gain")),
        loss: RecoveryPeriod::default(),
        reduced: RecoveryPeriod::default(),
    })
}

/// kMinimumWindow of RFC 9002 section 7.2, in packets.
const MINIMUM_WINDOW: u64 = 2;

/// The controller.
#[derive(Debug)]
pub(crate) struct Dctcp {
    mtu: Bytes,
    initial_window: Bytes,
    window: Bytes,
    /// Slow start threshold; [`Bytes::MAX`] before the first congestion event.
    ssthresh: Bytes,
    /// Bytes acknowledged in congestion avoidance since the last growth.
    acked: Bytes,
    /// DCTCP.Alpha.
    alpha: Alpha,
    /// The round trip after a loss.
    loss: RecoveryPeriod,
    /// The round trip after a reduction for marks: the state CWR of RFC 3168.
    reduced: RecoveryPeriod,
}

impl Dctcp {
    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Ends the observation window, if `largest` left during it (RFC 8257 section 3.3, steps 4 to 8).
    fn observe_marks(&mut self, largest: u64, cx: &Context<'_>) {
        self.alpha.on_ack(largest, cx.path, cx.now, Duration::ZERO);
    }

    fn reduce(&mut self, kept: f64) {
        let window = self.window.scale(kept).max(self.mtu * MINIMUM_WINDOW);
        self.window = window.min(self.window);
        self.ssthresh = self.window;
        self.acked = Bytes::ZERO;
    }

    /// RFC 8257 section 3.4: as RFC 5681, which for QUIC is RFC 9002 sections 7.3.1 and 7.3.3.
    fn grow(&mut self, ack: &Ack, path: &PathState) {
        if self.loss.is_open() || self.reduced.is_open() || ack.window_was_underused(path) {
            return;
        }
        if self.in_slow_start() {
            self.window += ack.newly_acked;
            return;
        }
        self.acked += ack.newly_acked;
        if self.acked >= self.window {
            self.acked -= self.window;
            self.window += self.mtu;
        }
    }
}

impl Controller for Dctcp {
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        self.window = self.window.max(self.mtu * MINIMUM_WINDOW);
        self.loss.on_ack(event.largest);
        self.reduced.on_ack(event.largest);
        self.observe_marks(event.largest, cx);
        self.grow(event, cx.path);
    }

    /// RFC 8257 section 3.5.
    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        if !self.loss.covers(event.packet) {
            self.loss.begin(cx.path.next_packet);
            // kLossReductionFactor of RFC 9002 appendix B.1.
            self.reduce(0.5);
        }
        if event.persistent_congestion {
            // RFC 9002 section 7.6.2.
            self.window = self.window.min(self.mtu * MINIMUM_WINDOW);
            self.loss.close();
            self.reduced.close();
        }
    }

    /// RFC 8257 section 3.3: the average takes in the marks first, then a new window of data answers them.
    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.observe_marks(event.largest_acked, cx);
        if self.loss.covers(event.largest_acked) || self.reduced.covers(event.largest_acked) {
            return;
        }
        self.reduced.begin(cx.path.next_packet);
        let alpha = self.alpha.on_mark();
        self.reduce(1.0 - alpha / 2.0);
    }

    fn control(&self) -> Control {
        Control {
            window: self.window,
            pacing: None,
            // RFC 9002 section 7.7: bursts no larger than the initial window.
            quantum: self.initial_window,
            startup_done: !self.in_slow_start(),
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.in_slow_start() {
            _ if self.loss.is_open() => RECOVERY,
            _ if self.reduced.is_open() => REDUCED,
            true => SLOW_START,
            false => CONGESTION_AVOIDANCE,
        });
        if let Some(alpha) = self.alpha.value() {
            out.variable("alpha", alpha);
        }
        if self.ssthresh != Bytes::MAX {
            out.variable("ssthresh", self.ssthresh.as_u64() as f64);
        }
    }
}
