//! Random streams, and probabilities drawn from them.
//!
//! Every random element of a link has its own PCG stream (O'Neill 2014, variant XSL-RR-128/64 MCG),
//! derived from the seed of the link and the name of the element. Switching one element on or changing
//! its parameters does not move the draws of another.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use thalweg_random::{Fnv1a, splitmix64};
use thalweg_units::{Duration, Fraction, Instant};

/// The length of a block of a tape: with one, random elements have other seeds in each block.
pub const BLOCK: Duration = Duration::from_millis(100);

/// The stream of the element `name` of the link with seed `seed`.
pub(crate) fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    generator(key(seed, name))
}

/// The seed of the element `name` of the link with seed `seed`.
pub(crate) fn key(seed: u64, name: &str) -> u64 {
    seed ^ Fnv1a::of(name.as_bytes())
}

/// The draws that belong to number `index` of an element, whatever has been drawn before.
pub(crate) fn at(key: u64, index: u64) -> Pcg64Mcg {
    generator(mixed(key, index))
}

/// A number that depends on both `key` and `index`, evenly spread.
pub(crate) fn mixed(key: u64, index: u64) -> u64 {
    let mut state = index;
    key ^ splitmix64(&mut state)
}

fn generator(mut state: u64) -> Pcg64Mcg {
    let high = splitmix64(&mut state);
    let low = splitmix64(&mut state);
    Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low))
}

/// The seeds of a link in the [blocks](BLOCK) of a tape.
#[derive(Clone, Debug)]
pub struct BlockSeeds(Arc<[u64]>);

impl BlockSeeds {
    /// The seeds of the blocks in order; the last one holds from there on.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(seeds: impl Iterator<Item = u64>) -> Self {
        let seeds: Arc<[u64]> = seeds.collect();
        assert!(!seeds.is_empty(), "a tape has a first block");
        BlockSeeds(seeds)
    }

    /// The seed in a block.
    pub fn of(&self, block: u64) -> u64 {
        let last = self.0.len() - 1;
        self.0[usize::try_from(block).map_or(last, |block| block.min(last))]
    }
}

/// The key of an element whose draws are a function of the time.
#[derive(Clone, Debug)]
pub(crate) struct TimedKey {
    name: &'static str,
    first: u64,
    /// With a tape.
    blocks: Option<BlockSeeds>,
}

impl TimedKey {
    /// The key of the element `name` of the link with seed `seed`.
    pub(crate) fn new(seed: u64, name: &'static str) -> Self {
        let first = key(seed, name);
        let blocks = None;
        TimedKey {
            name,
            first,
            blocks,
        }
    }

    /// Follows a tape, from its second block on.
    pub(crate) fn follow(&mut self, blocks: &BlockSeeds) {
        self.blocks = Some(blocks.clone());
    }

    /// The key at a time.
    #[inline]
    pub(crate) fn at(&self, at: Instant) -> u64 {
        match &self.blocks {
            None => self.first,
            Some(blocks) => self.in_block(blocks, at.as_nanos() / BLOCK.as_nanos()),
        }
    }

    fn in_block(&self, blocks: &BlockSeeds, block: u64) -> u64 {
        match block {
            0 => self.first,
            later => key(blocks.of(later), self.name),
        }
    }
}

/// A probability, ready for integer comparison. One draw per question, even when the answer is certain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    const CERTAIN: u64 = 1 << 63;

    /// `numerator / denominator`, at most one.
    pub(crate) fn ratio(numerator: u64, denominator: u64) -> Self {
        if numerator >= denominator {
            return Chance(Self::CERTAIN);
        }
        Chance((u128::from(numerator) * u128::from(Self::CERTAIN) / u128::from(denominator)) as u64)
    }

    pub(crate) fn happens(self, rng: &mut Pcg64Mcg) -> bool {
        (rng.next_u64() >> 1) < self.0
    }
}

impl From<Fraction> for Chance {
    fn from(fraction: Fraction) -> Self {
        Chance((fraction.as_f64() * Self::CERTAIN as f64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_by_name_and_by_nothing_else() {
        let first = |seed, name| stream(seed, name).next_u64();
        assert_eq!(first(1, "loss"), first(1, "loss"));
        assert_ne!(first(1, "loss"), first(2, "loss"));
        assert_ne!(first(1, "loss"), first(1, "jitter"));
    }

    #[test]
    fn certain_and_impossible_are_exact_and_the_rest_has_the_right_frequency() {
        let mut rng = stream(7, "test");
        let mut count = |chance: Chance| (0..100_000).filter(|_| chance.happens(&mut rng)).count();
        assert_eq!(count(Fraction::ZERO.into()), 0);
        assert_eq!(count(Fraction::ONE.into()), 100_000);
        assert_eq!(count(Chance::ratio(5, 4)), 100_000);
        // One standard deviation is sqrt(100000 * 0.1 * 0.9) = 95.
        assert!((9_600..=10_400).contains(&count(Chance::ratio(1, 10))));
    }
}
