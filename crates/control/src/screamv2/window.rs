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
    /// Whether marks are as in L4S.
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

    /// A probe timeout fired.
    pub(super) fn halve(&mut self) {
        self.bytes = (self.bytes / 2.0).max(self.least);
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

/// The share of marks that the delay of the queue stands for, if it is over half of its target and marks do not show
/// the congestion already.
fn virtual_share(seen: &Congestion, averages: &Averages, mtu: Bytes, rtt: Duration) -> Option<f64> {
    let half = seen.target / 2.0;
    if averages.queue <= half {
        return None;
    }
    let few = 2.0 * mtu.as_u64() as f64 * 8.0 / (seen.media.max(1.0) * rtt.as_secs_f64());
    let counts = averages.l4s_alpha < few || !averages.l4s_active;
    counts.then(|| ((averages.queue_average - half) / half).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1_000);
    const RTT: Duration = Duration::from_millis(50);

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// A window of 30 packets that were all in flight.
    fn window() -> Window {
        Window {
            bytes: 30_000.0,
            in_flight: 30_000.0,
            ..Window::new(MTU, at(0))
        }
    }

    const NOTHING: Congestion = Congestion {
        lost: false,
        marked: false,
        l4s: false,
        target: 0.06,
        media: 1_000_000.0,
    };

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6, "{value} {expected}");
    }

    #[test]
    fn a_loss_leaves_seven_tenths_once_in_a_round_trip_and_a_classic_mark_eight() {
        let mut averages = Averages::new(at(0));
        let lost = Congestion {
            lost: true,
            ..NOTHING
        };
        let mut w = window();
        w.reduce(&lost, &mut averages, MTU, (RTT, at(1_000)));
        assert_near(w.bytes(), 21_000.0);
        assert_near(w.inflection, 30_000.0);
        w.reduce(&lost, &mut averages, MTU, (RTT, at(1_040)));
        assert_near(w.bytes(), 21_000.0);
        w.reduce(&lost, &mut averages, MTU, (RTT, at(1_050)));
        assert_near(w.bytes(), 14_700.0);
        let marked = Congestion {
            marked: true,
            ..NOTHING
        };
        let mut w = window();
        w.reduce(&marked, &mut averages, MTU, (RTT, at(1_000)));
        assert_near(w.bytes(), 24_000.0);
        (0..20).for_each(|n| w.reduce(&lost, &mut averages, MTU, (RTT, at(2_000 + 50 * n))));
        assert_near(w.bytes(), MINIMUM);
    }

    #[test]
    fn marks_of_l4s_reduce_by_half_their_share_and_a_first_one_by_a_quarter() {
        let marked = Congestion {
            marked: true,
            l4s: true,
            ..NOTHING
        };
        let mut averages = Averages::new(at(0));
        let mut w = window();
        w.reduce(&marked, &mut averages, MTU, (RTT, at(6_000)));
        assert_near(w.bytes(), 22_500.0);
        assert_eq!(averages.l4s_alpha, 0.25);
        // A second later: half of 0.25, less a share for small windows: 1 - 2 / 22.5 = 0.911
        w.reduce(&marked, &mut averages, MTU, (RTT, at(7_000)));
        assert_near(w.bytes(), 22_500.0 * (1.0 - 0.125 * (1.0 - 2.0 / 22.5)));
    }

    #[test]
    fn a_queue_over_half_of_its_target_counts_as_marks() {
        let mut averages = Averages::new(at(0));
        (averages.queue, averages.queue_average) = (0.05, 0.045);
        let mut w = window();
        w.reduce(&NOTHING, &mut averages, MTU, (RTT, at(1_000)));
        // (45 - 30) / 30 of all packets marked: a quarter off
        assert_near(w.bytes(), 22_500.0);
        averages.queue = 0.03;
        w.reduce(&NOTHING, &mut averages, MTU, (RTT, at(2_000)));
        assert_near(w.bytes(), 22_500.0);
    }

    #[test]
    fn the_window_grows_by_a_packet_and_a_fiftieth_a_round_trip_and_slowly_near_its_last_peak() {
        let mut w = window();
        w.grow(Bytes::new(30_000), false, MTU, (RTT, at(1_000)));
        // A packet times 1 + 0.02 * 30
        assert_near(w.bytes(), 31_600.0);
        let mut w = window();
        w.inflection = 30_000.0;
        w.grow(Bytes::new(30_000), false, MTU, (RTT, at(1_000)));
        // A tenth, of growth and of its multiplicative part: 0.1 * (1 + 0.6 * 0.1)
        assert_near(w.bytes(), 30_106.0);
        // Right after congestion the growth is not multiplicative.
        let mut w = window();
        w.congestion = Some(at(1_000));
        w.grow(Bytes::new(30_000), false, MTU, (RTT, at(1_000)));
        assert_near(w.bytes(), 31_000.0);
        // It does not grow over twice what is in flight and a packet.
        let mut w = window();
        w.in_flight = 14_000.0;
        w.grow(Bytes::new(30_000), false, MTU, (RTT, at(1_000)));
        assert_near(w.bytes(), 30_000.0);
    }
}
