//! The streams of a link that follows a tape.

use super::Link;
use crate::Packet;
use crate::random::stream;
use std::sync::Arc;
use thalweg_units::Instant;

impl<P: Packet> Link<P> {
    /// What is a function of the time follows a tape, before the first packet: `blocks` has the seed of the link in each
    /// [block](crate::BLOCK). The first is not asked for: it has the seed with which the link was made.
    pub fn follow(&mut self, blocks: &Arc<[u64]>) {
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
