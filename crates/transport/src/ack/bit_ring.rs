//! A sliding window of one bit for each packet number.

use std::collections::VecDeque;

/// Words that the window spans at most: 8 MB. A packet number further ahead than these 67 million, which no
/// honest sender reaches, moves the window there and empties it.
const MOST_WORDS: u64 = 1 << 20;

/// Bits for packet numbers `64 * base ..`; everything below reads as 0.
///
/// The newest word, which nearly every packet changes, is separate from the older ones: a window that many
/// flows have should cost each packet as few cache lines as possible.
#[derive(Debug, Default)]
pub(crate) struct BitRing {
    newest: u64,
    /// Index of the newest word; the older ones are those from `base` to it.
    top: u64,
    base: u64,
    older: VecDeque<u64>,
}

impl BitRing {
    /// The word that holds packet `index * 64`.
    pub(crate) fn word(&self, index: u64) -> u64 {
        if index == self.top {
            return self.newest;
        }
        match index.checked_sub(self.base) {
            Some(offset) => self.older.get(offset as usize).copied().unwrap_or(0),
            None => 0,
        }
    }

    #[inline]
    fn word_mut(&mut self, index: u64) -> Option<&mut u64> {
        if index == self.top {
            return Some(&mut self.newest);
        }
        self.older.get_mut(index.checked_sub(self.base)? as usize)
    }

    /// Whether the bit of `number` is set.
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.word(number / 64) >> (number % 64) & 1 == 1
    }

    /// Sets the bit; false if it was set already or has slid out of the window.
    #[inline]
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let index = number / 64;
        if index > self.top {
            self.extend_to(index);
        }
        let Some(word) = self.word_mut(index) else {
            return false;
        };
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Makes `index`, which is above the newest word, the newest.
    #[inline(never)] // once in 64 packets
    fn extend_to(&mut self, index: u64) {
        if index >= self.base + MOST_WORDS {
            self.slide_to((index - MOST_WORDS + 1).min(self.top) * 64);
        }
        if index >= self.base + MOST_WORDS {
            self.older.clear();
            (self.base, self.top, self.newest) = (index, index, 0);
        }
        while self.top < index {
            self.older.push_back(self.newest);
            self.newest = 0;
            self.top += 1;
        }
    }

    /// How many of the words just before word `index` of the window have all their bits, up to the first that has not.
    pub(crate) fn full_words_before(&self, index: u64) -> u64 {
        let count = index.saturating_sub(self.base) as usize;
        let words = self.older.range(..count.min(self.older.len())).rev();
        words.take_while(|word| **word == u64::MAX).count() as u64
    }

    /// Index of the lowest word of the window.
    pub(crate) fn lowest_word(&self) -> u64 {
        self.base
    }

    /// Clears the given bits of the word that holds packet `index * 64`.
    pub(crate) fn clear(&mut self, index: u64, bits: u64) {
        if bits != 0
            && let Some(word) = self.word_mut(index)
        {
            *word &= !bits;
        }
    }

    /// Clears the bit.
    pub(crate) fn remove(&mut self, number: u64) {
        if let Some(word) = self.word_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Forgets everything below `number`, rounded down to a word.
    pub(crate) fn slide_to(&mut self, number: u64) {
        let index = number / 64;
        while self.base < index {
            if self.older.pop_front().is_some() {
                self.base += 1;
            } else {
                (self.base, self.top, self.newest) = (index, index, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn bits_come_and_go_as_the_window_slides() {
        let mut ring = BitRing::default();
        assert!(ring.insert(70) && !ring.insert(70));
        assert!(ring.contains(70) && !ring.contains(71) && !ring.contains(7000));
        ring.slide_to(200);
        assert!(!ring.contains(70) && !ring.insert(70));
        assert!(ring.insert(200) && ring.insert(500));
        ring.remove(200);
        assert!(!ring.contains(200) && ring.contains(500));
    }

    #[test]
    fn a_number_far_ahead_takes_no_more_memory_than_the_window() {
        let mut ring = BitRing::default();
        for number in [5, 1 << 40, u64::MAX - 64, u64::MAX] {
            assert!(ring.insert(number) && ring.contains(number));
            assert!(ring.older.len() < MOST_WORDS as usize);
        }
        assert!(!ring.contains(5));
        // A steady stream of numbers keeps the newest of them.
        let mut ring = BitRing::default();
        for word in 0..MOST_WORDS + 10 {
            ring.insert(64 * word);
        }
        assert!(ring.older.len() < MOST_WORDS as usize);
        assert!(!ring.contains(0) && ring.contains(64 * 10));
    }

    proptest! {
        #[test]
        fn it_holds_what_a_set_would(steps in prop::collection::vec((0..4, 0u64..1000), 1..100)) {
            let (mut ring, mut set, mut floor) = (BitRing::default(), BTreeSet::new(), 0);
            for (step, number) in steps {
                match step {
                    0 => {
                        let new = number >= floor && set.insert(number);
                        prop_assert_eq!(ring.insert(number), new);
                    }
                    1 => {
                        ring.remove(number);
                        set.remove(&number);
                    }
                    2 => {
                        // The bits of every third number of a word.
                        let bits = 0x9249_2492_4924_9249;
                        ring.clear(number / 64, bits);
                        set.retain(|member| member / 64 != number / 64 || bits >> (member % 64) & 1 == 0);
                    }
                    _ => {
                        ring.slide_to(number);
                        floor = floor.max(number / 64 * 64);
                        set.retain(|&member| member >= floor);
                    }
                }
                prop_assert!((0..1000).all(|n| ring.contains(n) == set.contains(&n)));
            }
        }
    }
}
