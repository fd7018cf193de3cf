//! The reference window (SCReAMv2 draft, "Reference Window Update").

use super::averages::Averages;
use crate::Observer;
use thalweg_units::{Bytes, Duration, Instant};

/// MIN_REF_WND.
const MINIMUM: f64 = 3_000.0;
/// BETA_LOSS and BETA_ECN: what a loss and a Classic mark leave.
const AFTER_LOSS: f64 = 0.7;
const AFTER_MARK: f64 = 0.8;
/// VIRTUAL_RTT.
const VIRTUAL_RTT: Duration = Duration::from_millis(25);
/// POST_CONGESTION_DELAY, in seconds, and MUL_INCREASE_FACTOR.
const CAUTIOUS: f64 = 4.0;
const MULTIPLICATIVE: f64 = 0.02;
/// BYTES_IN_FLIGHT_HEAD_ROOM: the largest window, in what was in flight.
const HEADROOM: f64 = 2.0;
/// The least time between two inflection points.
const INFLECTION: Duration = Duration::from_millis(250);
/// After so long a time without congestion the window may be too large.
const LONG: Duration = Duration::from_secs(5);
/// What is then taken off, twice the share of marks at least.
const LONG_BACKOFF: f64 = 0.25;
/// The least share of the growth near the inflection point.
const LEAST_GROWTH: f64 = 0.1;

/// What an ACK says of congestion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    pub(super) lost: bool,
    pub(super) marked: bool,
    /// Whether marks are those of L4S.
    pub(super) l4s: bool,
    /// qdelay_target, in seconds.
    pub(super) target: f64,
    /// target_bitrate.
    pub(super) media: f64,
}

/// Why the window was last reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Last {
    Nothing,
    Loss,
    Mark,
    Delay,
}

/// The window, in bytes and parts of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    bytes: f64,
    /// ref_wnd_i: the window before the last congestion.
    inflection: f64,
    inflection_set: Option<Instant>,
    /// When congestion was last detected, and a loss.
    congestion: Option<Instant>,
    loss: Option<Instant>,
    last: Last,
    /// The most in flight in this round trip and in the one before.
    in_flight: f64,
    in_flight_before: f64,
    round: Instant,
    least: f64,
}

impl Window {
    pub(super) fn new(mtu: Bytes, now: Instant) -> Self {
        let least = least(mtu);
        Window {
            bytes: least,
            inflection: 1.0,
            inflection_set: None,
            congestion: None,
            loss: None,
            last: Last::Nothing,
            in_flight: 0.0,
            in_flight_before: 0.0,
            round: now,
            least,
        }
    }

    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Persistent congestion leaves the smallest window (RFC 9002 section 7.6.2).
    pub(super) fn collapse(&mut self) {
        self.bytes = self.least;
    }

    pub(super) fn note_in_flight(&mut self, bytes: Bytes, rtt: Duration, now: Instant) {
        if now - self.round >= rtt {
            self.in_flight_before = std::mem::take(&mut self.in_flight);
            self.round = now;
        }
        self.in_flight = self.in_flight.max(bytes.as_u64() as f64);
    }

    /// Actions when congestion is detected.
    pub(super) fn reduce(
        &mut self,
        seen: &Congestion,
        averages: &mut Averages,
        mtu: Bytes,
        (rtt, now): (Duration, Instant),
    ) {
        self.least = least(mtu);
        let since = |time: Option<Instant>| time.map(|time| now - time);
        let is_due = |time, span| since(time).is_none_or(|passed| passed >= span);
        if !is_due(self.congestion, VIRTUAL_RTT.min(rtt)) {
            return;
        }
        let lost = seen.lost && is_due(self.loss, rtt);
        let virtual_share = virtual_share(seen, averages, mtu, rtt);
        if !lost && !seen.marked && virtual_share.is_none() {
            return;
        }
        if is_due(self.inflection_set, INFLECTION) {
            self.inflection_set = Some(now);
            self.inflection = self.bytes;
        }
        if lost {
            self.loss = Some(now);
            self.bytes *= AFTER_LOSS;
        }
        if seen.marked && seen.l4s {
            let is_rare = since(self.congestion).is_none_or(|passed| passed > LONG);
            self.reduce_by_share(averages, mtu, is_rare);
        } else if seen.marked {
            self.bytes *= AFTER_MARK;
        }
        if let Some(share) = virtual_share {
            self.bytes *= 1.0 - share / 2.0;
        }
        self.bytes = self.bytes.max(self.least);
        self.congestion = Some(now);
        self.last = match (lost, seen.marked) {
            (true, _) => Last::Loss,
            (false, true) => Last::Mark,
            (false, false) => Last::Delay,
        };
    }

    /// Marks of L4S.
    fn reduce_by_share(&mut self, averages: &mut Averages, mtu: Bytes, is_rare: bool) {
        let ratio = mtu.as_u64() as f64 / self.bytes;
        let mut backoff = averages.l4s_alpha / 2.0 * (1.0 - ratio * 2.0).max(0.8);
        if is_rare {
            if self.in_flight_before > 0.0 {
                self.bytes = self.bytes.min(self.in_flight_before);
            }
            backoff = backoff.max(LONG_BACKOFF);
            averages.l4s_alpha = LONG_BACKOFF;
        }
        self.bytes *= 1.0 - backoff;
    }

    /// Reference window increase.
    pub(super) fn grow(
        &mut self,
        unmarked: Bytes,
        l4s_active: bool,
        mtu: Bytes,
        (rtt, now): (Duration, Instant),
    ) {
        let mtu = mtu.as_u64() as f64;
        let ratio = mtu / self.bytes;
        let caution = self
            .congestion
            .map_or(1.0, |last| ((now - last).as_secs_f64() / CAUTIOUS).min(1.0));
        let short = (rtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0);
        let distance = 4.0 * (self.bytes - self.inflection) / self.inflection;
        let least = match l4s_active {
            true => (0.02 / ratio).clamp(LEAST_GROWTH, 1.0),
            false => LEAST_GROWTH,
        };
        let near = (distance * distance).clamp(least, 1.0);
        let multiplicative = 1.0 + MULTIPLICATIVE * self.bytes / mtu * caution * near;
        let acked = unmarked.as_u64() as f64;
        let increment = acked * ratio * short * short * near * multiplicative;
        let most = mtu + self.in_flight.max(self.in_flight_before) * HEADROOM;
        if self.bytes + increment <= most {
            self.bytes += increment;
        }
    }

    pub(super) fn observe(&self, out: &mut dyn Observer) {
        out.state(match self.last {
            Last::Nothing => "no congestion yet",
            Last::Loss => "after a loss",
            Last::Mark => "after a mark",
            Last::Delay => "after a delay",
        });
        out.variable("ref_wnd", self.bytes);
        out.variable("ref_wnd_i", self.inflection);
    }
}

/// The smallest window; two packets at least (RFC 9002 section 7.2).
fn least(mtu: Bytes) -> f64 {
    MINIMUM.max((mtu * 2).as_u64() as f64)
}

/// The share of marks that the delay of the queue stands for, if it is over half of its target and marks do not show the
/// congestion already.
fn virtual_share(seen: &Congestion, averages: &Averages, mtu: Bytes, rtt: Duration) -> Option<f64> {
    let half = seen.target / 2.0;
    if averages.queue <= half {
        return None;
    }
    let few = 2.0 * mtu.as_u64() as f64 * 8.0 / (seen.media.max(1.0) * rtt.as_secs_f64());
    let counts = averages.l4s_alpha < few || !averages.l4s_active;
    counts.then(|| ((averages.queue_average - half) / half).clamp(0.0, 1.0))
}
