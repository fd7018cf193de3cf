//! One controller as a registry lists it, and the variants that other crates add to it.

use crate::{Controller, Init, OptionDoc, Options};

/// What a controller is for. Lists of controllers in studies, tests and fuzzers follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Any traffic of the Internet: flows share as equals.
    Internet,
    /// A data center, where all queues mark (RFC 8257).
    DataCenter,
    /// Background traffic, which yields to others (RFC 6297).
    Background,
    /// Interactive media, up to the rate of an encoder (RFC 8836).
    Media,
    /// A test of others: it does not respond to congestion, or has a bug.
    Test,
}

impl Purpose {
    /// Its name in lists.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Internet => "Internet",
            Purpose::DataCenter => "data center",
            Purpose::Background => "background",
            Purpose::Media => "media",
            Purpose::Test => "test",
        }
    }
}

/// One controller of the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Name, as written in scenarios.
    pub name: &'static str,
    /// What it is for.
    pub purpose: Purpose,
    /// Description in one line.
    pub title: &'static str,
    /// The document that it follows.
    pub source: &'static str,
    /// Options that may follow the name.
    pub options: &'static [OptionDoc],
    /// Makes one, bound to a flow.
    pub build: fn(&Options, &Init) -> Box<dyn Controller>,
}

/// A further value of the option `variant` of a controller, from another crate: the value of `cubic:variant=picoquic`.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Name of the controller.
    pub controller: &'static str,
    /// Name of the variant.
    pub name: &'static str,
    /// Makes one, bound to a flow.
    pub build: fn(&Options, &Init) -> Box<dyn Controller>,
}
