//! The random numbers of a case: all of them come from one seed.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A seeded source of choices.
pub(crate) struct Random(Pcg64Mcg);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }
    /// Uniform on 0..n; 0 when n is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
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
    /// Any number, small ones and those beside powers of two preferred.
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

/// A number from a text, the same on every machine (FNV-1a, and the finaliser of splitmix64).
pub(crate) fn hash(text: &[u8]) -> u64 {
    let folded = text.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(folded)
}

/// Spreads neighbouring numbers over the whole range (finaliser of splitmix64).
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
