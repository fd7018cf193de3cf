//! The moving average of the fraction of marked packets: `alpha` of DCTCP and Prague.
//!
//! RFC 8257 section 3.3, steps 3 to 6. The average starts at one, so that the first mark halves the window. The average of
//! DCTCP moves from the start on; the average of Prague begins at the first mark, since until then nothing shows that a queue
//! on the path marks (Prague draft section 2.3.2).
//!
//! The fraction is in packets, from the ECN counts of the peer. Those count every packet once, whatever
//! happens to the ACK frames that carry them.

use crate::PathState;
use crate::event::EcnCounts;
use thalweg_units::{Duration, Instant};

/// The average, and the round trip that it is being measured over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alpha {
    /// `None` before the first mark.
    average: Option<f64>,
    /// ECN counts when the round trip began.
    counted: EcnCounts,
    /// First packet number that may leave after it began.
    round_end: u64,
    began: Instant,
    /// The gain of the average.
    gain: f64,
}

impl Alpha {
    /// One that begins at the first mark.
    pub(crate) fn new(now: Instant, gain: f64) -> Self {
        Alpha {
            average: None,
            counted: EcnCounts::default(),
            round_end: 0,
            began: now,
            gain,
        }
    }

    /// One that is known to be one from the start.
    pub(crate) fn of_one(now: Instant, gain: f64) -> Self {
        Alpha {
            average: Some(1.0),
            ..Alpha::new(now, gain)
        }
    }

    /// The average, if it has begun.
    pub(crate) fn value(&self) -> Option<f64> {
        self.average
    }

    /// A mark has arrived. Returns the average for the reduction.
    pub(crate) fn on_mark(&mut self) -> f64 {
        *self.average.get_or_insert(1.0)
    }

    /// Processes the counts of an ACK. A round trip ends when a packet sent during it is
    /// acknowledged, and no sooner than `shortest` after its start. Returns whether it ended.
    pub(crate) fn on_ack(
        &mut self,
        largest: u64,
        path: &PathState,
        now: Instant,
        shortest: Duration,
    ) -> bool {
        if largest < self.round_end || now - self.began < shortest {
            return false;
        }
        let marked = path.ecn.ce.saturating_sub(self.counted.ce);
        let counted = path.ecn.total().saturating_sub(self.counted.total());
        if let Some(average) = &mut self.average {
            let fraction = marked as f64 / counted.max(1) as f64;
            *average += self.gain * (fraction.min(1.0) - *average);
        }
        self.counted = path.ecn;
        self.round_end = path.next_packet;
        self.began = now;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    /// As DCTCP recommends.
    const GAIN: f64 = 1.0 / 16.0;
    const RTT: Duration = Duration::from_millis(40);

    /// An average after one round trip for each entry: the number of marked packets of ten.
    fn after(rounds: &[u64]) -> Alpha {
        let mut path = PathState::new(Bytes::new(1_000), Instant::START);
        let mut now = Instant::START;
        let mut alpha = Alpha::new(now, GAIN);
        for marked in rounds {
            path.next_packet += 10;
            path.ecn.ect1 += 10 - marked;
            path.ecn.ce += marked;
            now += RTT;
            if *marked > 0 {
                alpha.on_mark();
            }
            assert!(alpha.on_ack(path.next_packet - 1, &path, now, Duration::ZERO));
        }
        alpha
    }

    #[test]
    fn nothing_is_averaged_before_the_first_mark() {
        assert_eq!(after(&[0, 0, 0]).value(), None);
        assert_eq!(Alpha::new(Instant::START, GAIN).on_mark(), 1.0);
    }

    #[test]
    fn each_round_trip_moves_the_average_by_a_sixteenth_of_the_way() {
        // 1 + (0.2 - 1) / 16 = 0.95
        assert!((after(&[0, 2]).value().unwrap() - 0.95).abs() < 1e-12);
        // 0.95 + (0 - 0.95) / 16 = 0.890625
        assert!((after(&[0, 2, 0]).value().unwrap() - 0.890_625).abs() < 1e-12);
        // 0.890625 + (1 - 0.890625) / 16 = 0.8974609375
        let high = after(&[0, 2, 0, 10]).value().unwrap();
        assert!((high - 0.897_460_937_5).abs() < 1e-12);
    }

    #[test]
    fn the_average_settles_on_a_steady_fraction() {
        // 0.7 * (15/16)^200 = 0.7 * 2.5e-6 is left of the way from 1 to 0.3.
        let mut steady = [3; 201];
        steady[0] = 0;
        let value = after(&steady).value().unwrap();
        assert!((0.3..0.300_01).contains(&value), "{value}");
    }

    #[test]
    fn a_round_trip_ends_with_a_packet_that_left_during_it_and_not_too_soon() {
        let mut path = PathState::new(Bytes::new(1_000), Instant::START);
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let mut alpha = Alpha::new(at(0), GAIN);
        path.next_packet = 10;
        assert!(alpha.on_ack(0, &path, at(5), Duration::ZERO));
        path.next_packet = 20;
        assert!(!alpha.on_ack(9, &path, at(10), Duration::ZERO));
        assert!(!alpha.on_ack(10, &path, at(29), Duration::from_millis(25)));
        assert!(alpha.on_ack(10, &path, at(30), Duration::from_millis(25)));
    }
}
