//! One trial, or many on all cores.

use crate::network::Network;
use crate::{Outcome, Scenario, Trace};
use cpu_time::ThreadTime;
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

/// A trial that was played to its end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Index of its seed among the seeds that were asked for.
    pub index: usize,
    /// What it yielded.
    pub outcome: Outcome,
    /// Processor time that it took. The only number here that another run does not reproduce.
    pub core: std::time::Duration,
}

/// Plays one trial.
pub fn run_trial(scenario: &Scenario, seed: u64, traced: bool) -> (Outcome, Option<Trace>) {
    let never = AtomicBool::new(false);
    Network::new(scenario, seed, traced)
        .play(&never)
        .expect("nobody tells this trial to stop")
}

/// Plays one trial with its trace; `None` if it was told to stop.
pub fn run_traced(
    scenario: &Scenario,
    seed: u64,
    progress: &Progress,
) -> Option<(Finished, Trace)> {
    let (finished, trace) = play(scenario, 0, seed, true, progress)?;
    Some((finished, trace.unwrap_or_default()))
}

/// Plays one trial for each seed on `jobs` threads and returns them in the order of the seeds; those that
/// were stopped are missing.
///
/// # Panics
/// If a trial does, after the others have been told to stop.
pub fn run_trials(
    scenario: &Scenario,
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
) -> Vec<Finished> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(seeds.len()));
    let work = || {
        let _guard = StopOnPanic(progress);
        while !progress.stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(seed) = seeds.get(index) else { break };
            let Some((finished, _)) = play(scenario, index, *seed, false, progress) else {
                break;
            };
            done.lock()
                .unwrap_or_else(|lock| lock.into_inner())
                .push(finished);
            progress.finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(seeds.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut trials = done.into_inner().unwrap_or_else(|lock| lock.into_inner());
    trials.sort_by_key(|finished| finished.index);
    trials
}

fn play(
    scenario: &Scenario,
    index: usize,
    seed: u64,
    traced: bool,
    progress: &Progress,
) -> Option<(Finished, Option<Trace>)> {
    let begin = ThreadTime::now();
    let (outcome, trace) = Network::new(scenario, seed, traced).play(&progress.stop)?;
    let core = begin.elapsed();
    let finished = Finished {
        index,
        outcome,
        core,
    };
    Some((finished, trace))
}

/// Keeps the other threads from playing on for minutes when one has found a defect.
struct StopOnPanic<'a>(&'a Progress);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
        }
    }
}
