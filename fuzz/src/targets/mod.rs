//! What is attacked: one file for each target.
//!
//! A target makes the text of a case from random numbers and checks any text. A case is nothing but its text, so that
//! it can be made smaller and kept.

mod controllers;
mod flows;
mod links;
mod loss;
mod medium;
mod quic_server;
mod relations;
mod round;
mod scenario_bytes;
mod scenario_random;
mod scenario_structure;
mod traffic;
mod transport;
mod wifi;

use crate::failure::Verdict;
use crate::random::Random;
use crate::watch::Watch;

/// One target.
pub(crate) struct Target {
    /// Its name on the command line, and its folder in the corpus.
    pub(crate) name: &'static str,
    /// How its cases are written: the ending of their files.
    pub(crate) ending: &'static str,
    /// Makes the text of a case.
    pub(crate) make: fn(&mut Random) -> Vec<u8>,
    /// Plays a case.
    pub(crate) check: fn(&[u8], &Watch) -> Verdict,
}

/// All targets, in the order of their turns.
pub(crate) static ALL: &[Target] = &[
    scenario_random::TARGET,
    scenario_structure::TARGET,
    scenario_bytes::TARGET,
    relations::TARGET,
    wifi::TARGET,
    controllers::TARGET,
    transport::TARGET,
    links::TARGET,
    quic_server::TARGET,
];

/// The target of that name.
pub(crate) fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}
