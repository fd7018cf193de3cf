//! One trial, or many on all cores.

use crate::trial::network::{Ended, Network};
use crate::{AuditError, Outcome, Scenario, Trace};
use cpu_time::ThreadTime;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// How far a run of trials is, and the way to stop it; shared with whoever shows a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// Trials finished.
    pub finished: AtomicUsize,
    /// Set to stop: trials under way are abandoned, finished ones are kept.
    pub stop: AtomicBool,
    /// Whether the auditor watches the trials.
    pub audit: bool,
    /// What the auditor has found. It stops the run.
    pub finding: OnceLock<AuditError>,
}

impl Progress {
    /// Of a run that the auditor watches.
    pub fn audited() -> Self {
        Progress {
            audit: true,
            ..Progress::default()
        }
    }
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
    match Network::new(scenario, seed, traced, &never).map(|network| network.play(&never)) {
        Some(Ok(trial)) => trial,
        _ => unreachable!("nobody tells this trial to stop, or watches it"),
    }
}

/// Plays one trial under the auditor. It is the trial that [`run_trial`] plays.
///
/// # Errors
/// What the auditor has found.
///
/// ```
/// use thalweg_sim::{Scenario, run_audited, run_trial};
///
/// let text = r#"
///     title = "A download"
///     [path]
///     rate = "20 Mbps"
///     rtt = "40 ms"
///     [[flow]]
///     name = "main"
///     controller = "cubic"
///     download = "1 MB"
/// "#;
/// let scenario = Scenario::from_toml(text.as_bytes(), "download.toml", &[], &[]).unwrap();
/// let (outcome, _) = run_audited(&scenario, 1, false).unwrap();
/// assert_eq!(outcome, run_trial(&scenario, 1, false).0);
/// ```
pub fn run_audited(
    scenario: &Scenario,
    seed: u64,
    traced: bool,
) -> Result<(Outcome, Option<Trace>), AuditError> {
    let never = AtomicBool::new(false);
    let network = Network::new(scenario, seed, traced, &never);
    let played = network.map(|network| network.audited().play(&never));
    match played {
        Some(Ok(trial)) => Ok(trial),
        Some(Err(Ended::Audit(finding))) => Err(finding),
        Some(Err(Ended::Stopped)) | None => unreachable!("nobody tells this trial to stop"),
    }
}

/// Plays one trial with its trace; `None` if it was told to stop, or if the auditor has found something.
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
    let mut network = Network::new(scenario, seed, traced, &progress.stop)?;
    if progress.audit {
        network = network.audited();
    }
    let (outcome, trace) = match network.play(&progress.stop) {
        Ok(trial) => trial,
        Err(Ended::Stopped) => return None,
        Err(Ended::Audit(finding)) => {
            // Of several threads the first to find something has the word.
            let _ = progress.finding.set(finding);
            progress.stop.store(true, Ordering::Relaxed);
            return None;
        }
    };
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
