//! One number for each of many trials, to compare builds: a faster engine changes none of them.
//!
//! Lines: `CASE HASH`, in an order that does not change. A trial that takes longer than a second of the processor is
//! `stopped` and not compared: another build may finish it.

use crate::random::Random;
use crate::targets::{Plays, Target};
use crate::watch::Watch;
use crate::{shipped, trial, worker};
use std::collections::HashMap;
use std::path::Path;

const STOPPED: &str = "stopped";

/// Prints the hashes of `count` random scenarios. With the `before` of another build, only what differs.
///
/// Whether nothing does.
pub(crate) fn random(target: &Target, count: u64, before: Option<&Path>) -> Result<bool, String> {
    let Plays::Engine { make, .. } = target.plays else {
        return Err(format!("{} has no trials", target.name));
    };
    let cases = (0..count).map(|index| {
        let seed = worker::case_seed(0, target, index);
        (seed.to_string(), make(&mut Random::new(seed)))
    });
    tell(cases, before)
}

/// The same of all shipped scenarios, with `seeds` seeds on both stacks.
pub(crate) fn shipped(seeds: u64, before: Option<&Path>) -> Result<bool, String> {
    let cases = shipped::scenarios().iter().enumerate();
    let cases = cases.flat_map(|(position, text)| {
        (0..2 * seeds).map(move |index| {
            let (seed, stack) = (1 + index / 2, ["model", "quic"][index as usize % 2]);
            let text = format!("# seed {seed}\n# set flow.*.stack={stack}\n{text}");
            (format!("{position}-{stack}-{seed}"), text.into_bytes())
        })
    });
    tell(cases, before)
}

fn tell(
    cases: impl Iterator<Item = (String, Vec<u8>)>,
    before: Option<&Path>,
) -> Result<bool, String> {
    let before = before.map(read).transpose()?;
    let watch = Watch::start();
    let (mut compared, mut different) = (0, 0);
    for (case, text) in cases {
        let hash = trial::fingerprint(&text, &watch);
        watch.rest();
        let hash = hash.map_or(STOPPED.to_owned(), |hash| format!("{hash:016x}"));
        let Some(before) = &before else {
            println!("{case} {hash}");
            continue;
        };
        let other = before.get(&case).map_or(STOPPED, String::as_str);
        if hash != STOPPED && other != STOPPED {
            compared += 1;
            if hash != other {
                different += 1;
                println!("{case}: {other} before, {hash} now");
            }
        }
    }
    if before.is_some() {
        println!("{compared} trials compared, {different} differ");
    }
    Ok(different == 0)
}

/// The lines that another build has printed.
fn read(file: &Path) -> Result<HashMap<String, String>, String> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs
        .map(|(case, hash)| (case.to_owned(), hash.to_owned()))
        .collect())
}
