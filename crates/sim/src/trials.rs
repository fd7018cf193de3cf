//! One trial, or many on all cores.

use crate::network::Network;
use crate::{Outcome, Scenario, Trace};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How far a run of trials is, and the way to stop it; shared with whoever shows a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// Trials finished.
    pub finished: AtomicUsize,
    /// Set to stop: trials under way are abandoned, finished ones are kept.
    pub stop: AtomicBool,
}

/// Plays one trial.
pub fn run_trial(scenario: &Scenario, seed: u64, traced: bool) -> (Outcome, Option<Trace>) {
    let never = AtomicBool::new(false);
    Network::new(scenario, seed, traced)
        .play(&never)
        .expect("nobody tells this trial to stop")
}

/// Plays one trial for each seed on `jobs` threads and returns the outcomes in the order of the seeds; those
/// of trials that were stopped are missing.
pub fn run_trials(
    scenario: &Scenario,
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
) -> Vec<(usize, Outcome)> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(seeds.len()));
    let work = || {
        while !progress.stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(seed) = seeds.get(index) else { break };
            let played = Network::new(scenario, *seed, false).play(&progress.stop);
            let Some((outcome, _)) = played else { break };
            done.lock()
                .unwrap_or_else(|lock| lock.into_inner())
                .push((index, outcome));
            progress.finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(seeds.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut outcomes = done.into_inner().unwrap_or_else(|lock| lock.into_inner());
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes
}
