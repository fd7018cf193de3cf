//! The packet numbers that have arrived, for duplicate detection and ACK frames.
//!
//! A bit per number within a window, and below the window the one run of numbers without a gap that ends where
//! the window begins: a connection without losses keeps a few words, however long it lasts.

use super::bit_ring::BitRing;

#[derive(Debug, Default)]
pub(crate) struct Received {
    window: BitRing,
    /// First number of that run; the first of the window if the number before it is missing.
    run: u64,
    /// The word at which the window began when that was determined. A number far ahead moves the window.
    ends: u64,
}

impl Received {
    /// Records an arrival; false for a duplicate, and for a number below the window, which may be one.
    #[inline]
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        self.window.insert(number)
    }

    /// Which of the 64 numbers from `64 * index` on have arrived, for a word of the window.
    pub(crate) fn word(&self, index: u64) -> u64 {
        self.window.word(index)
    }

    /// The first word that [`Received::word`] knows.
    pub(crate) fn lowest_word(&self) -> u64 {
        self.window.lowest_word()
    }

    /// First number of the run without a gap that ends just before word `index` of the window.
    pub(crate) fn run_before(&self, index: u64) -> u64 {
        let full = index - self.window.full_words_before(index);
        match full.checked_sub(1) {
            Some(gap) if gap >= self.lowest_word() => run_at_the_end(gap, self.word(gap)),
            _ => self.run(),
        }
    }

    /// First number of the run that ends at the window.
    fn run(&self) -> u64 {
        let lowest = self.lowest_word();
        if self.ends == lowest {
            self.run
        } else {
            lowest * 64
        }
    }

    /// Lets the window begin with word `index`, or later if there is no gap between, but not above `most`.
    pub(crate) fn slide_to(&mut self, index: u64, most: u64) {
        loop {
            let lowest = self.lowest_word();
            let word = self.window.word(lowest);
            if lowest >= most || (lowest >= index && word != u64::MAX) {
                return;
            }
            self.run = match word {
                u64::MAX => self.run(),
                _ => run_at_the_end(lowest, word),
            };
            self.ends = lowest + 1;
            self.window.slide_to(self.ends * 64);
        }
    }
}

/// First number of the run that ends with the last bit of word `index`; the number after it if that is not set.
fn run_at_the_end(index: u64, word: u64) -> u64 {
    index * 64 + 64 - u64::from(word.leading_ones())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn without_gaps_a_million_numbers_are_remembered_in_a_few_words() {
        let mut received = Received::default();
        for number in 0..1_000_000 {
            assert!(received.insert(number));
            received.slide_to(0, number / 64);
        }
        assert_eq!(received.lowest_word(), 999_999 / 64);
        assert_eq!(received.run_before(999_999 / 64), 0);
        assert!(!received.insert(0) && !received.insert(999_999));
    }

    #[test]
    fn a_number_far_ahead_leaves_no_run_behind_that_never_was() {
        let mut received = Received::default();
        (0..1000).for_each(|number| assert!(received.insert(number)));
        received.slide_to(0, 10);
        assert!(received.insert(1 << 40));
        let lowest = received.lowest_word();
        assert_eq!(received.run_before(lowest), lowest * 64);
        received.slide_to(lowest + 1, lowest + 1);
        assert_eq!(received.run_before(lowest + 1), lowest * 64 + 64);
    }

    proptest! {
        /// Numbers come up to 400 late; some never do, and the window may begin after one that is still to come.
        #[test]
        fn it_knows_duplicates_and_runs_as_a_set_would(
            gaps in prop::collection::btree_set(0u64..3000, 0..4),
            late in prop::collection::vec(prop_oneof![9 => Just(0u64), 1 => 0u64..400], 3000),
            slides in prop::collection::btree_map(0usize..3000, 0u64..500, 0..20),
        ) {
            let (mut received, mut set, mut largest) = (Received::default(), BTreeSet::new(), 0);
            let mut order: Vec<u64> = (0..3000).filter(|number| !gaps.contains(number)).collect();
            order.sort_by_key(|&number| number + late[number as usize]);
            for (step, number) in order.into_iter().enumerate() {
                let in_window = number / 64 >= received.lowest_word();
                prop_assert_eq!(received.insert(number), in_window);
                prop_assert!(!received.insert(number), "a duplicate");
                set.extend(in_window.then_some(number));
                largest = largest.max(number);
                let Some(kept) = slides.get(&step) else { continue };
                let most = (largest / 64).saturating_sub(2);
                received.slide_to((largest.saturating_sub(*kept) / 64).min(most), most);
                for index in received.lowest_word()..=largest / 64 {
                    let run = (0..index * 64).rev().take_while(|n| set.contains(n)).count() as u64;
                    prop_assert_eq!(received.run_before(index), index * 64 - run);
                }
            }
        }
    }
}
