//! Random numbers for a controller that keeps its source beyond the event that lends one.

use crate::Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The random source of one controller; the seed of its trial determines it.
pub struct Draws(Rng);

impl Draws {
    /// A source that what the transport lends determines.
    pub fn new(lent: &mut Rng) -> Self {
        Draws(Rng::seed_from_u64(lent.next_u64()))
    }

    /// A real number from 0 up to, not including, 1.
    pub fn draw(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_fill_the_unit_interval_and_follow_from_the_seed() {
        let draws = |seed| {
            let mut source = Draws::new(&mut Rng::seed_from_u64(seed));
            (0..10_000).map(|_| source.draw()).collect::<Vec<_>>()
        };
        let seen = draws(1);
        assert!(seen.iter().all(|draw| (0.0..1.0).contains(draw)));
        // The mean of 10 000 has a deviation of 1 / sqrt(12 * 10 000) = 0.0029.
        let mean = seen.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_eq!(seen, draws(1));
        assert_ne!(seen, draws(2));
    }
}
