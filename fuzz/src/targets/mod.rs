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
use std::sync::LazyLock;

/// One target.
pub(crate) struct Target {
    /// Its name on the command line, and its folder in the corpus.
    pub(crate) name: &'static str,
    /// How its cases are written: the ending of their files.
    pub(crate) ending: &'static str,
    pub(crate) plays: Plays,
}

/// Who makes and plays the cases of a target.
pub(crate) enum Plays {
    /// This program.
    Engine {
        /// Makes the text of a case.
        make: fn(&mut Random) -> Vec<u8>,
        /// Plays a case.
        check: fn(&[u8], &Watch) -> Verdict,
    },
    /// `fuzz/python`, which takes the same orders and answers in the same lines.
    Python,
}

/// The targets of the engine, in the order of their turns.
const ENGINE: [Target; 9] = [
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

/// All targets: a file of `python/targets` is one.
pub(crate) static ALL: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/python/targets"));
    let files = folder.into_iter().flatten().flatten();
    let mut names: Vec<String> = files
        .filter_map(|file| file.file_name().into_string().ok())
        .filter(|name| !name.starts_with('_'))
        .filter_map(|name| Some(name.strip_suffix(".py")?.replace('_', "-")))
        .collect();
    names.sort();
    let python = names.into_iter().map(|name| Target {
        name: name.leak(),
        ending: "txt",
        plays: Plays::Python,
    });
    ENGINE.into_iter().chain(python).collect()
});

/// The target of that name.
pub(crate) fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}
