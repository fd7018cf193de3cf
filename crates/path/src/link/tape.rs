//! The streams of a link that follows a tape.

use super::Link;
use crate::Packet;
use crate::random::{BlockSeeds, stream};
use thalweg_units::Instant;

impl<P: Packet> Link<P> {
    /// What is a function of the time follows a tape, before the first packet. The seed of the first block is not asked
    /// for: the link was made with it.
    pub fn follow(&mut self, blocks: &BlockSeeds) {
        if let Some(noise) = &mut self.noise {
            noise.follow(blocks);
        }
        for jitter in &mut self.jitters {
            jitter.follow(blocks);
        }
        self.losses.follow(blocks);
    }

    /// A block begins now: transmissions that start later draw from the streams of another seed.
    pub fn reseed(&mut self, now: Instant, seed: u64) {
        self.advance(now);
        self.seed = seed;
        self.jitter_rng = stream(seed, "jitter");
        self.losses.reseed(seed);
        self.queue.reseed(seed);
    }
}
