//! Delivery-rate estimation.
//!
//! Two estimators run side by side, since the algorithms are defined on different ones:
//!
//! - the **interval** estimator of the reference transport: from the last completed estimate when a
//!   packet was sent, to the acknowledgement of that packet; an estimate spans more than a millisecond. It
//!   yields `PathState::delivery_rate` and `PathState::peak_rate`, the largest rate between
//!   any two acknowledgements more than a millisecond apart;
//! - the **per-ACK sample** of draft-ietf-ccwg-bbr ("Delivery Rate Samples", formerly
//!   draft-cheng-iccrg-delivery-rate-estimation): delivered since the packet left, over the longer of
//!   the send interval and the ACK interval.
//!
//! Application limits are marked as in the draft: from when the sender runs out of data until all that was in
//! flight then is delivered.

use crate::Rules;
use thalweg_control::PathState;
use thalweg_control::event::{RateSample, Snapshot};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Shortest interval of an estimate; shorter ones are too coarse.
const SHORTEST: Duration = Duration::from_millis(1);

/// A point of the delivery: bytes delivered, when that became known, and the send time of the packet that
/// showed it.
#[derive(Clone, Copy, Debug)]
struct Reference {
    delivered: Bytes,
    acked: Instant,
    sent: Instant,
}

/// The state recorded when a packet is sent.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // the first 16 bytes are all that most acknowledgements need, see `SentPacket`
pub(crate) struct SendState {
    /// Send time.
    pub(crate) sent: Instant,
    /// Bytes of the packet that count as in flight.
    pub(crate) size: u32,
    /// Whether the sender is application-limited.
    pub(crate) app_limited: bool,
    /// Whether the sender is limited by the congestion window.
    pub(crate) window_limited: bool,
    /// Its codepoint.
    pub(crate) ecn: Ecn,
    /// Delivered so far.
    pub(crate) delivered: Bytes,
    /// Lost so far.
    pub(crate) lost: Bytes,
    /// In flight, including the packet.
    pub(crate) in_flight: Bytes,
    delivered_at: Instant,
    first_sent: Instant,
    reference: Reference,
}

impl Reference {
    /// Nothing was delivered since the start of the connection.
    fn none(start: Instant) -> Self {
        Reference {
            delivered: Bytes::ZERO,
            acked: start,
            sent: start,
        }
    }
}

impl SendState {
    /// The record of a handshake packet sent at `sent`: nothing was delivered before it since `start`.
    pub(crate) fn of_handshake(sent: Instant, start: Instant) -> Self {
        SendState {
            sent,
            size: 0,
            app_limited: true,
            window_limited: false,
            ecn: Ecn::NotEct,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            delivered_at: start,
            first_sent: sent,
            reference: Reference::none(start),
        }
    }

    /// The recorded state, compared with the current one.
    pub(crate) fn compare(&self, path: &PathState) -> Snapshot {
        Snapshot {
            sent: self.sent,
            in_flight_at_send: self.in_flight,
            delivered_at_send: self.delivered,
            lost_at_send: self.lost,
            delivered_since_sent: path.delivered - self.delivered,
            lost_since_sent: path.lost - self.lost,
            app_limited: self.app_limited,
            window_limited: self.window_limited,
        }
    }
}

/// Both estimators of one sender.
#[derive(Debug)]
pub(crate) struct DeliveryRate {
    /// When the connection starts.
    start: Instant,
    delivered: Bytes,
    /// When `delivered` last grew (C.delivered_time of the draft).
    delivered_at: Instant,
    /// Send time of the packet most recently marked as delivered (C.first_send_time of the draft).
    first_sent: Instant,
    /// Delivery up to this count happens under an application limit; zero for none.
    app_limited_until: Bytes,
    rules: Rules,
    interval: Option<Reference>,
    peak: Reference,
}

impl DeliveryRate {
    /// Estimators of a connection that starts at `start`.
    pub(crate) fn new(rules: Rules, start: Instant) -> Self {
        DeliveryRate {
            start,
            delivered: Bytes::ZERO,
            delivered_at: start,
            first_sent: start,
            app_limited_until: Bytes::ZERO,
            rules,
            interval: None,
            peak: Reference::none(start),
        }
    }

    /// When the connection started.
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    /// Whether packets that leave now are marked as application-limited.
    pub(crate) fn is_app_limited(&self) -> bool {
        !self.app_limited_until.is_zero()
    }

    /// The sender may send but has no data.
    pub(crate) fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = (self.delivered + in_flight).max(Bytes::new(1));
    }

    /// What a packet that leaves now has to remember. `size` bytes of it count as in flight, and `in_flight`
    /// counts them.
    #[inline]
    pub(crate) fn on_send(
        &mut self,
        now: Instant,
        size: u32,
        in_flight: Bytes,
        was_idle: bool,
        path: &PathState,
    ) -> SendState {
        if was_idle {
            // Draft, section on sending: with nothing in flight both intervals restart.
            self.first_sent = now;
            self.delivered_at = now;
        }
        SendState {
            sent: now,
            size,
            app_limited: self.is_app_limited() || !path.established,
            window_limited: path.window_limited,
            ecn: Ecn::NotEct,
            delivered: self.delivered,
            lost: path.lost,
            in_flight,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            reference: self.interval.unwrap_or(Reference::none(self.start)),
        }
    }

    /// Bytes have been acknowledged.
    pub(crate) fn on_delivered(&mut self, now: Instant, bytes: Bytes) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// The record of a handshake packet sent at `sent`.
    pub(crate) fn of_handshake(&self, sent: Instant) -> SendState {
        SendState::of_handshake(sent, self.start)
    }

    /// All bytes of an ACK are counted; `newest` is the newest packet among them. Updates the path's
    /// rates and returns the draft's sample.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        newest: &SendState,
        path: &mut PathState,
    ) -> Option<RateSample> {
        self.estimate_interval(now, newest, path);
        self.estimate_peak(now, newest, path);
        // The draft's bubble is gone when more than it is delivered, picoquic's with its last byte.
        let is_past = match self.rules {
            Rules::Rfc => self.delivered > self.app_limited_until,
            Rules::Picoquic => self.delivered >= self.app_limited_until,
        };
        if is_past {
            self.app_limited_until = Bytes::ZERO;
        }
        path.delivered = self.delivered;
        path.app_limited = self.is_app_limited();
        self.sample(now, newest, path.min_rtt)
    }

    fn sample(
        &mut self,
        now: Instant,
        newest: &SendState,
        min_rtt: Duration,
    ) -> Option<RateSample> {
        let send_elapsed = newest.sent - newest.first_sent;
        let ack_elapsed = now - newest.delivered_at;
        self.first_sent = self.first_sent.max(newest.sent);
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = self.delivered - newest.delivered;
        if interval < min_rtt || interval.is_zero() {
            return None;
        }
        Some(RateSample {
            delivered,
            interval,
            rate: Rate::over(delivered, interval),
            app_limited: newest.app_limited,
        })
    }

    fn estimate_interval(&mut self, now: Instant, newest: &SendState, path: &mut PathState) {
        let current = Reference {
            delivered: self.delivered,
            acked: now,
            sent: newest.sent,
        };
        let Some(last) = self.interval else {
            self.interval = Some(current);
            return;
        };
        let from = &newest.reference;
        let received = now - from.acked;
        if newest.sent < last.sent || received <= SHORTEST {
            return;
        }
        let span = received.max(newest.sent - from.sent);
        path.delivery_rate = Rate::over(self.delivered - from.delivered, span);
        self.interval = Some(current);
    }

    fn estimate_peak(&mut self, now: Instant, newest: &SendState, path: &mut PathState) {
        let received = now - self.peak.acked;
        if newest.sent < self.peak.sent || received <= SHORTEST {
            return;
        }
        let span = received.max(newest.sent - self.peak.sent);
        let rate = Rate::over(self.delivered - self.peak.delivered, span);
        path.peak_rate = path.peak_rate.max(rate);
        self.peak = Reference {
            delivered: self.delivered,
            acked: now,
            sent: newest.sent,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// One packet of 1424 bytes a millisecond over a path of 80 ms.
    fn steady(packets: u64) -> (DeliveryRate, PathState, Option<RateSample>) {
        let mut path = PathState::new(Bytes::new(1440), Instant::START);
        (path.established, path.min_rtt) = (true, Duration::from_millis(80));
        let mut rate = DeliveryRate::new(Rules::default(), Instant::START);
        let (mut sent, mut sample) = (Vec::new(), None);
        for t in 0..packets + 80 {
            if t >= 80 {
                rate.on_delivered(at(t), Bytes::new(1424));
                sample = rate.on_ack(at(t), &sent[t as usize - 80], &mut path);
            }
            let in_flight = Bytes::new(1424 * t.min(80));
            sent.push(rate.on_send(at(t), 1440, in_flight, t == 0, &path));
        }
        (rate, path, sample)
    }

    #[test]
    fn a_steady_flow_is_measured_at_its_rate_by_both_estimators() {
        let (_, path, sample) = steady(300);
        let expected = 1424.0 * 8.0 * 1000.0; // bits per second
        let ratio = |rate: Rate| rate.as_bits_per_sec() as f64 / expected;
        assert!(
            (0.98..=1.02).contains(&ratio(path.delivery_rate)),
            "{}",
            path.delivery_rate
        );
        let sample = sample.unwrap();
        assert!(
            (0.98..=1.02).contains(&ratio(sample.rate)),
            "{}",
            sample.rate
        );
        assert!(!sample.app_limited);
    }

    #[test]
    fn an_application_limit_ends_when_what_was_in_flight_is_delivered() {
        let (mut rate, mut path, _) = steady(100);
        rate.mark_app_limited(Bytes::new(2848));
        let limited = rate.on_send(at(200), 1440, Bytes::new(4272), false, &path);
        assert!(limited.app_limited);
        rate.on_delivered(at(280), Bytes::new(1424));
        rate.on_ack(at(280), &limited, &mut path);
        assert!(path.app_limited);
        rate.on_delivered(at(281), Bytes::new(1424));
        assert!(
            rate.on_ack(at(281), &limited, &mut path)
                .unwrap()
                .app_limited
        );
        // All of it is there; the draft asks for more than that.
        assert!(path.app_limited);
        rate.on_delivered(at(282), Bytes::new(1));
        rate.on_ack(at(282), &limited, &mut path);
        assert!(!path.app_limited);
    }
}
