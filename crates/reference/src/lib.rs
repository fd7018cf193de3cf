//! Controllers that published results were measured with, as variants of the controllers of `thalweg-control`.
//!
//! [`picoquic`] has picoquic's BBR, BBRv1, Cubic, dCubic and NewReno of August 2026. They are evidence, not advice:
//! whoever reproduces a result needs them, with the slips of the original. `thalweg-c4-history` adds the C4 of 2025.
//! [`mutants`] has controllers of ours with known bugs of public stacks, which the suite `regressions` must find.
//!
//! ```
//! let spec = thalweg_reference::registry().read("cubic:variant=picoquic").unwrap();
//! assert_eq!(spec.as_str(), "cubic:variant=picoquic");
//! ```

mod mutants;
mod picoquic;
#[cfg(test)]
mod tests;

use thalweg_control::{Registry, Variant};

/// The variants of this crate, in display order.
pub const VARIANTS: &[Variant] = picoquic::VARIANTS;

pub use picoquic::WindowPacing;

/// The controllers of `thalweg-control` with the variants and the mutants of this crate.
pub fn registry() -> Registry {
    let mut registry = Registry::standard().with_variants(VARIANTS);
    (registry.add(mutants::ENTRY)).expect("a name of our own");
    registry
}
