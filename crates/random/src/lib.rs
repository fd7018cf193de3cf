//! What determinism rests on: a hash of names, a mix of bits, and draws that every machine makes alike.
//!
//! Seeds, fingerprints and published results depend on each constant here: none of them may change.
//!
//! # Limits
//! Nothing here is cryptographic.

mod draw;
mod hash;

pub use draw::{below, open_unit, standard_normal};
pub use hash::{Fnv1a, GOLDEN_GAMMA, mix, splitmix64};
