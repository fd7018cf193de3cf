//! The bytes of a stream that have arrived (or were acknowledged): a prefix and islands above it.

use std::collections::VecDeque;

/// A set of byte offsets.
#[derive(Debug, Default)]
pub(crate) struct RangeSet {
    /// Everything below is in the set.
    prefix: u64,
    /// Ranges above the prefix: sorted, disjoint, not touching.
    islands: VecDeque<(u64, u64)>,
}

impl RangeSet {
    /// End of the prefix: the length without a gap.
    pub(crate) fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Adds `start..end` and returns how many bytes were new.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if end <= self.prefix {
            return 0;
        }
        if start <= self.prefix && self.islands.front().is_none_or(|island| end < island.0) {
            let new = end - self.prefix;
            self.prefix = end;
            return new;
        }
        self.insert_among_islands(start, end)
    }

    /// Whether the set is all that is below `end`.
    #[inline]
    pub(crate) fn ends_at(&self, end: u64) -> bool {
        self.prefix == end && self.islands.is_empty()
    }

    /// Adds what lies between the end of the set, which has no gaps, and `end`.
    #[inline]
    pub(crate) fn append(&mut self, end: u64) {
        self.prefix = end;
    }

    #[inline(never)]
    fn insert_among_islands(&mut self, start: u64, end: u64) -> u64 {
        if let Some(last) = self.islands.back_mut()
            && last.1 == start
        {
            last.1 = end;
            return end - start;
        }
        let (mut start, mut end) = (start.max(self.prefix), end);
        let first = self.islands.partition_point(|island| island.1 < start);
        let (mut last, mut known) = (first, 0);
        while let Some(island) = self.islands.get(last)
            && island.0 <= end
        {
            known += island.1.min(end) - island.0.max(start);
            last += 1;
        }
        let new = end - start - known;
        if first < last {
            start = start.min(self.islands[first].0);
            end = end.max(self.islands[last - 1].1);
        }
        if start <= self.prefix {
            self.prefix = end;
            self.islands.drain(first..last);
        } else if first == last {
            self.islands.insert(first, (start, end));
        } else {
            self.islands[first] = (start, end);
            self.islands.drain(first + 1..last);
        }
        new
    }

    /// The first part of `start..end` that is not in the set.
    pub(crate) fn first_missing(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut start = start.max(self.prefix);
        // Islands do not touch, so at most one of them covers the start.
        let mut next = self.islands.partition_point(|island| island.1 <= start);
        if let Some(island) = self.islands.get(next)
            && island.0 <= start
        {
            start = island.1;
            next += 1;
        }
        let end = self
            .islands
            .get(next)
            .map_or(end, |island| end.min(island.0));
        (start < end).then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_are_remembered_and_closed() {
        let mut set = RangeSet::default();
        assert_eq!(set.insert(0, 10), 10);
        assert_eq!(set.insert(20, 30), 10);
        assert_eq!(set.insert(40, 50), 10);
        assert_eq!(set.first_missing(0, 100), Some((10, 20)));
        assert_eq!(set.first_missing(25, 45), Some((30, 40)));
        assert_eq!(set.insert(5, 45), 20);
        assert_eq!(set.prefix(), 50);
        assert_eq!(set.first_missing(0, 50), None);
    }

    proptest! {
        #[test]
        fn it_counts_like_a_bit_map(ranges in prop::collection::vec((0u64..200, 1u64..40), 1..60)) {
            let mut set = RangeSet::default();
            let mut model = [false; 300];
            for (start, len) in ranges {
                let end = start + len;
                let new = (start..end).filter(|i| !model[*i as usize]).count() as u64;
                model[start as usize..end as usize].fill(true);
                prop_assert_eq!(set.insert(start, end), new);
                let prefix = model.iter().position(|there| !there).unwrap() as u64;
                prop_assert_eq!(set.prefix(), prefix);
                if let Some((s, e)) = set.first_missing(start.saturating_sub(20), end + 20) {
                    prop_assert!((s..e).all(|i| !model[i as usize]));
                    prop_assert!((start.saturating_sub(20)..s).all(|i| model[i as usize]));
                }
            }
        }
    }
}
