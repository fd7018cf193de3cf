//! Loss of given packets, as scripts of tests name them: "packets 10 to 12".

use std::sync::Arc;

/// The numbers of packets that are lost, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossScript(Arc<[(u64, u64)]>);

impl LossScript {
    /// A script from ranges, each with its first and its last number, in any order.
    pub fn new(ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.retain(|(first, last)| first <= last);
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some((_, before)) if first <= before.saturating_add(1) => {
                    *before = last.max(*before)
                }
                _ => joined.push((first, last)),
            }
        }
        LossScript(joined.into())
    }

    /// Whether no packet is lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the packet with this number is lost.
    pub fn has(&self, number: u64) -> bool {
        let next = self.0.partition_point(|(_, last)| *last < number);
        self.0.get(next).is_some_and(|(first, _)| *first <= number)
    }
}

/// Reads a script, packet by packet.
#[derive(Debug)]
pub(super) struct Reader {
    script: LossScript,
    /// The range that ends next.
    place: usize,
    /// Packets so far.
    count: u64,
}

impl Reader {
    pub(super) fn new(script: &LossScript) -> Self {
        Reader {
            script: script.clone(),
            place: 0,
            count: 0,
        }
    }

    /// Whether the next packet is lost.
    pub(super) fn strikes(&mut self) -> bool {
        self.count += 1;
        let Some((first, last)) = self.script.0.get(self.place) else {
            return false;
        };
        self.place += usize::from(self.count == *last);
        self.count >= *first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_that_touch_or_overlap_are_one_whatever_their_order() {
        let script = LossScript::new([(10, 12), (3, 3), (12, 15), (4, 5), (9, 8)]);
        assert_eq!(*script.0, [(3, 5), (10, 15)]);
        assert_eq!(script, LossScript::new([(3, 5), (10, 15)]));
        assert!(LossScript::new([]).is_empty());
    }

    proptest! {
        /// A packet is lost if and only if a range has its number, and the reader agrees with the look-up.
        #[test]
        fn the_packets_of_the_script_are_lost_and_no_others(
            ranges in prop::collection::vec((1u64..60, 1u64..60), 0..8),
        ) {
            let script = LossScript::new(ranges.iter().copied());
            let mut reader = Reader::new(&script);
            for number in 1..70 {
                let named = ranges.iter().any(|(first, last)| (*first..=*last).contains(&number));
                prop_assert_eq!(script.has(number), named);
                prop_assert_eq!(reader.strikes(), named);
            }
        }
    }
}
