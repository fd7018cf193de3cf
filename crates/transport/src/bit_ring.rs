//! A sliding window of one bit for each packet number.

use std::collections::VecDeque;

/// Bits for packet numbers `64 * base ..`; everything below reads as 0.
#[derive(Debug, Default)]
pub(crate) struct BitRing {
    base: u64,
    words: VecDeque<u64>,
}

impl BitRing {
    /// The word that holds packet `index * 64`.
    pub(crate) fn word(&self, index: u64) -> u64 {
        match index.checked_sub(self.base) {
            Some(offset) => self.words.get(offset as usize).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// Whether the bit of `number` is set.
    #[cfg(test)]
    pub(crate) fn contains(&self, number: u64) -> bool {
        self.word(number / 64) >> (number % 64) & 1 == 1
    }

    /// Sets the bit; false if it was set already or has slid out of the window.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        let Some(offset) = (number / 64).checked_sub(self.base) else {
            return false;
        };
        while self.words.len() as u64 <= offset {
            self.words.push_back(0);
        }
        let (word, bit) = (&mut self.words[offset as usize], 1 << (number % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Clears the bit.
    pub(crate) fn remove(&mut self, number: u64) {
        if let Some(offset) = (number / 64).checked_sub(self.base)
            && let Some(word) = self.words.get_mut(offset as usize)
        {
            *word &= !(1 << (number % 64));
        }
    }

    /// Forgets everything below `number`, rounded down to a word.
    pub(crate) fn slide_to(&mut self, number: u64) {
        while self.base < number / 64 {
            self.words.pop_front();
            self.base += 1;
            if self.words.is_empty() {
                self.base = number / 64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
