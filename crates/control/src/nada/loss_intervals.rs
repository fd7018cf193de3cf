//! Packets between losses (RFC 8698 section 4.2), averaged as TFRC does (RFC 5348 section 5.4).

use thalweg_units::{Duration, Instant};

/// Intervals that count, and their weights, the newest first.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The intervals between the last loss events: losses within a round trip are one (RFC 5348 section 5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossIntervals {
    /// Lengths in packets, the newest first.
    lengths: [f64; WEIGHTS.len()],
    /// How many of them there are.
    known: usize,
    /// Packets since the last loss event.
    current: f64,
    /// When the last event began.
    event: Option<Instant>,
}

impl LossIntervals {
    /// So many packets arrived.
    pub(super) fn on_packets(&mut self, packets: u64) {
        self.current += packets as f64;
    }

    pub(super) fn on_lost(&mut self, rtt: Duration, now: Instant) {
        if self.event.is_some_and(|began| now <= began + rtt) {
            return;
        }
        self.event = Some(now);
        self.lengths.rotate_right(1);
        self.lengths[0] = self.current.max(1.0);
        self.known = (self.known + 1).min(WEIGHTS.len());
        self.current = 0.0;
    }

    /// Packets since the last loss.
    pub(super) fn current(&self) -> f64 {
        self.current
    }

    /// The weighted mean; `None` before the first loss.
    pub(super) fn mean(&self) -> Option<f64> {
        let known = || self.lengths.iter().zip(WEIGHTS).take(self.known);
        let total: f64 = known().map(|(length, weight)| length * weight).sum();
        let weights: f64 = known().map(|(_, weight)| weight).sum();
        (weights > 0.0).then(|| total / weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_one_round_trip_are_one_event_and_older_intervals_count_for_less() {
        let (rtt, at) = (Duration::from_millis(100), |ms| {
            Instant::START + Duration::from_millis(ms)
        });
        let mut losses = LossIntervals::default();
        assert_eq!(losses.mean(), None);
        losses.on_packets(10);
        losses.on_lost(rtt, at(0));
        losses.on_lost(rtt, at(50));
        assert_eq!((losses.mean(), losses.current()), (Some(10.0), 0.0));
        for event in 1..=4 {
            losses.on_packets(20);
            losses.on_lost(rtt, at(1_000 * event));
        }
        // Four of 20 packets with weight 1, and the first of 10 with 0.8: (80 + 8) / 4.8
        assert_eq!(losses.mean(), Some(88.0 / 4.8));
    }
}
