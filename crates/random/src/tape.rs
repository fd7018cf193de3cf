//! The tape of a trial: seeds for its blocks of time, in the place of one seed for all of it.
//!
//! # Model
//! Time is cut into blocks of equal length. At the start of each, every stream of random numbers is seeded anew, from its
//! own name and the seed of the block. Blocks are then independent: one of them can be drawn again while the others stay,
//! and nothing before it changes. That is what a search among the trials of a rare event moves by (Au and Beck 2001).
//!
//! # Form
//! `0-4:17 12:3`: blocks 0 to 4 have seeds made from 17, block 12 has one made from 3, and the others from the seed of the
//! trial.

use crate::hash::{mix, splitmix64};
use std::fmt;
use std::str::FromStr;

/// Seeds for the blocks of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape {
    /// In order, without a block in common.
    stretches: Vec<Stretch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    first: u32,
    last: u32,
    seed: u64,
}

impl Tape {
    /// The seed of a block in the trial with this seed. The first block of a trial has the seed of the trial itself, unless
    /// the tape has another.
    pub fn seed(&self, trial: u64, block: u64) -> u64 {
        let after = |stretch: &Stretch| u64::from(stretch.last) < block;
        let next = self.stretches.partition_point(after);
        let found = self.stretches.get(next);
        let from = match found.filter(|stretch| u64::from(stretch.first) <= block) {
            None if block == 0 => return trial,
            None => trial,
            Some(stretch) => stretch.seed,
        };
        let mut state = block;
        mix(from ^ splitmix64(&mut state))
    }
}

impl FromStr for Tape {
    type Err = TapeError;

    fn from_str(text: &str) -> Result<Self, TapeError> {
        let mut tape = Tape::default();
        for word in text.split_whitespace() {
            let error = || TapeError(word.to_owned());
            let (blocks, seed) = word.split_once(':').ok_or_else(error)?;
            let (first, last) = blocks.split_once('-').unwrap_or((blocks, blocks));
            let stretch = Stretch {
                first: number(first).ok_or_else(error)?,
                last: number(last).ok_or_else(error)?,
                seed: number(seed).ok_or_else(error)?,
            };
            let before = tape.stretches.last().map(|before| before.last);
            if stretch.first > stretch.last || before.is_some_and(|before| stretch.first <= before)
            {
                return Err(error());
            }
            tape.stretches.push(stretch);
        }
        Ok(tape)
    }
}

/// Digits only: the parser of the standard library takes a sign.
fn number<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// A word of a text that is not a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeError(String);

impl fmt::Display for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.0.chars().take(40).collect();
        write!(
            f,
            "\"{shown}\" does not fit; accepted: BLOCK:SEED or FIRST-LAST:SEED, in increasing order, such as \"0-4:17 12:3\""
        )
    }
}

impl std::error::Error for TapeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_seed_of_its_stretch_or_one_of_the_trial() {
        let tape: Tape = "1-2:17 5:17".parse().unwrap();
        let empty = Tape::default();
        assert_eq!(tape.seed(7, 0), 7);
        for block in [3, 4, 6, 1 << 40] {
            assert_eq!(tape.seed(7, block), empty.seed(7, block));
            assert_ne!(tape.seed(7, block), tape.seed(8, block));
        }
        for block in [1, 2, 5] {
            assert_eq!(tape.seed(7, block), tape.seed(8, block));
            assert_eq!(tape.seed(7, block), empty.seed(17, block));
        }
        let mut seeds: Vec<u64> = (0..1000).map(|block| tape.seed(7, block)).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 1000);
    }

    #[test]
    fn what_is_not_a_tape_is_refused_with_the_word_that_does_not_fit() {
        for text in [
            "1",
            "1:",
            ":1",
            "2-1:3",
            "1:1 1:2",
            "3:1 2:1",
            "+1:2",
            "1:-2",
            "1-:2",
            "4294967296:1",
            "1:18446744073709551616",
        ] {
            let error = text.parse::<Tape>().unwrap_err().to_string();
            let last = text.split(' ').next_back().unwrap();
            assert!(
                error.starts_with(&format!("\"{last}\" does not fit")),
                "{error}"
            );
        }
        assert_eq!("".parse(), Ok(Tape::default()));
    }
}
