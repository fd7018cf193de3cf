//! picoquic's delay test for leaving slow start (picoquic-controllers.md section 1:
//! "HyStart delay test"). It is not HyStart++, which is in `hystart`.
//!
//! It keeps the smallest and the largest of the last seven RTT samples that are at least a millisecond apart.
//! The smallest "largest" over time is the base delay, which makes the test insensitive to jitter: one
//! low sample does not lower it. The test fires when all of the last seven samples have exceeded the base
//! by a quarter (or by the time of a packet at the pacing rate) seven times.
//!
//! As in the original, samples between the base and the limit do not clear the count of excesses.

use thalweg_units::{Duration, Instant};

/// Samples looked at, and excesses needed.
const WINDOW: usize = 7;
const SPACING: Duration = Duration::from_millis(1);

/// The test and its state.
#[derive(Clone, Copy, Debug)]
pub struct DelayHystart {
    /// When the last sample was taken.
    last: Option<Instant>,
    samples: [Duration; WINDOW],
    taken: usize,
    filtered_min: Duration,
    excess: u32,
}

impl Default for DelayHystart {
    fn default() -> Self {
        DelayHystart {
            last: None,
            samples: [Duration::ZERO; WINDOW],
            taken: 0,
            filtered_min: Duration::MAX,
            excess: 0,
        }
    }
}

impl DelayHystart {
    /// Smallest, over time, of the largest of seven samples; [`Duration::MAX`] before seven.
    pub fn filtered_min(&self) -> Duration {
        self.filtered_min
    }

    /// Takes a sample; true when slow start should end. `packet_time` is the time of a full packet at the
    /// pacing rate.
    pub fn on_rtt(&mut self, rtt: Duration, packet_time: Duration, now: Instant) -> bool {
        if self.last.is_some_and(|last| now <= last + SPACING) {
            return false;
        }
        self.last = Some(now);
        self.samples[self.taken % WINDOW] = rtt;
        self.taken += 1;
        if self.taken < WINDOW {
            return false;
        }
        let smallest = self
            .samples
            .iter()
            .copied()
            .fold(Duration::MAX, Duration::min);
        let largest = self
            .samples
            .iter()
            .copied()
            .fold(Duration::ZERO, Duration::max);
        self.filtered_min = self.filtered_min.min(largest);
        if smallest <= self.filtered_min {
            self.excess = 0;
            return false;
        }
        let margin = (self.filtered_min / 4).max(packet_time);
        if smallest > self.filtered_min + margin {
            self.excess = self.excess.saturating_add(1);
            return self.excess >= WINDOW as u32;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds samples in milliseconds, 2 ms apart; the index of the first that fires.
    fn fires_at(test: &mut DelayHystart, start_ms: u64, samples: &[u64]) -> Option<usize> {
        samples.iter().enumerate().position(|(i, rtt)| {
            let now = Instant::START + Duration::from_millis(start_ms + 2 * i as u64);
            test.on_rtt(Duration::from_millis(*rtt), Duration::from_micros(500), now)
        })
    }

    #[test]
    fn the_last_seven_samples_must_exceed_the_base_by_a_quarter_seven_times() {
        let mut test = DelayHystart::default();
        assert_eq!(fires_at(&mut test, 10, &[40; 7]), None);
        assert_eq!(test.filtered_min(), Duration::from_millis(40));
        // Limit 40 + 40/4 = 50 ms. Samples 1..=6 still see a 40 in the window; the 7th is the first
        // excess, so the 13th sample (index 12) is the seventh.
        assert_eq!(fires_at(&mut test, 100, &[51; 20]), Some(12));
        let mut test = DelayHystart::default();
        fires_at(&mut test, 10, &[40; 7]);
        assert_eq!(
            fires_at(&mut test, 100, &[50; 50]),
            None,
            "the limit itself is not an excess"
        );
    }

    #[test]
    fn a_sample_at_the_base_clears_the_count_and_one_in_between_does_not() {
        // Six excesses are counted when the thirteenth sample breaks the row.
        let after = |sample: u64| {
            let mut test = DelayHystart::default();
            fires_at(&mut test, 10, &[40; 7]);
            assert_eq!(fires_at(&mut test, 100, &[60; 12]), None);
            assert_eq!(fires_at(&mut test, 200, &[sample]), None);
            fires_at(&mut test, 300, &[60; 30])
        };
        // It leaves the seven with the 7th sample after it, the first excess: seven more, or just one.
        assert_eq!(after(40), Some(12));
        assert_eq!(after(45), Some(6));
    }

    #[test]
    fn one_low_sample_does_not_lower_the_base() {
        let mut test = DelayHystart::default();
        fires_at(&mut test, 10, &[40, 40, 40, 5, 40, 40, 40, 40, 40, 40, 40]);
        assert_eq!(test.filtered_min(), Duration::from_millis(40));
    }

    #[test]
    fn samples_within_a_millisecond_are_skipped() {
        let mut test = DelayHystart::default();
        let now = Instant::START + Duration::from_millis(10);
        for _ in 0..20 {
            test.on_rtt(Duration::from_millis(40), Duration::ZERO, now);
        }
        assert_eq!(
            test.filtered_min(),
            Duration::MAX,
            "only one of them counted"
        );
    }

    #[test]
    fn on_a_slow_link_the_margin_is_the_time_of_a_packet() {
        let mut test = DelayHystart::default();
        let at = |i: u64| Instant::START + Duration::from_millis(10 + 2 * i);
        let packet_time = Duration::from_millis(30);
        for i in 0..7 {
            test.on_rtt(Duration::from_millis(40), packet_time, at(i));
        }
        // 40/4 = 10 ms, but a packet takes 30 ms: 60 ms is within 70 ms.
        assert!((7..40).all(|i| !test.on_rtt(Duration::from_millis(60), packet_time, at(i))));
        assert!((40..60).any(|i| test.on_rtt(Duration::from_millis(71), packet_time, at(i))));
    }
}
