//! A sliding window of one bit for each packet number.

use std::collections::VecDeque;

/// Bits for packet numbers `64 * base ..`; everything below reads as 0.
///
/// The newest word, which nearly every packet changes, stands apart from the older ones: a window that many
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
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let index = number / 64;
        while self.top < index {
            self.older.push_back(self.newest);
            self.newest = 0;
            self.top += 1;
        }
        let Some(word) = self.word_mut(index) else {
            return false;
        };
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
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
