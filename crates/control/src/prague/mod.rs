//! Prague, the scalable controller for L4S (RFC 9330, RFC 9331).
//!
//! draft-briscoe-iccrg-prague-congestion-control-04 (July 2024), "the Prague draft" below. Its packets
//! carry ECT(1), so that a queue for low latency marks them early and often. A smoothed fraction of
//! marks, [`alpha`](crate::alpha), sets how far a mark lowers the window ([`reduction`]), which otherwise grows by a
//! packet each round trip ([`increase`]), less on short paths ([`virtual_rtt`]). [`pacing`] keeps bursts
//! out of the queue. On a path that marks nothing it is Reno.
//!
//! Where the draft describes alternatives, this follows its Linux implementation:
//! - Slow start is as in RFC 9002 and ends with the first mark, which halves the window, or with a loss.
//!   HyStart++ is an option.
//! - A loss halves the window, as in Reno; the option `loss=cubic` leaves 0.7 of it as the implementation
//!   for QUIC does. Growth is one packet each round trip with both.
//! - The window of the transport is at least two packets; the pacing rate may be lower.
//!
//! # Limits
//! The fallback for a single queue that marks ECT(1) as classic ECN does ([`classic`]) and the undo
//! of spurious losses ([`undo`]) are options, both off: the Linux detection is off by default, and
//! RFC 9002 has no undo. A remembered window is not used. A flow on a path that clears ECN
//! reacts only to losses.

mod classic;
mod increase;
mod pacing;
mod reduction;
#[cfg(test)]
mod tests;
mod undo;
mod virtual_rtt;

use crate::alpha::Alpha;
use crate::event::{Ack, EcnCounts, Lost, SpuriousLoss};
use crate::phase::{CONGESTION_AVOIDANCE, CONSERVATIVE_SLOW_START, RECOVERY, REDUCED, SLOW_START};
use crate::start::hystart::HyStart;
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, PathState,
    Purpose,
};
use classic::Classic;
use reduction::{Flow, Reductions};
use thalweg_units::{Bytes, Duration, Ecn, Rate};
use undo::{Before, Undo};
use virtual_rtt::VirtualRtt;

/// Prague in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "prague",
    purpose: Purpose::Internet,
    title: "Prague for L4S",
    source: "draft-briscoe-iccrg-prague-congestion-control-04, with RFC 9331",
    options: &[
        OptionDoc {
            name: "rtt_independence",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "a long flow on a shorter path behaves as if its RTT were reference_rtt (section 2.4.4)",
        },
        OptionDoc {
            name: "reference_rtt",
            kind: OptionKind::Duration,
            default: "25 ms",
            meaning: "the RTT below which that applies (section 2.4.4)",
        },
        OptionDoc {
            name: "rtt_transition",
            kind: OptionKind::Number(0.0, 1e9),
            default: "500",
            meaning: "round trips after slow start before that applies (section 2.4.4)",
        },
        OptionDoc {
            name: "gain",
            kind: OptionKind::Number(0.001, 1.0),
            default: "0.0625",
            meaning: "gain of the average of marks, 1/16 as DCTCP recommends (section 2.3.2)",
        },
        OptionDoc {
            name: "loss",
            kind: OptionKind::Choice(&["reno", "cubic"]),
            default: "reno",
            meaning: "a loss leaves 0.5 (RFC 9002) or 0.7 (RFC 9438) of the window (section 2.4.1)",
        },
        OptionDoc {
            name: "hystart",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "HyStart++ (RFC 9406) in the initial slow start",
        },
        OptionDoc {
            name: "undo",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "a loss reduction is undone when all its losses prove spurious",
        },
        OptionDoc {
            name: "classic_fallback",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "a mark takes at least what a loss takes while the queue holds more than 2 ms (RFC 9331 \
                      section 4.3)",
        },
    ],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let reference = match options.flag("rtt_independence") {
        true => options.duration("reference_rtt"),
        false => Duration::ZERO,
    };
    // kLossReductionFactor of RFC 9002 appendix B.1, and beta of RFC 9438 section 4.6.
    let loss_factor = match options.text("loss") {
        "cubic" => 0.7,
        _ => 0.5,
    };
    Box::new(Prague {
        mtu: init.mtu,
        window: init.initial_window.max(init.mtu * MINIMUM_WINDOW).as_u64() as f64,
        ssthresh: f64::INFINITY,
        alpha: Alpha::new(init.now, options.number("gain")),
        reductions: Reductions::new(loss_factor),
        virtual_rtt: VirtualRtt::new(reference, options.number("rtt_transition") as u64),
        hystart: options.flag("hystart").then(HyStart::new),
        undo: options.flag("undo").then(Undo::default),
        classic: Classic::new(options.flag("classic_fallback"), loss_factor),
        marks: 0,
        pacing: None,
    })
}

/// kMinimumWindow of RFC 9002 section 7.2, in packets.
const MINIMUM_WINDOW: u64 = 2;

/// The controller. Windows are bytes and parts of them.
#[derive(Debug)]
pub(crate) struct Prague {
    mtu: Bytes,
    window: f64,
    /// Slow start threshold; infinite before the first congestion event.
    ssthresh: f64,
    alpha: Alpha,
    reductions: Reductions,
    virtual_rtt: VirtualRtt,
    /// Present in the initial slow start, if enabled.
    hystart: Option<HyStart>,
    /// Present if enabled.
    undo: Option<Undo>,
    classic: Classic,
    /// CE marks up to the last ACK.
    marks: u64,
    /// Left to the transport before the first RTT sample.
    pacing: Option<Rate>,
}

impl Prague {
    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    fn flow(&self, path: &PathState) -> Flow {
        Flow {
            window: self.window,
            mtu: self.mtu.as_u64() as f64,
            next_packet: path.next_packet,
        }
    }

    /// A real round trip is enough between two updates or reductions in slow start.
    fn shortest_round(&self) -> Duration {
        match self.in_slow_start() {
            true => Duration::ZERO,
            false => self.virtual_rtt.shortest_round(),
        }
    }

    fn reduce_to(&mut self, window: Option<f64>) {
        if let Some(window) = window {
            self.window = window;
            self.ssthresh = window;
            self.hystart = None;
        }
    }

    /// Prague draft section 2.4.5 with RFC 9002 section 7.3.1; with HyStart++, RFC 9406 section 4.2.
    fn slow_start(&mut self, ack: &Ack, marks: u64, path: &PathState) {
        let growth = match &mut self.hystart {
            Some(hystart) => hystart.take(ack, path),
            None => Some(Bytes::new(increase::unmarked(ack, marks) as u64)),
        };
        match growth {
            Some(growth) => self.window += growth.as_u64() as f64,
            None => {
                self.ssthresh = self.window;
                self.hystart = None;
            }
        }
    }

    fn grow(&mut self, ack: &Ack, marks: u64, path: &PathState) {
        if self.reductions.in_recovery() || ack.window_was_underused(path) {
            return;
        }
        if self.in_slow_start() {
            self.slow_start(ack, marks, path);
        } else {
            let unmarked = increase::unmarked(ack, marks);
            let factor = self.virtual_rtt.growth(path.smoothed_rtt);
            self.window += increase::additive(unmarked, self.window, self.mtu, factor);
        }
    }

    fn congestion_confirmed(&mut self) {
        if let Some(undo) = &mut self.undo {
            undo.forget();
        }
    }

    fn pace(&mut self, path: &PathState) {
        self.pacing = path
            .has_rtt()
            .then(|| pacing::rate(self.window, self.ssthresh, path.smoothed_rtt));
    }
}

impl Controller for Prague {
    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        self.reductions.on_ack(event.largest);
        let marks = cx.path.ecn.ce.saturating_sub(self.marks);
        self.marks = cx.path.ecn.ce.max(self.marks);
        self.grow(event, marks, cx.path);
        let shortest = self.shortest_round();
        let round_ended = self.alpha.on_ack(event.largest, cx.path, cx.now, shortest);
        if round_ended && !self.in_slow_start() {
            self.virtual_rtt.on_round();
        }
        self.pace(cx.path);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        let before = Before {
            window: self.window,
            ssthresh: self.ssthresh,
            reductions: self.reductions,
            hystart: self.hystart,
        };
        let reduced = self.reductions.on_loss(event.packet, self.flow(cx.path));
        if let Some(undo) = &mut self.undo {
            match reduced {
                Some(_) => undo.reduced(before),
                None => undo.lost(event.packet),
            }
        }
        self.reduce_to(reduced);
        if event.persistent_congestion {
            self.congestion_confirmed();
            // RFC 9002 section 7.6.2.
            self.window = self.window.min((self.mtu * MINIMUM_WINDOW).as_u64() as f64);
            self.reductions.restart();
        }
        self.pace(cx.path);
    }

    fn on_spurious_loss(&mut self, event: &SpuriousLoss, cx: &mut Context<'_>) {
        let Some(undo) = &mut self.undo else { return };
        if event.timeout_only {
            return;
        }
        if let Some(before) = undo.arrived(event.packet) {
            self.window = self.window.max(before.window);
            self.ssthresh = before.ssthresh;
            self.reductions = before.reductions;
            self.hystart = before.hystart;
            self.pace(cx.path);
        }
    }

    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.congestion_confirmed();
        let alpha = self.classic.alpha(self.alpha.on_mark(), cx.path);
        let (flow, shortest) = (self.flow(cx.path), self.shortest_round());
        let reduced = self
            .reductions
            .on_mark(event.largest_acked, alpha, flow, cx.now, shortest);
        self.reduce_to(reduced);
        self.pace(cx.path);
    }

    fn control(&self) -> Control {
        Control {
            window: Bytes::new(self.window as u64).max(self.mtu * MINIMUM_WINDOW),
            pacing: self.pacing,
            quantum: pacing::quantum(self.pacing, self.mtu),
            startup_done: !self.in_slow_start(),
        }
    }

    /// Prague draft section 2.2; RFC 9331 section 4.1.
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match (&self.hystart, self.in_slow_start()) {
            _ if self.reductions.in_recovery() => RECOVERY,
            (Some(hystart), true) if hystart.is_conservative() => CONSERVATIVE_SLOW_START,
            (_, true) => SLOW_START,
            _ if self.reductions.is_reduced() => REDUCED,
            (_, false) => CONGESTION_AVOIDANCE,
        });
        if let Some(alpha) = self.alpha.value() {
            out.variable("alpha", alpha);
        }
        if self.ssthresh.is_finite() {
            out.variable("ssthresh", self.ssthresh);
        }
        out.variable("fractional_window", self.window);
    }
}
