//! A histogram of times with a relative error of at most 1/32, in constant memory.
//!
//! One bucket per nanosecond below 32 ns, 32 buckets per doubling above.

use thalweg_units::Duration;

const STEPS: usize = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// 32 single nanoseconds, and 32 steps per doubling from 2^5 to 2^63.
const BUCKETS: usize = STEPS * (64 - STEP_BITS as usize + 1);

/// Counts of times.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: Duration,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Histogram {
            counts: vec![0; BUCKETS],
            total: 0,
            max: Duration::ZERO,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, time: Duration) {
        self.counts[bucket(time.as_nanos())] += 1;
        self.total += 1;
        self.max = self.max.max(time);
    }

    pub(crate) fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.max = self.max.max(other.max);
    }

    pub(crate) fn max(&self) -> Duration {
        self.max
    }

    /// The least time that `per_mille` thousandths of the entries do not exceed, rounded up to the end of
    /// its bucket; zero without entries.
    pub(crate) fn quantile(&self, per_mille: u64) -> Duration {
        let rank = u128::from(self.total) * u128::from(per_mille);
        let rank = rank.div_ceil(1000).max(1);
        let mut seen = 0u128;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= rank {
                return Duration::from_nanos(last(index)).min(self.max);
            }
        }
        self.max
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < STEPS as u64 {
        return nanos as usize;
    }
    let doubling = nanos.ilog2() - STEP_BITS;
    // The leading bit and the five after it: 32 to 63.
    let step = (nanos >> doubling) as usize;
    STEPS * doubling as usize + step
}

/// The last nanosecond of a bucket.
fn last(bucket: usize) -> u64 {
    if bucket < 2 * STEPS {
        return bucket as u64;
    }
    let doubling = bucket / STEPS - 1;
    let step = (bucket % STEPS + STEPS) as u64;
    ((step + 1) << doubling).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_a_thousand_steps_are_the_steps() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(500), Duration::ZERO);
        for micros in 1..=1000 {
            histogram.add(Duration::from_micros(micros));
        }
        for (per_mille, micros) in [(500, 500), (990, 990), (999, 999), (1000, 1000)] {
            let exact = Duration::from_micros(micros);
            let found = histogram.quantile(per_mille);
            assert!(found >= exact && found <= exact + exact / 32, "{found}");
        }
        assert_eq!(histogram.max(), Duration::from_millis(1));
    }

    proptest! {
        #[test]
        fn a_bucket_ends_at_or_little_above_each_of_its_times(nanos in any::<u64>()) {
            let end = last(bucket(nanos));
            prop_assert!(end >= nanos && end - nanos <= nanos / 32, "{} in {}", nanos, end);
        }

        #[test]
        fn merging_is_counting_together(a in prop::collection::vec(0u64..1_000_000, 1..50),
                                        b in prop::collection::vec(0u64..1_000_000, 0..50)) {
            let count = |times: &[u64]| {
                let mut histogram = Histogram::new();
                times.iter().for_each(|time| histogram.add(Duration::from_nanos(*time)));
                histogram
            };
            let mut merged = count(&a);
            merged.merge(&count(&b));
            let together = count(&[a, b].concat());
            for per_mille in [0, 1, 500, 900, 1000] {
                prop_assert_eq!(merged.quantile(per_mille), together.quantile(per_mille));
            }
        }
    }
}
