//! GCC, the congestion control of WebRTC: two rates, one from changes of the one-way delay, one from losses; the sender
//! uses the smaller (draft-ietf-rmcat-gcc-02).
//!
//! # Model
//! Packets that left within 5 ms are a group ([`groups`], GCC draft section 5.2). How much longer than the group
//! before it one takes is filtered ([`filter`], GCC draft section 5.3) and compared with a threshold that adapts
//! ([`detector`], GCC draft section 5.4); over-use takes the rate to 0.85 of what arrives, and without it the rate
//! grows ([`delay_based`], GCC draft section 5.5). Losses of more than a tenth reduce the other rate, of less than
//! two hundredths let it grow ([`loss_based`], GCC draft section 6).
//!
//! # Where the draft is silent, or not what runs
//! - WebRTC compares the threshold with the filtered change times the number of groups so far, at most 60; the draft
//!   does not say so. Without it, a threshold of 6 to 600 ms is a threshold for one group of 5 ms, which no growing queue
//!   reaches. `gain=1` is the letter of the draft.
//! - The draft does not say how often losses are judged; here it is once in a response time, 100 ms and a round trip.
//! - It has no rule for feedback that does not come: as in TFRC, the rate is halved at each probe timeout (RFC 5348
//!   section 4.4), and persistent congestion leaves the least rate. What is in flight is limited to what is sent in
//!   half a second and a round trip.
//! - WebRTC probes the path with bursts when it starts; the draft does not have that, and the rate starts at the
//!   least one.
//!
//! # Limits
//! No ECN. A remembered window is not used.

mod delay_based;
mod detector;
mod filter;
mod groups;
mod loss_based;
#[cfg(test)]
mod tests;

use crate::event::{Ack, Arrival, Lost, Timeout};
use crate::realtime::{Feedback, Rates, rates};
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, Purpose,
};
use delay_based::DelayBased;
use loss_based::LossBased;
use thalweg_units::{Bytes, Duration, Ecn, Rate};

/// GCC in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "gcc",
    purpose: Purpose::Media,
    title: "Google Congestion Control for real-time media",
    source: "draft-ietf-rmcat-gcc-02",
    options: &[
        rates::MIN_RATE,
        rates::MAX_RATE,
        OptionDoc {
            name: "gain",
            kind: OptionKind::Number(1.0, 60.0),
            default: "60",
            meaning: "groups by which the filtered change is multiplied at most, as WebRTC does; 1 is the draft's",
        },
    ],
    build,
};

/// Time that what is in flight may take to send, in addition to a round trip: ours.
const IN_FLIGHT: Duration = Duration::from_millis(500);

/// The controller.
#[derive(Debug)]
pub(crate) struct Gcc {
    mtu: Bytes,
    rates: Rates,
    feedback: Feedback,
    delay: DelayBased,
    loss: LossBased,
    in_flight: Duration,
}

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let rates = Rates::read(options, init);
    Box::new(Gcc {
        mtu: init.mtu,
        rates,
        feedback: Feedback::default(),
        delay: DelayBased::new(rates, options.number("gain"), init.now),
        loss: LossBased::new(rates, init.now),
        in_flight: IN_FLIGHT * 2,
    })
}

impl Gcc {
    /// GCC draft section 6: the smaller of the two rates.
    fn rate(&self) -> Rate {
        let smaller = self.delay.rate().min(self.loss.rate());
        self.rates.clamp(smaller)
    }

    fn arrived(&mut self, packet: &Arrival, packets: u64, cx: &Context<'_>) {
        self.loss.on_arrivals(packets);
        self.delay.on_arrival(packet, cx);
    }
}

impl Controller for Gcc {
    fn wants_arrivals(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.feedback.on_arrival();
        self.arrived(event, 1, cx);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        if let Some((arrival, packets)) = self.feedback.stand_in(event, cx.now) {
            self.arrived(&arrival, packets, cx);
        }
        self.in_flight = cx.path.smoothed_rtt + IN_FLIGHT;
        self.delay.update(cx);
        self.loss.update(cx.path.smoothed_rtt, cx.now);
    }

    fn on_lost(&mut self, event: &Lost, _cx: &mut Context<'_>) {
        self.loss.on_lost();
        if event.persistent_congestion {
            self.delay.reduce_to(0.0);
            self.loss.reduce_to(0.0);
        }
    }

    /// RFC 5348 section 4.4.
    fn on_timeout(&mut self, _event: &Timeout, _cx: &mut Context<'_>) {
        let half = self.rate().as_bits_per_sec() as f64 / 2.0;
        self.delay.reduce_to(half);
        self.loss.reduce_to(half);
    }

    fn media_rate(&self) -> Option<Rate> {
        Some(self.rate())
    }

    fn control(&self) -> Control {
        self.rates.decide(self.rate(), self.in_flight, self.mtu)
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn observe(&self, out: &mut dyn Observer) {
        self.delay.observe(out);
        out.variable("as_hat", self.loss.rate());
        out.variable("target_bitrate", self.rate().as_bits_per_sec() as f64);
    }
}
