//! The RTT filter: minimum and maximum of the last seven samples.
//!
//! A delay counts only when even the smallest of the last samples shows it, which ignores single late
//! packets and delays the reaction by one or two round trips. Source: c4-history.md sections 2.2 and 2.3
//! (`on_rtt`).

use super::constants::RTT_SAMPLES;
use thalweg_units::Duration;

/// Samples needed after a restart before a delay can count.
const UPDATES_BEFORE_DELAY: u64 = RTT_SAMPLES as u64;

/// One tick of the clock that the algorithm was written for.
const TICK: Duration = Duration::from_micros(1);

/// The sample on the clock of the original: whole microseconds, never zero.
///
/// Several tests of the algorithm compare RTTs for any difference. With nanoseconds, the rounding of a
/// transmission time would be such a difference and, through
/// [`end_checking`](super::slowdown), cause a restart.
pub(super) fn in_ticks(sample: Duration) -> Duration {
    Duration::from_micros(sample.as_micros()).max(TICK)
}

/// The last samples, and the floor above which the smallest of them shows a queue.
#[derive(Clone, Debug)]
pub(super) struct RttFilter {
    samples: [Duration; RTT_SAMPLES],
    next: usize,
    /// Whether seven samples were ever seen.
    pub(super) ready: bool,
    /// Smallest of the last samples; zero before the first.
    pub(super) min: Duration,
    /// Largest of the last samples; zero before the first.
    pub(super) max: Duration,
    /// Smallest that `max` ever was since the last reset (`fmin` in the reference).
    floor: Option<Duration>,
    updates: u64,
}

impl RttFilter {
    pub(super) fn new() -> Self {
        RttFilter {
            samples: [Duration::ZERO; RTT_SAMPLES],
            next: 0,
            ready: false,
            min: Duration::ZERO,
            max: Duration::ZERO,
            floor: None,
            updates: 0,
        }
    }

    /// Takes a sample that [`in_ticks`] has truncated.
    pub(super) fn push(&mut self, sample: Duration) {
        self.samples[self.next] = sample;
        self.next += 1;
        let seen = if self.ready { RTT_SAMPLES } else { self.next };
        if self.next == RTT_SAMPLES {
            self.ready = true;
            self.next = 0;
        }
        let seen = self.samples[..seen].iter().copied();
        (self.min, self.max) = seen.fold((Duration::MAX, Duration::ZERO), |(low, high), sample| {
            (low.min(sample), high.max(sample))
        });
        self.updates += 1;
        self.floor = Some(self.floor.map_or(self.max, |floor| floor.min(self.max)));
    }

    /// The candidate for the minimum RTT: the maximum of the last samples, or the middle of their range if
    /// they spread over more than a factor of two.
    pub(super) fn min_rtt_candidate(&self) -> Duration {
        if self.min * 2 < self.max {
            in_ticks((self.min + self.max) / 2)
        } else {
            self.max
        }
    }

    /// Whether the whole window of samples has risen above the floor and is recent enough to count.
    pub(super) fn has_risen(&self) -> bool {
        self.floor.is_some_and(|floor| self.min > floor) && self.updates > UPDATES_BEFORE_DELAY
    }

    /// Resets every sample and the floor to `rtt`.
    pub(super) fn fill(&mut self, rtt: Duration) {
        self.samples = [rtt; RTT_SAMPLES];
        (self.min, self.max) = (rtt, rtt);
        self.floor = Some(rtt);
    }

    /// Starts a new wait for seven samples before a delay counts again.
    pub(super) fn restart_count(&mut self) {
        self.updates = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn filter(samples: &[u64]) -> RttFilter {
        let mut filter = RttFilter::new();
        samples.iter().for_each(|n| filter.push(ms(*n)));
        filter
    }

    #[test]
    fn the_filter_is_ready_at_the_seventh_sample() {
        assert!(!filter(&[5; 6]).ready);
        assert!(filter(&[5; 7]).ready);
    }

    #[test]
    fn only_the_last_seven_samples_count() {
        let before = filter(&[90, 10, 20, 30, 40, 50, 60]);
        assert_eq!((before.min, before.max), (ms(10), ms(90)));
        let after = filter(&[90, 10, 20, 30, 40, 50, 60, 25, 26]);
        assert_eq!((after.min, after.max), (ms(20), ms(60))); // 90 and 10 have left
    }

    #[test]
    fn samples_that_spread_over_a_factor_of_two_count_with_the_middle_of_their_range() {
        assert_eq!(filter(&[10, 20]).min_rtt_candidate(), ms(20)); // 2*10 = 20: not more than twice
        assert_eq!(filter(&[10, 22]).min_rtt_candidate(), ms(16)); // (10+22)/2
    }

    #[test]
    fn a_delay_counts_after_seven_samples_and_when_the_smallest_is_above_the_floor() {
        assert!(!filter(&[10, 10, 10, 10, 10, 10, 10, 12]).has_risen()); // min 10, floor 10
        // eight updates; the seven last are above the floor, which the first sample has set to 10
        assert!(filter(&[10, 12, 12, 12, 12, 12, 12, 12]).has_risen());
        let mut restarted = filter(&[10, 12, 12, 12, 12, 12, 12, 12]);
        restarted.restart_count();
        (0..7).for_each(|_| restarted.push(ms(12)));
        assert!(!restarted.has_risen());
        restarted.push(ms(12));
        assert!(restarted.has_risen());
    }

    #[test]
    fn the_floor_follows_the_largest_sample_down() {
        let mut filter = filter(&[50; 7]);
        (0..7).for_each(|_| filter.push(ms(20)));
        (0..7).for_each(|_| filter.push(ms(30)));
        assert!(filter.has_risen()); // min 30 above floor 20, far below the first floor of 50
    }

    #[test]
    fn samples_are_whole_microseconds_and_never_zero() {
        assert_eq!(
            in_ticks(Duration::from_nanos(84_021_999)),
            Duration::from_micros(84_021)
        );
        assert_eq!(in_ticks(Duration::ZERO), Duration::from_micros(1));
    }
}
