//! SCReAMv2: a reference window that follows losses, marks and the delay of the queue, and from it the rate of media
//! (draft-johansson-ccwg-rfc8298bis-screamv2; in the following the SCReAMv2 draft).
//!
//! # Model
//! Each ACK updates the averages of delay and marks ([`averages`], SCReAMv2 draft, "Network Congestion Control"),
//! reduces the window for congestion or lets it grow ([`window`], SCReAMv2 draft, "Reference Window Update"), and
//! sets the rate of media from window and RTT (SCReAMv2 draft, "Media Rate Control"). The target of the delay is
//! larger against flows that fill the queue ([`target`], SCReAMv2 draft, "Competing Flows Compensation"). What is in
//! flight may exceed the window by a half, and packets are paced half as fast again as the media (SCReAMv2 draft,
//! "Packet Pacing").
//!
//! # Version
//! The draft has no numbered version at hand that is this one: it is a state of the editors' copy after -00, with a
//! POST_CONGESTION_DELAY of 4 s. Later states, up to that which the CCWG has adopted since, are not
//! done: they count that delay as 100 round trips, keep the inflection point for ten of them, divide the reductions for
//! marks of L4S and for delays by the RTT over 25 ms, have a factor of 8 in place of 4 near the inflection point, at least
//! a quarter in place of a tenth of the growth there, the first and not the second power of a short RTT, and 1.5 in place
//! of 2 for BYTES_IN_FLIGHT_HEAD_ROOM, and weigh the variation of the delay.
//!
//! # Where the draft is silent
//! - It says that the window is reduced at most once in a smoothed RTT, and computes at most once in 25 ms. Here losses
//!   reduce it once in a smoothed RTT, marks and delays once in 25 ms.
//! - `loss_event_rate` has no formula: here each round trip weighs a hundredth.
//! - It does not say how often the target of the delay is adjusted: here every 50 ms.
//! - It has no rule for feedback that does not come, but that a least rate is kept: as in TFRC, window and rate are
//!   halved at each probe timeout (RFC 5348 section 4.4), and persistent congestion leaves the smallest window.
//! - "L4S is active" here means that a mark came in the last five seconds.
//!
//! # Limits
//! Sizes of frames are not known to a controller: `rel_framesize_high` is 1, its initial value. That the window is
//! limited by a history of what was in flight once the largest rate is reached is left to the C++ code by the draft,
//! and not done here. Marks are counts of packets (RFC 9000 section 19.3.2), so that marked bytes are the bytes of
//! packets of the mean size. A remembered window is not used.

mod averages;
mod target;
#[cfg(test)]
mod tests;
mod window;

use crate::event::{Ack, Arrival, EcnCounts, Lost, Timeout};
use crate::realtime::{Feedback, OneWayDelay, Rates, rates};
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, Purpose,
};
use averages::Averages;
use target::Target;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};
use window::Window;

/// SCReAMv2 in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "screamv2",
    purpose: Purpose::Media,
    title: "SCReAMv2 for real-time media",
    source: "draft-johansson-ccwg-rfc8298bis-screamv2",
    options: &[
        rates::MIN_RATE,
        rates::MAX_RATE,
        OptionDoc {
            name: "l4s",
            kind: OptionKind::Flag,
            default: "off",
            meaning: "IS_L4S: ECT(1), and a reduction by the share of marks",
        },
        OptionDoc {
            name: "competing",
            kind: OptionKind::Flag,
            default: "on",
            meaning: "a larger target of the delay next to flows that fill the queue",
        },
    ],
    build,
};

/// RATE_PACE_MIN (SCReAMv2 draft, "Constants", as all of these).
const LEAST_PACED: Rate = Rate::from_bits_per_sec(50_000);
/// REF_WND_OVERHEAD: what may be in flight, in windows.
const OVERHEAD: f64 = 1.5;
/// BYTES_IN_FLIGHT_LIMIT and BYTES_IN_FLIGHT_LIMIT_COMPENSATION.
const FULL: f64 = 0.9;
const MOST_COMPENSATION: f64 = 1.5;

/// What one ACK reported, until it is processed.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    lost: bool,
    marked: u64,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct ScreamV2 {
    mtu: Bytes,
    rates: Rates,
    l4s: bool,
    feedback: Feedback,
    delay: OneWayDelay,
    averages: Averages,
    target: Target,
    window: Window,
    reported: Reported,
    marks: u64,
    /// target_bitrate, in bits per second.
    media: f64,
}

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let rates = Rates::read(options, init);
    Box::new(ScreamV2 {
        mtu: init.mtu,
        rates,
        l4s: options.flag("l4s"),
        feedback: Feedback::default(),
        delay: OneWayDelay::new(init.now),
        averages: Averages::new(init.now),
        target: Target::new(options.flag("competing"), init.now),
        window: Window::new(init.mtu, init.now),
        reported: Reported::default(),
        marks: 0,
        media: rates.start.as_bits_per_sec() as f64,
    })
}

impl ScreamV2 {
    /// The delay sample of an acknowledgement belongs to the packet with the largest number.
    fn arrived(&mut self, packet: &Arrival, now: Instant) {
        self.averages.queue = self.delay.queue(packet, now).as_secs_f64();
    }

    /// SCReAMv2 draft, "Media Rate Control".
    fn set_media_rate(&mut self, in_flight: Bytes, rtt: Duration) {
        let (window, mtu) = (self.window.bytes(), self.mtu.as_u64() as f64);
        let mut factor = 1.0;
        let ratio = in_flight.as_u64() as f64 / window;
        if !self.averages.l4s_active && ratio > FULL {
            factor /= (ratio / FULL).min(MOST_COMPENSATION);
        }
        factor *= 1.0 - (mtu / window - 0.1).clamp(0.0, 0.8);
        let rate = factor * 8.0 * window / rtt.as_secs_f64();
        self.media = self.rates.limit(rate);
    }
}

impl Controller for ScreamV2 {
    fn wants_arrivals(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.feedback.on_arrival();
        self.arrived(event, cx.now);
    }

    fn on_ecn(&mut self, event: &EcnCounts, _cx: &mut Context<'_>) {
        let marked = event.ce.saturating_sub(self.marks);
        self.reported.marked = self.reported.marked.saturating_add(marked);
        self.marks = event.ce;
    }

    fn on_lost(&mut self, event: &Lost, _cx: &mut Context<'_>) {
        self.reported.lost = true;
        if event.persistent_congestion {
            self.window.collapse();
        }
    }

    /// RFC 5348 section 4.4, in place of a rule of its own.
    fn on_timeout(&mut self, _event: &Timeout, _cx: &mut Context<'_>) {
        self.window.halve();
        self.media = self.rates.limit(self.media / 2.0);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        if let Some((arrival, _)) = self.feedback.stand_in(event, cx.now) {
            self.arrived(&arrival, cx.now);
        }
        let rtt = cx.path.smoothed_rtt.max(Duration::from_micros(1));
        let Reported { lost, marked } = std::mem::take(&mut self.reported);
        let marked = marked.min(event.newly_acked_packets);
        self.averages
            .update(event.newly_acked_packets, marked, self.l4s, (rtt, cx.now));
        self.target.update(self.averages.queue, lost, (rtt, cx.now));
        self.window
            .note_in_flight(event.prior_in_flight, rtt, cx.now);
        let congestion = window::Congestion {
            lost,
            marked: marked > 0,
            l4s: self.l4s,
            target: self.target.seconds(),
            media: self.media,
        };
        self.window
            .reduce(&congestion, &mut self.averages, self.mtu, (rtt, cx.now));
        let acked = event.newly_acked + event.newly_lost;
        let unmarked = acked.scale(1.0 - marked as f64 / event.newly_acked_packets.max(1) as f64);
        let is_active = self.averages.l4s_active;
        self.window
            .grow(unmarked, is_active, self.mtu, (rtt, cx.now));
        self.set_media_rate(event.prior_in_flight, rtt);
    }

    fn media_rate(&self) -> Option<Rate> {
        Some(self.rates.clamp(self.media))
    }

    fn control(&self) -> Control {
        let media = self.rates.clamp(self.media).max(LEAST_PACED);
        let window = Bytes::new((self.window.bytes() * OVERHEAD) as u64);
        Control {
            window: window.max(self.mtu * 2),
            ..self.rates.paced(media, self.mtu)
        }
    }

    fn ecn(&self) -> Ecn {
        match self.l4s {
            true => Ecn::Ect1,
            false => Ecn::Ect0,
        }
    }

    fn observe(&self, out: &mut dyn Observer) {
        self.window.observe(out);
        out.variable("qdelay_avg", self.averages.queue_average);
        out.variable("qdelay_target", self.target.seconds());
        out.variable("l4s_alpha", self.averages.l4s_alpha);
        out.variable("target_bitrate", self.media);
    }
}
