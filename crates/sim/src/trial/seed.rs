//! One stream of random numbers for each element, derived from (trial seed, element name), so that adding
//! a flow or changing a controller does not change the draws of the path.

use crate::scenario::Scenario;
use crate::scenario::hop::LinkId;
use rand_core::SeedableRng;
use thalweg_control::Rng;
use thalweg_random::{Fnv1a, GOLDEN_GAMMA, mix, splitmix64};

/// The seed of element `name` in the trial with seed `trial`.
pub(crate) fn of(trial: u64, name: &str) -> u64 {
    let mut state = trial;
    mix(Fnv1a::of(name.as_bytes()) ^ splitmix64(&mut state))
}

/// The seed of a link of a scenario, which may be the same in all trials.
pub(crate) fn of_link(scenario: &Scenario, trial: u64, link: LinkId) -> u64 {
    let name = &scenario.hops[link.hop()].names[link.direction()];
    of(
        scenario.jitter_seed.unwrap_or(trial),
        &format!("link/{name}"),
    )
}

/// A generator for element `name`.
pub(crate) fn rng(trial: u64, name: &str) -> Rng {
    Rng::seed_from_u64(of(trial, name))
}

/// Folds `value` into a running hash.
pub(crate) fn fold(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(23) ^ value).wrapping_mul(GOLDEN_GAMMA)
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
