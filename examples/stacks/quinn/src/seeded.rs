//! Connection IDs from a seed.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use std::time::Duration;

/// Bytes of a connection ID.
const LENGTH: usize = 8;

/// A sequence of connection IDs (SplitMix64).
pub(crate) struct Ids(u64);

impl Ids {
    pub(crate) fn new(seed: &[u8; 32]) -> Ids {
        let mut first = [0; 8];
        first.copy_from_slice(&seed[..8]);
        Ids(u64::from_le_bytes(first))
    }

    pub(crate) fn next(&mut self) -> ConnectionId {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ConnectionId::new(&(mixed ^ (mixed >> 31)).to_le_bytes())
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next()
    }
    fn cid_len(&self) -> usize {
        LENGTH
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
