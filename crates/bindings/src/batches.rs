//! The trials of many scenarios on one pool of threads.

use crate::outcomes::Outcomes;
use crate::running::watched;
use crate::scenario::{Scenario, cores_if_none, progress, refuse_finding};
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use thalweg_sim::Finished;

/// One trial of each scenario for each seed on `jobs` threads (0: all cores), watched by the auditor if asked.
/// `on_finished` gets the index and the outcomes of each scenario whose trials are all finished, in the order of
/// the scenarios. Tells whether a Ctrl-C stopped it; what was finished before has been handed over then, also of
/// scenarios of which trials are missing.
#[pyfunction]
#[pyo3(signature = (scenarios, seeds, jobs, on_progress, on_finished, audit=false))]
pub(crate) fn run_batches(
    py: Python<'_>,
    scenarios: Vec<PyRef<'_, Scenario>>,
    seeds: Vec<u64>,
    jobs: usize,
    on_progress: Bound<'_, PyAny>,
    on_finished: Bound<'_, PyAny>,
    audit: bool,
) -> PyResult<bool> {
    for scenario in &scenarios {
        scenario.refuse_live()?;
    }
    let simulated: Vec<&thalweg_sim::Scenario> = scenarios
        .iter()
        .map(|scenario| scenario.simulation())
        .collect();
    let done: Vec<Mutex<Vec<Finished>>> = simulated.iter().map(|_| Mutex::default()).collect();
    let progress = progress(audit);
    let next = Cell::new(0);
    // A scenario is handed over when all its trials are there; others wait for their turn.
    let hand_over = |some: bool| -> PyResult<()> {
        while let Some(finished) = done.get(next.get()) {
            let mut trials = finished.lock().unwrap_or_else(PoisonError::into_inner);
            if trials.len() == seeds.len() || (some && !trials.is_empty()) {
                let mut taken = std::mem::take(&mut *trials);
                drop(trials);
                taken.sort_by_key(|trial| trial.index);
                let outcomes = Outcomes::new(py, &simulated[next.get()].flows, taken)?;
                on_finished.call1((next.get(), Py::new(py, outcomes)?))?;
            } else if !some {
                break;
            }
            next.set(next.get() + 1);
        }
        Ok(())
    };
    let report = || {
        hand_over(false)?;
        let finished = progress.finished.load(Ordering::Relaxed);
        on_progress.call1((finished,)).map(|_| ())
    };
    let work = || {
        let take = |scenario: usize, finished| {
            let trials: &Mutex<Vec<Finished>> = &done[scenario];
            let mut trials = trials.lock().unwrap_or_else(PoisonError::into_inner);
            trials.push(finished);
        };
        thalweg_sim::run_batches(&simulated, &seeds, cores_if_none(jobs), &progress, take);
    };
    let ((), interrupted) = watched(py, &progress.stop, work, report)?;
    refuse_finding(&progress)?;
    hand_over(true)?;
    Ok(interrupted)
}
