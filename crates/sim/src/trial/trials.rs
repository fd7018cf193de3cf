//! One trial, or many on all cores.

use crate::outcome::passages::{Passages, Watch};
use crate::outcome::trace::Record;
use crate::trial::network::{Ended, Network};
use crate::trial::tied;
use crate::{AuditError, Outcome, Scenario, Trace};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Progress of a run of trials, and its stop flag; shared with the progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// Trials finished.
    pub finished: AtomicUsize,
    /// Stop flag: running trials are abandoned, finished ones are kept.
    pub stop: AtomicBool,
    /// Whether trials are audited.
    pub audit: bool,
    /// The finding of the auditor, which stops the run.
    pub finding: OnceLock<AuditError>,
}

impl Progress {
    /// The progress of an audited run.
    pub fn audited() -> Self {
        Progress {
            audit: true,
            ..Progress::default()
        }
    }
}

/// A finished trial.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Index of its seed among the given seeds.
    pub index: usize,
    /// Its outcome.
    pub outcome: Outcome,
    /// Processor time that it took. The only number here that another run does not reproduce.
    pub core: std::time::Duration,
}

/// Runs one trial.
///
/// # Panics
/// If a flow ends before physics allows it.
pub fn run_trial(scenario: &Scenario, seed: u64, traced: bool) -> (Outcome, Option<Trace>) {
    let never = AtomicBool::new(false);
    match play(scenario, seed, series(traced), false, &never) {
        Ok(trial) => trial,
        Err(Ended::Audit(finding)) => panic!("{finding}"),
        Err(Ended::Stopped) => unreachable!("this trial is never stopped"),
    }
}

/// Runs one trial under the auditor. It is the same trial as by [`run_trial`].
///
/// # Errors
/// The finding of the auditor.
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
    match play(scenario, seed, series(traced), true, &never) {
        Ok(trial) => Ok(trial),
        Err(Ended::Audit(finding)) => Err(finding),
        Err(Ended::Stopped) => unreachable!("this trial is never stopped"),
    }
}

/// Runs one trial with its trace; `None` if it was stopped, or the auditor has found something.
pub fn run_traced(
    scenario: &Scenario,
    seed: u64,
    progress: &Progress,
) -> Option<(Finished, Trace)> {
    let (finished, trace) = run_one(scenario, 0, seed, Record::Series, progress)?;
    Some((finished, trace.unwrap_or_default()))
}

/// Runs one trial for the passages of its packets; `None` if it was stopped, or the auditor has found something.
///
/// ```
/// use thalweg_sim::{Progress, Scenario, Watch, run_trial, run_watched};
/// use thalweg_units::{Duration, Instant};
///
/// let text = "title = \"t\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\n[[flow]]\nname = \"main\"\n\
///     controller = \"reno\"\ndownload = \"1 MB\"\n";
/// let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
/// let from = Instant::START + Duration::from_millis(500);
/// let watch = Watch { from, most: 100 };
/// let (finished, passages) = run_watched(&scenario, 1, watch, &Progress::default()).unwrap();
/// assert_eq!(finished.outcome, run_trial(&scenario, 1, false).0);
/// assert!(passages.rows.len() <= 100 && passages.until > from);
/// assert!(passages.rows.iter().all(|row| row.passage.gone() >= from));
/// ```
pub fn run_watched(
    scenario: &Scenario,
    seed: u64,
    watch: Watch,
    progress: &Progress,
) -> Option<(Finished, Passages)> {
    let (finished, trace) = run_one(scenario, 0, seed, Record::Passages(watch), progress)?;
    let passages = trace.and_then(|trace| trace.passages);
    Some((
        finished,
        passages.map_or_else(Passages::default, |found| *found),
    ))
}

/// Runs one trial for each seed on `jobs` threads and returns them in the order of the seeds; stopped
/// ones are missing.
///
/// # Panics
/// If a trial does, after the others have been stopped.
pub fn run_trials(
    scenario: &Scenario,
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
) -> Vec<Finished> {
    let done = Mutex::new(Vec::with_capacity(seeds.len()));
    run_batches(&[scenario], seeds, jobs, progress, |_, finished| {
        let mut done = done.lock().unwrap_or_else(|lock| lock.into_inner());
        done.push(finished);
    });
    let mut trials = done.into_inner().unwrap_or_else(|lock| lock.into_inner());
    trials.sort_by_key(|finished| finished.index);
    trials
}

/// Plays one trial of each scenario for each seed on `jobs` threads and hands it to `take`, with the index of
/// its scenario, when it is finished. Scenarios are begun in their order, but none waits for the one before:
/// only the last trials of all leave a thread without work.
///
/// # Panics
/// If a trial does, after the others have been told to stop.
///
/// ```
/// use std::sync::Mutex;
/// use thalweg_sim::{Progress, Scenario, run_batches, run_trials};
///
/// let text = |rate: u32| format!(
///     "title = \"one\"\n[path]\nrate = \"{rate} Mbps\"\nrtt = \"40 ms\"\n[[flow]]\nname = \"main\"\n\
///      controller = \"c4\"\ndownload = \"1 MB\"\n"
/// );
/// let read = |rate| Scenario::from_toml(text(rate).as_bytes(), "one.toml", &[], &[]).unwrap();
/// let (slow, fast) = (read(5), read(50));
/// let taken = Mutex::new(Vec::new());
/// run_batches(&[&slow, &fast], &[1, 2, 3], 4, &Progress::default(), |scenario, finished| {
///     taken.lock().unwrap().push((scenario, finished.index, finished.outcome));
/// });
/// let mut taken = taken.into_inner().unwrap();
/// taken.sort_by_key(|(scenario, index, _)| (*scenario, *index));
/// let alone = [&slow, &fast].map(|scenario| run_trials(scenario, &[1, 2, 3], 1, &Progress::default()));
/// let alone: Vec<_> = alone.into_iter().flatten().map(|finished| finished.outcome).collect();
/// assert_eq!(taken.into_iter().map(|(_, _, outcome)| outcome).collect::<Vec<_>>(), alone);
/// ```
pub fn run_batches(
    scenarios: &[&Scenario],
    seeds: &[u64],
    jobs: usize,
    progress: &Progress,
    take: impl Fn(usize, Finished) + Sync,
) {
    let next = AtomicUsize::new(0);
    let total = scenarios.len() * seeds.len();
    let work = || {
        let _guard = StopOnPanic(progress);
        while !progress.stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                break;
            }
            let (scenario, index) = (number / seeds.len(), number % seeds.len());
            let trial = run_one(
                scenarios[scenario],
                index,
                seeds[index],
                Record::Nothing,
                progress,
            );
            let Some((finished, _)) = trial else { break };
            take(scenario, finished);
            progress.finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(total) {
            scope.spawn(work);
        }
        work();
    });
}

fn series(wanted: bool) -> Record {
    match wanted {
        true => Record::Series,
        false => Record::Nothing,
    }
}

/// Plays one trial, audited or not.
fn play(
    scenario: &Scenario,
    seed: u64,
    record: Record,
    audit: bool,
    stop: &AtomicBool,
) -> Result<(Outcome, Option<Trace>), Ended> {
    let scenario = &*tied::settled(scenario, seed, stop).ok_or(Ended::Stopped)?;
    let mut network = Network::new(scenario, seed, record, stop).ok_or(Ended::Stopped)?;
    if audit {
        network = network.audited(scenario);
    }
    network.run(scenario, stop)
}

fn run_one(
    scenario: &Scenario,
    index: usize,
    seed: u64,
    record: Record,
    progress: &Progress,
) -> Option<(Finished, Option<Trace>)> {
    let begin = ProcessorTime::now();
    let (outcome, trace) = match play(scenario, seed, record, progress.audit, &progress.stop) {
        Ok(trial) => trial,
        Err(Ended::Stopped) => return None,
        Err(Ended::Audit(finding)) => {
            // The first of several threads to find something reports.
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

/// Processor time of this thread, where it can be measured.
struct ProcessorTime(#[cfg(feature = "processor-time")] cpu_time::ThreadTime);

impl ProcessorTime {
    fn now() -> Self {
        ProcessorTime(
            #[cfg(feature = "processor-time")]
            cpu_time::ThreadTime::now(),
        )
    }
    /// Since then; 0 where it cannot be measured.
    fn elapsed(&self) -> std::time::Duration {
        #[cfg(feature = "processor-time")]
        return self.0.elapsed();
        #[cfg(not(feature = "processor-time"))]
        std::time::Duration::ZERO
    }
}

/// Stops the other threads when one has panicked.
struct StopOnPanic<'a>(&'a Progress);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
        }
    }
}
