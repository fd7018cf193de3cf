//! How long packets waited in the queue of a link, for percentiles.
//!
//! Waits are counted in bins whose width is 1/128 of a power of two: a percentile is at most 0.8 % too large. A wait counts
//! when the transmission of its packet begins; a packet that the queue drops has none. Flows are counted in groups, so that a
//! hundred thousand short ones do not have as many tables.

use thalweg_units::Duration;

/// Bins of a power of two.
const BINS: u64 = 1 << BITS;
const BITS: u32 = 7;
/// The group of a flow that is not counted.
const NONE: u32 = u32::MAX;

/// The waits of some flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// By flow; those behind the last one are not counted.
    groups: Vec<u32>,
    /// By group the number of waits in each bin, up to the longest wait.
    counts: Vec<Vec<u32>>,
}

impl Waits {
    /// Waits of flows by their groups.
    pub(crate) fn new(groups: impl IntoIterator<Item = Option<u32>>) -> Self {
        let groups = groups.into_iter().map(|group| group.unwrap_or(NONE));
        let mut groups: Vec<u32> = groups.collect();
        let counted = groups.iter().rposition(|group| *group != NONE);
        groups.truncate(counted.map_or(0, |last| last + 1));
        let most = groups.iter().filter(|group| **group != NONE).max();
        let count = most.map_or(0, |most| *most as usize + 1);
        Waits {
            groups,
            counts: vec![Vec::new(); count],
        }
    }

    /// A packet of a flow has waited so long.
    #[inline]
    pub(crate) fn add(&mut self, flow: usize, wait: Duration) {
        if let Some(group) = self.groups.get(flow)
            && let Some(counts) = self.counts.get_mut(*group as usize)
        {
            let bin = bin_of(wait.as_nanos());
            match counts.get_mut(bin) {
                Some(count) => *count += 1,
                None => first_of(counts, bin),
            }
        }
    }

    /// The wait that this share of the packets of a group does not exceed, by the nearest rank.
    pub(crate) fn percentile(&self, group: usize, share: f64) -> Option<Duration> {
        let counts = self.counts.get(group)?;
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let rank = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let bin = counts.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        bin.map(|bin| Duration::from_nanos(largest_of(bin)))
    }
}

/// Counts a wait that is longer than those before.
#[cold]
#[inline(never)]
fn first_of(counts: &mut Vec<u32>, bin: usize) {
    counts.resize(bin + 1, 0);
    counts[bin] = 1;
}

/// The bin of a wait.
#[inline]
fn bin_of(nanos: u64) -> usize {
    // Shifted by its power, a wait is below twice the bins: those below have no shift.
    let power = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS + 1);
    (u64::from(power) * BINS + (nanos >> power)) as usize
}

/// The largest wait of a bin.
fn largest_of(bin: usize) -> u64 {
    let bin = bin as u64;
    let power = (bin / BINS).saturating_sub(1);
    let first = bin - power * BINS;
    ((first + 1) << power) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bin_holds_a_wait_and_is_at_most_an_eighth_of_a_tenth_wide(nanos in 0..u64::MAX / 4) {
            let bin = bin_of(nanos);
            let largest = largest_of(bin);
            prop_assert!(largest >= nanos);
            prop_assert!(largest - nanos <= nanos / 128 + 1, "{nanos} in {bin}: {largest}");
            prop_assert!(bin == 0 || largest_of(bin - 1) < nanos);
        }
    }

    #[test]
    fn a_percentile_is_the_wait_at_its_rank_of_the_flows_of_a_group() {
        // Flows 0 and 3 are group 1, flow 2 is group 0, flow 1 is not counted, and 4 is unknown.
        let mut waits = Waits::new([Some(1), None, Some(0), Some(1), None]);
        for wait in 0..100 {
            for flow in [0, 1, 3, 4] {
                waits.add(flow, Duration::from_nanos(wait));
            }
        }
        // 0 to 99 ns, twice: below 128 each has a bin of its own.
        let of = |group, share| waits.percentile(group, share).map(Duration::as_nanos);
        assert_eq!((of(1, 0.95), of(1, 0.99)), (Some(94), Some(98)));
        assert_eq!((of(0, 0.95), of(2, 0.95)), (None, None));
    }
}
