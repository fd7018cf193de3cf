//! LEDBAT++, a sender for background traffic that yields to others (draft-irtf-iccrg-ledbat-plus-plus-01, "the LEDBAT++ draft"
//! below; RFC 6817 is LEDBAT).
//!
//! # Model
//! The queue on the path is the recent RTT over the least of ten minutes ([`delay`]). A round trip adds GAIN packets to the window
//! while the queue is at most 60 ms, and takes up to half of the window off while it is more (LEDBAT++ draft sections 4.2
//! and 4.3). GAIN is 1 / min(16, ceil(2 TARGET / base)): a sixteenth to one. Slow start grows by GAIN too, from two packets, and ends when
//! the queue is over 3/4 of the target (LEDBAT++ draft section 4.1). Two round trips later, and then again after nine times what
//! the last one took, the window falls to two packets for two round trips and starts slowly up to where it was (LEDBAT++ draft
//! section 4.4), so that flows see the base RTT whatever others do. A loss or a mark halves the window, once in a round trip
//! (RFC 6817 section 2.4.2).
//!
//! Two implementations that follow the LEDBAT++ draft were at hand: the one in Apple's kernel, and one in a library for uTP,
//! which quotes it. They agree on all numbers above. Where they do not:
//! - Growth below the target is GAIN for each window, as in Apple's, not less the nearer the target is.
//! - After a slowdown the window grows by GAIN too, as in Apple's, and the limit of 3/4 is only for the first slow start; a queue over
//!   the target ends later ones.
//!
//! # Versions
//! This is -01 of 2020. Revision -06 (29 January 2026, in the poll of the IRSG for an Experimental RFC) names the same four
//! parts in its abstract, a smaller gain, another slow start, multiplicative decrease and periodic slowdowns; its formulas
//! were not at hand and are not compared.
//!
//! # Limits
//! A longer route counts as a queue, and keeps the gain of the shorter one, for ten minutes. The window does not start afresh after an
//! idle period. A remembered window is not used; spurious losses and probe timeouts change
//! nothing. Pacing is left to the transport.

mod delay;
#[cfg(test)]
mod tests;

use crate::event::{Ack, EcnCounts, Lost, RttSample};
use crate::phase::{CONGESTION_AVOIDANCE, RECOVERY, SLOW_START, SLOWDOWN};
use crate::recovery_period::RecoveryPeriod;
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, Purpose,
};
use delay::Delay;
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// LEDBAT++ in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "ledbat-pp",
    purpose: Purpose::Background,
    title: "LEDBAT++ for background traffic",
    source: "draft-irtf-iccrg-ledbat-plus-plus-01, with RFC 6817",
    options: &[
        OptionDoc {
            name: "target",
            kind: OptionKind::Duration,
            default: "60 ms",
            meaning: "the delay of the queue above which the window shrinks (section 4.5)",
        },
        OptionDoc {
            name: "slowdowns",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "periodic slowdowns (section 4.4)",
        },
    ],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    Box::new(LedbatPp {
        mtu: init.mtu,
        initial_window: init.initial_window,
        target: options.duration("target").max(Duration::from_micros(1)),
        slowdowns: options.flag("slowdowns"),
        window: (init.mtu * MINIMUM_WINDOW).as_u64() as f64,
        ssthresh: f64::INFINITY,
        delay: Delay::new(init.now),
        phase: Phase::Start,
        recovery: RecoveryPeriod::default(),
    })
}

/// The smallest window, which slowdowns have, and the first, in packets (sections 4.1 and 4.4).
const MINIMUM_WINDOW: u64 = 2;
/// Largest divisor of the gain (section 4.2).
const LEAST_GAIN: u64 = 16;
/// Share of the target at which the first slow start ends (section 4.1).
const FULL: f64 = 0.75;
/// Largest share of the window that a queue takes in a round trip (section 4.3).
const MOST_DECREASE: f64 = 0.5;
/// Round trips from the first slow start to the first slowdown, and of the rest of each (section 4.4).
const REST: u64 = 2;
/// Time between slowdowns, in lengths of the last one (section 4.4).
const PERIOD: u64 = 9;

/// Where in its cycle a flow is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The first slow start.
    Start,
    /// The next slowdown is due at this time.
    Avoidance { slowdown: Instant },
    /// The window rests at two packets.
    Slowdown { began: Instant, ends: Instant },
    /// The window starts slowly up to the threshold, after a slowdown or persistent congestion.
    Ramp { began: Instant },
}

/// The controller. Windows are bytes and parts of them.
#[derive(Debug)]
pub(crate) struct LedbatPp {
    mtu: Bytes,
    initial_window: Bytes,
    target: Duration,
    slowdowns: bool,
    window: f64,
    /// Slow start threshold; infinite before the first slow start is over.
    ssthresh: f64,
    delay: Delay,
    phase: Phase,
    recovery: RecoveryPeriod,
}

impl LedbatPp {
    fn minimum_window(&self) -> f64 {
        (self.mtu * MINIMUM_WINDOW).as_u64() as f64
    }

    /// GAIN (section 4.2): the smallest before the first sample.
    fn gain(&self) -> f64 {
        let base = self.delay.base().unwrap_or(Duration::from_nanos(1));
        let rounds = (self.target * 2)
            .as_nanos()
            .div_ceil(base.as_nanos().max(1));
        1.0 / rounds.clamp(1, LEAST_GAIN) as f64
    }

    /// The delay of the queue in targets.
    fn fullness(&self) -> f64 {
        self.delay.queue().as_nanos() as f64 / self.target.as_nanos() as f64
    }

    fn avoid_congestion(&mut self, span: Duration, now: Instant) {
        let slowdown = match self.slowdowns {
            true => now + span,
            false => Instant::NEVER,
        };
        self.phase = Phase::Avoidance { slowdown };
    }

    /// The first slow start, or a later one, is over (section 4.4).
    fn leave_slow_start(&mut self, cx: &Context<'_>) {
        match self.phase {
            Phase::Start => self.avoid_congestion(cx.path.smoothed_rtt * REST, cx.now),
            Phase::Ramp { began } => self.avoid_congestion((cx.now - began) * PERIOD, cx.now),
            Phase::Avoidance { .. } | Phase::Slowdown { .. } => {}
        }
    }

    /// Begins and ends slowdowns (section 4.4).
    fn follow_schedule(&mut self, cx: &Context<'_>) {
        match self.phase {
            Phase::Avoidance { slowdown } if cx.now >= slowdown => {
                self.ssthresh = self.window;
                self.window = self.minimum_window();
                self.phase = Phase::Slowdown {
                    began: cx.now,
                    ends: cx.now + cx.path.smoothed_rtt * REST,
                };
            }
            Phase::Slowdown { began, ends } if cx.now >= ends => {
                self.phase = Phase::Ramp { began };
            }
            _ => {}
        }
    }

    /// Sections 4.1 and 4.4.
    fn slow_start(&mut self, acked: f64, full: f64, cx: &Context<'_>) {
        if self.fullness() > full {
            self.ssthresh = self.window;
            self.leave_slow_start(cx);
            return;
        }
        // Packets may have become larger since the threshold was set.
        let ssthresh = self.ssthresh.max(self.minimum_window());
        self.window = (self.window + self.gain() * acked).min(ssthresh);
        if self.window >= ssthresh {
            self.leave_slow_start(cx);
        }
    }

    /// Sections 4.2 and 4.3, for the share of a window that was acknowledged.
    fn follow_queue(&mut self, acked: f64, is_underused: bool) {
        let (share, excess) = ((acked / self.window).min(1.0), self.fullness() - 1.0);
        let growth = self.gain() * self.mtu.as_u64() as f64;
        let change = match excess > 0.0 {
            true => (growth - self.window * excess).max(-MOST_DECREASE * self.window),
            false => growth,
        };
        if change < 0.0 || !is_underused {
            self.window = (self.window + change * share).max(self.minimum_window());
        }
    }

    /// RFC 6817 section 2.4.2: a packet that left after the last reduction was lost or marked.
    fn congestion(&mut self, packet: u64, cx: &Context<'_>) {
        if self.recovery.covers(packet) {
            return;
        }
        self.recovery.begin(cx.path.next_packet);
        let minimum = self.minimum_window();
        if let Phase::Slowdown { .. } = self.phase {
            // The window is what a slowdown leaves: the loss belongs to the window to which it returns.
            self.ssthresh = (self.ssthresh / 2.0).max(minimum);
            return;
        }
        self.window = self.window.min((self.window / 2.0).max(minimum));
        self.ssthresh = self.window;
        self.leave_slow_start(cx);
    }
}

impl Controller for LedbatPp {
    fn on_rtt(&mut self, event: &RttSample, cx: &mut Context<'_>) {
        self.delay.on_sample(event.rtt, cx.now);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        self.window = self.window.max(self.minimum_window());
        self.recovery.on_ack(event.largest);
        self.follow_schedule(cx);
        if self.recovery.is_open() {
            return;
        }
        let acked = event.newly_acked.as_u64() as f64;
        let is_underused = event.window_was_underused(cx.path);
        match self.phase {
            Phase::Slowdown { .. } => {}
            Phase::Start | Phase::Ramp { .. } if is_underused => {}
            Phase::Start => self.slow_start(acked, FULL, cx),
            Phase::Ramp { .. } => self.slow_start(acked, 1.0, cx),
            Phase::Avoidance { .. } => self.follow_queue(acked, is_underused),
        }
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.congestion(event.packet, cx);
        if event.persistent_congestion {
            // RFC 9002 section 7.6.2.
            self.window = self.minimum_window();
            self.phase = Phase::Ramp { began: cx.now };
            self.recovery.close();
        }
    }

    fn on_ecn(&mut self, event: &EcnCounts, cx: &mut Context<'_>) {
        self.congestion(event.largest_acked, cx);
    }

    fn control(&self) -> Control {
        Control {
            window: Bytes::new(self.window as u64),
            pacing: None,
            // RFC 9002 section 7.7: bursts no larger than the initial window.
            quantum: self.initial_window,
            startup_done: self.phase != Phase::Start,
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.phase {
            Phase::Slowdown { .. } => SLOWDOWN,
            _ if self.recovery.is_open() => RECOVERY,
            Phase::Start | Phase::Ramp { .. } => SLOW_START,
            Phase::Avoidance { .. } => CONGESTION_AVOIDANCE,
        });
        if let Some(base) = self.delay.base() {
            out.variable("base_rtt", base.as_secs_f64());
            out.variable("queue_delay", self.delay.queue().as_secs_f64());
        }
        if self.ssthresh.is_finite() {
            out.variable("ssthresh", self.ssthresh);
        }
    }
}
