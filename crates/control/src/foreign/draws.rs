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
