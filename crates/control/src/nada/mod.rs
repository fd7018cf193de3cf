//! NADA: a rate that follows one congestion signal, made of queueing delay, losses and marks (RFC 8698).
//!
//! # Model
//! Every 100 ms the signal of the last half second is computed ([`signal`]): the delay of the queue, which counts for
//! less the longer it is while packets are lost, and penalties for the shares of losses and marks (RFC 8698 section
//! 4.2). Without losses and without a queue, the rate ramps up to half more than what arrives. Else it moves towards
//! the rate at which the signal is `PRIO * XREF * RMAX / rate`, and against changes of the signal (RFC 8698 section
//! 4.3).
//!
//! # Limits
//! The document has the receiver compute the signal and report it every 100 ms; here the sender does, of what ACKs
//! report, as its authors' simulator does. It has no rule for feedback that does not come: as in TFRC, the rate is
//! halved at each probe timeout (RFC 5348 section 4.4), and persistent congestion leaves the least rate. The sender's
//! buffer is not known to a controller, so the rate of media is the reference rate itself (RFC 8698 section 5.2.2). A
//! remembered window is not used.

mod loss_intervals;
mod signal;
#[cfg(test)]
mod tests;

use crate::event::{Ack, Arrival, EcnCounts, Lost, Timeout};
use crate::realtime::{Feedback, Rates, rates};
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, Purpose,
};
use signal::Signal;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// NADA in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "nada",
    purpose: Purpose::Media,
    title: "NADA for real-time media",
    source: "RFC 8698",
    options: &[
        rates::MIN_RATE,
        rates::MAX_RATE,
        OptionDoc {
            name: "priority",
            kind: OptionKind::Number(0.1, 10.0),
            default: "1",
            meaning: "PRIO, the weight of the flow among others (section 4.3)",
        },
    ],
    build,
};

/// XREF: the signal of a flow at its largest rate (RFC 8698 section 4.2, Figure 3; as all of these).
const REFERENCE: Duration = Duration::from_millis(10);
/// KAPPA, ETA and TAU of the gradual update.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU: f64 = 0.5;
/// DELTA: time between updates.
const DELTA: Duration = Duration::from_millis(100);
/// QEPS: a queue up to this long is none.
const NO_QUEUE: Duration = Duration::from_millis(10);
/// DFILT: bound of the delay of filters.
const FILTERING: Duration = Duration::from_millis(120);
/// GAMMA_MAX and QBOUND: bounds of the ramp-up, as a ratio and by the queue that it may cause.
const MOST_RAMP: f64 = 0.5;
const MOST_QUEUE: f64 = 0.05;
/// XMAX: the largest signal. What is in flight is limited to what is sent in so long and a round trip.
const MOST_SIGNAL: Duration = Duration::from_millis(500);

/// Which of the two updates was the last (RFC 8698 section 4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    RampUp,
    Gradual,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Nada {
    mtu: Bytes,
    rates: Rates,
    priority: f64,
    /// r_ref, in bits per second.
    rate: f64,
    feedback: Feedback,
    signal: Signal,
    /// x_prev, in seconds.
    before: f64,
    mode: Mode,
    /// When the rate was last updated.
    updated: Instant,
    /// Limit of what is in flight, in time.
    in_flight: Duration,
    marks: u64,
}

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    let rates = Rates::read(options, init);
    Box::new(Nada {
        mtu: init.mtu,
        rates,
        priority: options.number("priority"),
        rate: rates.start.as_bits_per_sec() as f64,
        feedback: Feedback::default(),
        signal: Signal::new(init.now),
        before: 0.0,
        mode: Mode::RampUp,
        updated: init.now,
        in_flight: MOST_SIGNAL * 2,
        marks: 0,
    })
}

impl Nada {
    fn limit(&mut self, rate: f64) {
        self.rate = self.rates.limit(rate);
    }

    /// RFC 8698 section 4.3.
    fn update(&mut self, cx: &Context<'_>) {
        let span = cx.now - self.updated;
        if span < DELTA {
            return;
        }
        self.updated = cx.now;
        let signal = self.signal.update();
        self.mode = match self.signal.has_losses() || self.signal.largest_queue() > NO_QUEUE {
            true => Mode::Gradual,
            false => Mode::RampUp,
        };
        match self.mode {
            Mode::RampUp => self.ramp_up(cx),
            Mode::Gradual => self.update_gradually(signal, span.min(MOST_SIGNAL)),
        }
        self.before = signal;
    }

    /// Equations 3 and 4.
    fn ramp_up(&mut self, cx: &Context<'_>) {
        let delay = cx.path.latest_rtt + DELTA + FILTERING;
        let gamma = MOST_RAMP.min(MOST_QUEUE / delay.as_secs_f64());
        let received = self.signal.received().as_bits_per_sec() as f64;
        self.limit(self.rate.max((1.0 + gamma) * received));
    }

    /// Equations 5 to 7. A longer time than TAU since the last update counts as TAU, so that the step keeps its sign.
    fn update_gradually(&mut self, signal: f64, span: Duration) {
        let most = self.rates.max.as_bits_per_sec() as f64;
        let reference = REFERENCE.as_secs_f64();
        let offset = signal - self.priority * reference * most / self.rate;
        let change = signal - self.before;
        let by_offset = KAPPA * (span.as_secs_f64() / TAU) * (offset / TAU);
        let by_change = KAPPA * ETA * (change / TAU);
        self.limit(self.rate * (1.0 - by_offset - by_change));
    }
}

impl Controller for Nada {
    fn wants_arrivals(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, event: &Arrival, cx: &mut Context<'_>) {
        self.feedback.on_arrival();
        self.signal.on_arrival(event, 1, cx.now);
    }

    fn on_ack(&mut self, event: &Ack, cx: &mut Context<'_>) {
        self.mtu = cx.path.mtu;
        if let Some((arrival, packets)) = self.feedback.stand_in(event, cx.now) {
            self.signal.on_arrival(&arrival, packets, cx.now);
        }
        self.in_flight = cx.path.smoothed_rtt + MOST_SIGNAL;
        self.update(cx);
    }

    fn on_lost(&mut self, event: &Lost, cx: &mut Context<'_>) {
        self.signal.on_lost(cx.path.smoothed_rtt, cx.now);
        if event.persistent_congestion {
            self.limit(0.0);
        }
    }

    /// RFC 5348 section 4.4.
    fn on_timeout(&mut self, _event: &Timeout, _cx: &mut Context<'_>) {
        self.limit(self.rate / 2.0);
    }

    fn on_ecn(&mut self, event: &EcnCounts, _cx: &mut Context<'_>) {
        self.signal.on_marks(event.ce.saturating_sub(self.marks));
        self.marks = event.ce;
    }

    fn media_rate(&self) -> Option<Rate> {
        Some(self.rates.clamp(self.rate))
    }

    fn control(&self) -> Control {
        (self.rates).decide(self.rates.clamp(self.rate), self.in_flight, self.mtu)
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.mode {
            Mode::RampUp => "accelerated ramp-up",
            Mode::Gradual => "gradual update",
        });
        out.variable("r_ref", self.rate);
        out.variable("x_curr", self.before);
        out.variable("r_recv", self.signal.received().as_bits_per_sec() as f64);
        out.variable("queue_delay", self.signal.queue().as_secs_f64());
    }
}
