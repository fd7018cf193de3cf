//! The controllers that cases name.

use std::sync::OnceLock;
use thalweg_control::Registry;

/// The controllers of Thalweg, with the variants of `thalweg-reference` and `thalweg-c4-history`.
pub(crate) fn registry() -> &'static Registry {
    static ALL: OnceLock<Registry> = OnceLock::new();
    ALL.get_or_init(thalweg_c4_history::registry)
}
