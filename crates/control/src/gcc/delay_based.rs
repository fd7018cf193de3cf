//! The rate from delays: additive or multiplicative increase, and a decrease to a share of what arrives
//! (draft-ietf-rmcat-gcc-02 section 5.5).

use super::detector::{Detector, Signal};
use super::filter::Filter;
use super::groups::Groups;
use crate::event::Arrival;
use crate::realtime::{Rates, Recent};
use crate::{Context, Observer};
use thalweg_units::{Duration, Instant};

/// beta: the share of what arrives that a decrease leaves (GCC draft section 5.6).
const BETA: f64 = 0.85;
/// Growth a second far from where the path was full.
const GROWTH: f64 = 1.08;
/// The rate is at most this much of what arrives.
const MOST_OVER_RECEIVED: f64 = 1.5;
/// T: over which the rate of arrival is measured; the draft has 0.5 to 1 s.
const RECEIVED_OVER: Duration = Duration::from_millis(500);
/// What a response takes longer than a round trip.
const RESPONSE: Duration = Duration::from_millis(100);
/// Weight of the past in mean and variance of rates at which the path was full.
const PAST: f64 = 0.95;
/// Deviations within which a rate is near them.
const NEAR: f64 = 3.0;
/// Frames a second and bits of a packet by which the size of packets is estimated.
const FRAMES: f64 = 30.0;
const PACKET_BITS: f64 = 1_200.0 * 8.0;

/// The state of the rate control.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Increase,
    Hold,
    Decrease,
}

/// Rates of arrival when the path was full, in bits per second.
#[derive(Clone, Copy, Debug)]
struct Convergence {
    mean: f64,
    variance: f64,
}

/// The controller of delays.
#[derive(Debug)]
pub(super) struct DelayBased {
    rates: Rates,
    gain: f64,
    groups: Groups,
    filter: Filter,
    detector: Detector,
    state: State,
    /// A_hat, in bits per second.
    rate: f64,
    received: Recent,
    updated: Instant,
    /// When it was last decreased: once in a response time, since what it answers shows only then. The draft does not
    /// say how often.
    decreased: Option<Instant>,
    convergence: Option<Convergence>,
}

impl DelayBased {
    pub(super) fn new(rates: Rates, gain: f64, now: Instant) -> Self {
        DelayBased {
            rates,
            gain,
            groups: Groups::default(),
            filter: Filter::new(),
            detector: Detector::new(),
            state: State::Increase,
            rate: rates.start.as_bits_per_sec() as f64,
            received: Recent::new(RECEIVED_OVER),
            updated: now,
            decreased: None,
            convergence: None,
        }
    }

    /// A_hat.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn reduce_to(&mut self, rate: f64) {
        self.rate = self.rates.limit(self.rate.min(rate));
    }

    pub(super) fn on_arrival(&mut self, packet: &Arrival, cx: &Context<'_>) {
        self.received.arrived(packet, 1);
        let Some(change) = self.groups.add(packet) else {
            return;
        };
        self.filter.add(&change);
        if self.filter.groups() < 2 {
            return;
        }
        let signal = self.detector.detect(self.compared(), change.arrived);
        self.follow(signal, cx);
    }

    /// What is compared with the threshold, in milliseconds.
    fn compared(&self) -> f64 {
        self.filter.estimate() * (self.filter.groups() as f64).min(self.gain)
    }

    /// Changes the state by what the detector says.
    fn follow(&mut self, signal: Signal, cx: &Context<'_>) {
        self.state = match (signal, self.state) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Normal, State::Hold | State::Increase) => State::Increase,
            (Signal::Normal, State::Decrease) | (Signal::Underuse, _) => State::Hold,
        };
        let response = cx.path.smoothed_rtt + RESPONSE;
        let is_due = self.decreased.is_none_or(|last| cx.now - last >= response);
        if self.state == State::Decrease && is_due {
            self.decreased = Some(cx.now);
            self.decrease();
        }
    }

    /// Lets the rate grow by the time since the last call.
    pub(super) fn update(&mut self, cx: &Context<'_>) {
        let span = cx.now - self.updated;
        self.updated = cx.now;
        if self.state == State::Increase {
            self.increase(span, cx);
        }
    }

    fn increase(&mut self, span: Duration, cx: &Context<'_>) {
        let received = self.received.rate().as_bits_per_sec() as f64;
        let far = self.convergence.map(|full| {
            let deviations = (received - full.mean) / libm::sqrt(full.variance).max(1.0);
            (deviations < -NEAR, deviations > NEAR)
        });
        let is_near = far == Some((false, false));
        if let Some((_, true)) = far {
            self.convergence = None; // the path has become wider
        }
        let grown = match is_near {
            true => self.rate + self.additive(span, cx.path.smoothed_rtt),
            false => self.rate * libm::pow(GROWTH, span.as_secs_f64().min(1.0)),
        };
        // What arrives is not known before the first half second is over.
        let most = match self.received.is_full() {
            true => MOST_OVER_RECEIVED * received,
            false => f64::INFINITY,
        };
        self.rate = self.rates.limit(self.rate.max(grown.min(most)));
    }

    /// Half a packet in a response time, and at least 1000 bit/s. The draft adds the latter at each feedback; here it
    /// is what a whole response time adds at least, so that more feedback does not mean more growth.
    fn additive(&self, span: Duration, rtt: Duration) -> f64 {
        let frame = self.rate / FRAMES;
        let packets = libm::ceil(frame / PACKET_BITS).max(1.0);
        let response = (rtt + RESPONSE).as_secs_f64();
        let share = (span.as_secs_f64() / response).min(1.0);
        share * (0.5 * frame / packets).max(1_000.0)
    }

    /// The first rate at which the path was full deviates by so much that a decrease is three deviations; the draft
    /// has no number for that.
    fn decrease(&mut self) {
        let received = self.received.rate().as_bits_per_sec() as f64;
        let first = received * (1.0 - BETA) / NEAR;
        let full = self.convergence.get_or_insert(Convergence {
            mean: received,
            variance: first * first,
        });
        let deviation = received - full.mean;
        full.mean += (1.0 - PAST) * deviation;
        full.variance = PAST * full.variance + (1.0 - PAST) * deviation * deviation;
        self.rate = self.rates.limit(self.rate.min(BETA * received));
    }

    /// Shows what the rate follows from.
    pub(super) fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.state {
            State::Increase => "increase",
            State::Hold => "hold",
            State::Decrease => "decrease",
        });
        out.variable("a_hat", self.rate);
        out.variable("r_hat", self.received.rate().as_bits_per_sec() as f64);
        out.variable("m", self.compared() / 1_000.0);
        out.variable("del_var_th", self.detector.threshold() / 1_000.0);
    }
}
