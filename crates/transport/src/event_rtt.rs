//! RTT by events, as the tests of C4 measure it: each sample counts once, and once more for every packet sent until the
//! next one.
//!
//! Their logs write the latest sample anew whenever it or the state of the sender changes, about once for each
//! packet sent and each acknowledgement received, and average over lines.

use thalweg_units::Duration;

/// Sums over the samples of one or more senders. They hold any trial: 10^12 packets of an hour are less than 2^128 ns^2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventRtt {
    events: u64,
    /// Nanoseconds.
    sum: u128,
    /// Their squares.
    squares: u128,
}

impl EventRtt {
    /// Adds that many events that show this sample.
    #[inline]
    pub fn add(&mut self, sample: Duration, events: u64) {
        let (sample, count) = (u128::from(sample.as_nanos()), u128::from(events));
        self.events += events;
        self.sum = self.sum.saturating_add(sample * count);
        self.squares = self
            .squares
            .saturating_add((sample * sample).saturating_mul(count));
    }

    /// Adds what another sender has shown.
    pub fn merge(&mut self, other: &EventRtt) {
        self.events += other.events;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Mean and standard deviation over the events, if there are any.
    pub fn mean_and_deviation(&self) -> Option<(Duration, Duration)> {
        if self.events == 0 {
            return None;
        }
        let count = u128::from(self.events);
        let mean = self.sum / count;
        // In whole nanoseconds, the mean of the squares is at least the square of the mean, up to what that truncates.
        let variance = (self.squares / count).saturating_sub(mean * mean);
        let span = |nanos: u128| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Some((span(mean), span(variance.isqrt())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_sample_counts_for_each_of_its_events() {
        let mut rtt = EventRtt::default();
        assert_eq!(rtt.mean_and_deviation(), None);
        rtt.add(ms(10), 3);
        rtt.add(ms(50), 1);
        // (3 * 10 + 50) / 4 = 20; sqrt((3 * 100 + 2500) / 4 - 400) = sqrt(300) = 17.320508
        let (mean, deviation) = rtt.mean_and_deviation().unwrap();
        assert_eq!(mean, ms(20));
        assert_eq!(deviation.as_nanos(), 17_320_508);
    }

    proptest! {
        #[test]
        fn mean_and_deviation_stay_within_the_samples(
            samples in prop::collection::vec((0..=u64::MAX / 2, 1..=1_000_000_u64), 1..20),
        ) {
            let (mut rtt, mut halves) = (EventRtt::default(), [EventRtt::default(); 2]);
            for (index, (nanos, events)) in samples.iter().enumerate() {
                let sample = Duration::from_nanos(*nanos);
                rtt.add(sample, *events);
                halves[index % 2].add(sample, *events);
            }
            let (mean, deviation) = rtt.mean_and_deviation().unwrap();
            let least = samples.iter().map(|(nanos, _)| *nanos).min().unwrap();
            let most = samples.iter().map(|(nanos, _)| *nanos).max().unwrap();
            prop_assert!((least..=most).contains(&mean.as_nanos()));
            // Half of the range at most, and what the truncation of the mean leaves: 2 * mean of a nanosecond.
            let slack = (2 * u128::from(most) + 1).isqrt() as u64;
            prop_assert!(deviation.as_nanos() <= (most - least) / 2 + slack + 1);
            let [mut one, other] = halves;
            one.merge(&other);
            prop_assert_eq!(one, rtt);
        }
    }
}
