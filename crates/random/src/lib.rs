//! The base of determinism: a hash of names, a mix of bits, and draws that are equal on every machine.
//!
//! Seeds, fingerprints and published results depend on each constant here: none may change.
//!
//! # Limits
//! Nothing here is cryptographic.

mod draw;
mod hash;
mod tape;

pub use draw::{below, open_unit, standard_normal};
pub use hash::{Fnv1a, GOLDEN_GAMMA, mix, splitmix64};
pub use tape::{Tape, TapeError};
