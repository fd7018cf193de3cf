//! The random numbers of the peer, which are the same in every trial.
//!
//! Waits before probes are drawn by splitmix64 (Vigna, 2015) from a seed that is the same in all trials: the reference
//! combines it with the time, picoquic's public code omits the time if its random numbers should be
//! predictable, and the hundred trials of the peer have the same draws (media with suspensions: 25.448 to
//! 25.450 ms). The clients of the peer have another seed, which does not matter if servers send.

use thalweg_random::splitmix64;

const SEED: u64 = 0xfedc_ba98_7654_3210;

#[derive(Clone, Debug)]
pub(super) struct Draws(u64);

impl Default for Draws {
    fn default() -> Self {
        Draws(SEED)
    }
}

impl Draws {
    /// Uniform below `count`: rejects draws that would favour small numbers.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        let rejected = u64::MAX % count;
        loop {
            let draw = self.next();
            if draw >= rejected {
                return draw % count;
            }
        }
    }

    fn next(&mut self) -> u64 {
        splitmix64(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_draws_the_same_waits() {
        let mut draws = Draws::default();
        let waits: Vec<u64> = (0..6)
            .map(|n| draws.below(if n % 2 == 0 { 2 } else { 250_001 }))
            .collect();
        assert_eq!(waits, [0, 62_388, 1, 40_897, 0, 101_635]);
    }
}
