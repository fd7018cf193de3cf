//! Random numbers of the stack, drawn from the seed of the trial.

use noq_proto::{ConnectionId, ConnectionIdGenerator};
use rand_core::Rng as _;
use std::time::Duration;
use thalweg_control::Rng;

/// Length of connection IDs: the stack's default.
const LENGTH: usize = 8;

/// Connection IDs from a seeded generator.
pub(crate) struct SeededIds(pub(crate) Rng);

impl ConnectionIdGenerator for SeededIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next_u64().to_le_bytes()[..LENGTH])
    }
    fn cid_len(&self) -> usize {
        LENGTH
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A key of 32 bytes.
pub(crate) fn key(rng: &mut Rng) -> [u8; 32] {
    let mut bytes = [0; 32];
    rng.fill_bytes(&mut bytes);
    bytes
}
