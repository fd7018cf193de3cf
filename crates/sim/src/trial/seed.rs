//! One stream of random numbers for each element, derived from (trial seed, element name), so that adding
//! a flow or changing a controller does not shift what the path does.

use rand_core::SeedableRng;
use thalweg_control::Rng;

/// The seed of element `name` in the trial with seed `trial`.
pub(crate) fn of(trial: u64, name: &str) -> u64 {
    // FNV-1a over the name, then the finaliser of splitmix64 over name and trial.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(hash ^ mix(trial.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// A generator for element `name`.
pub(crate) fn rng(trial: u64, name: &str) -> Rng {
    Rng::seed_from_u64(of(trial, name))
}

/// Folds `value` into a running hash.
pub(crate) fn fold(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_and_trials_give_independent_seeds() {
        let mut seeds = Vec::new();
        for trial in 0..50 {
            for name in ["down", "up", "flow/main", "flow/background"] {
                seeds.push(super::of(trial, name));
            }
        }
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 200);
    }
}
