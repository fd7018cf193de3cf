//! The random numbers of a case: all of them come from one seed.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use thalweg_random::{Fnv1a, below, mix};

/// A seeded source of choices.
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }
    /// Uniform on 0..n; 0 when n is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        below(&mut self.0, n)
    }
    /// Uniform on low..=high.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }
    /// True in `percent` of 100 cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    pub(crate) fn flag(&mut self) -> bool {
        self.percent(50)
    }
    /// Evenly spread over the orders of magnitude from `low`, above 0, to `high`.
    pub(crate) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (least, most) = ((low as f64).ln(), (high as f64).ln());
        let share = self.below(1 << 53) as f64 / (1u64 << 53) as f64;
        let value = (least + share * (most - least)).exp() as u64;
        value.clamp(low, high)
    }
    /// Any number, small ones and those next to powers of two preferred.
    pub(crate) fn any(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(4),
            1 => (1u64 << self.below(64)).wrapping_sub(self.below(3)),
            2 => self.magnitude(1, u64::MAX),
            _ => self.0.next_u64(),
        }
    }
    pub(crate) fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

/// A number from a text, the same on every machine.
pub(crate) fn hash(text: &[u8]) -> u64 {
    mix(Fnv1a::of(text))
}
