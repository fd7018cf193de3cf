//! Steps of many trials at once, on threads that stay (`threads`).
//!
//! A thread takes the action, goes on until the flow is asked again, and computes what it sees: the calling thread touches
//! nothing of a trial that another core holds in its caches.

use super::episode::{Came, Episode, Stepped, Trial, open};
use super::threads::{Step, Threads, Turn};
use crate::Panicked;
use crate::scenario::cores_if_none;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Threads for steps of many trials.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Pool(Threads<TrialTurn>);

/// Observations, rewards, and which trials have ended.
type Arrays<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

#[pymethods]
impl Pool {
    /// `jobs` threads; all cores for 0.
    #[new]
    fn new(jobs: usize) -> PyResult<Pool> {
        let threads = Threads::new(cores_if_none(jobs));
        let threads = threads.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Pool(threads))
    }

    /// One step of each trial, which has one steered flow: it takes its action, a row of `actions`, unless it begins.
    /// Raises ValueError for an action that is not a number, before any trial goes on.
    fn step<'py>(
        &self,
        py: Python<'py>,
        mut episodes: Vec<PyRefMut<'py, Episode>>,
        actions: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Arrays<'py>> {
        let actions: Vec<Vec<f32>> = actions
            .as_array()
            .rows()
            .into_iter()
            .map(|row| row.to_vec())
            .collect();
        if actions.len() != episodes.len() {
            let (given, wanted) = (actions.len(), episodes.len());
            let problem = format!("{given} actions; accepted: one for each of {wanted} trials");
            return Err(PyValueError::new_err(problem));
        }
        for (number, (episode, action)) in episodes.iter_mut().zip(&actions).enumerate() {
            let refused = |problem| format!("environment {number}: {problem}");
            let checked = episode.trial().check(action);
            checked.map_err(|problem| PyValueError::new_err(refused(problem)))?;
        }
        let mut turns = Vec::with_capacity(episodes.len());
        for (episode, action) in episodes.iter_mut().zip(actions) {
            if episode.speaks() {
                episode.take_turn(py, &action)?;
                let stepped = Some(episode.trial().stepped());
                turns.push(TrialTurn::new(episode.shared(), None, stepped));
            } else {
                let action = episode.trial().has_begun().then_some(action);
                turns.push(TrialTurn::new(episode.shared(), action, None));
            }
        }
        let step = Step::new(turns);
        py.detach(|| self.0.run(&step));
        while step.turns().iter().any(TrialTurn::is_on_the_way) {
            py.check_signals()?;
            py.detach(|| self.0.run(&step));
        }
        gathered(py, step.turns())
    }
}

/// The step of one trial.
struct TrialTurn {
    trial: Arc<Mutex<Trial>>,
    progress: Mutex<Progress>,
}

struct Progress {
    /// What has not been taken yet.
    action: Option<Vec<f32>>,
    /// None as long as the trial goes on.
    stepped: Option<PyResult<Stepped>>,
}

impl TrialTurn {
    fn new(
        trial: Arc<Mutex<Trial>>,
        action: Option<Vec<f32>>,
        stepped: Option<PyResult<Stepped>>,
    ) -> Self {
        TrialTurn {
            trial,
            progress: Mutex::new(Progress { action, stepped }),
        }
    }

    fn is_on_the_way(&self) -> bool {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.stepped.is_none()
    }
}

impl Turn for TrialTurn {
    fn take(&self) {
        let mut trial = open(&self.trial);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.stepped.is_some() {
            return;
        }
        let action = progress.action.take();
        let came = catch_unwind(AssertUnwindSafe(|| stepped(&mut trial, action)));
        progress.stepped = came.unwrap_or_else(|_| {
            trial.abandon();
            Some(Err(Panicked::new_err("the simulator has panicked")))
        });
    }
}

/// What a step comes to, None as long as the trial goes on.
fn stepped(trial: &mut Trial, action: Option<Vec<f32>>) -> Option<PyResult<Stepped>> {
    if let Some(Err(error)) = action.map(|action| trial.take(&action)) {
        return Some(Err(error));
    }
    (trial.go_on() == Came::There).then(|| trial.stepped())
}

fn gathered<'py>(py: Python<'py>, turns: &[TrialTurn]) -> PyResult<Arrays<'py>> {
    let n = turns.len();
    let (mut seen, mut rewards, mut ended) = (Vec::new(), Vec::with_capacity(n), Vec::new());
    for turn in turns {
        let mut progress = turn.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stepped) = progress.stepped.take() else {
            unreachable!("every turn has come to its end");
        };
        let stepped = stepped?;
        seen.extend(stepped.observation);
        rewards.push(stepped.reward);
        ended.push(stepped.has_ended);
    }
    let width = seen.len().checked_div(n).unwrap_or(0);
    let seen = PyArray1::from_vec(py, seen).reshape([n, width])?;
    let rewards = PyArray1::from_vec(py, rewards);
    Ok((seen, rewards, PyArray1::from_vec(py, ended)))
}
