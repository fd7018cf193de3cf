//! One controller as a registry lists it, and the variants that other crates add to it.

use crate::{Controller, Init, OptionDoc, Options};

/// One controller of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, as written in scenarios.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// The document that it follows.
    pub source: &'static str,
    /// Options that may follow the name.
    pub options: &'static [OptionDoc],
    /// Makes one, bound to a flow.
    pub build: fn(&Options, &Init) -> Box<dyn Controller>,
}

/// A further value of the option `variant` of a controller, from another crate: that of `cubic:variant=picoquic`.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Name of the controller.
    pub controller: &'static str,
    /// Name of the variant.
    pub name: &'static str,
    /// Makes one, bound to a flow.
    pub build: fn(&Options, &Init) -> Box<dyn Controller>,
}
