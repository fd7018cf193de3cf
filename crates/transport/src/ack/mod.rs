//! Acknowledgements: what has arrived, when to report it, and the frequency requested of the peer.

pub(crate) mod bit_ring;
pub(crate) mod dishonest;
pub(crate) mod frequency;
pub(crate) mod policy;
mod received;
