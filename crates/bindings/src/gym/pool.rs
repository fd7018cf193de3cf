//! Steps of many trials at once, on threads that stay: to start one takes as long as a step. The calling thread works too,
//! since the others take as long as a step to wake up. The pool is rayon's, whose scopes may borrow.

use super::episode::{Came, Episode, Play};
use crate::scenario::cores_if_none;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Threads for steps of many trials.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Pool {
    /// Beside the calling thread.
    helpers: Option<rayon::ThreadPool>,
}

/// Observations, rewards, and which trials have ended.
type Stepped<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

#[pymethods]
impl Pool {
    /// `jobs` threads; all cores for 0.
    #[new]
    fn new(jobs: usize) -> PyResult<Pool> {
        let helpers = cores_if_none(jobs) - 1;
        let named = |number| format!("step-{number}");
        let pool = || {
            let pool = rayon::ThreadPoolBuilder::new().thread_name(named);
            pool.num_threads(helpers).build()
        };
        let helpers = (helpers > 0).then(pool).transpose();
        let helpers = helpers.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Pool { helpers })
    }

    /// One step of each trial, which has one steered flow: it takes its action, a row of `actions`, unless it begins.
    fn step<'py>(
        &self,
        py: Python<'py>,
        mut episodes: Vec<PyRefMut<'py, Episode>>,
        actions: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Stepped<'py>> {
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
        let mut turns = Vec::with_capacity(episodes.len());
        for (episode, action) in episodes.iter_mut().zip(&actions) {
            if episode.speaks() {
                episode.take_turn(py, action)?;
                continue;
            }
            let play = episode.play();
            let action = play.has_begun().then_some(action.as_slice());
            turns.push(Turn { play, action });
        }
        while py.detach(|| self.go_on(&mut turns))? == Came::OnTheWay {
            py.check_signals()?;
        }
        drop(turns);
        gathered(py, &mut episodes)
    }
}

/// The step of one trial, whose action has not been taken yet.
struct Turn<'a> {
    play: &'a mut Play,
    action: Option<&'a [f32]>,
}

impl Turn<'_> {
    fn go_on(&mut self) -> PyResult<Came> {
        if let Some(action) = self.action.take() {
            self.play.take(action)?;
        }
        Ok(self.play.go_on())
    }
}

impl Pool {
    /// Goes on with each trial; each thread takes the next one when it is done with one.
    fn go_on(&self, turns: &mut [Turn<'_>]) -> PyResult<Came> {
        let helpers = self.helpers.as_ref();
        let most = turns.len().saturating_sub(1);
        let left = Mutex::new(turns.iter_mut());
        let came = Mutex::new(Ok(Came::There));
        let work = || {
            loop {
                let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(turn) = next else { return };
                let one = turn.go_on();
                if !matches!(one, Ok(Came::There)) {
                    let mut all = came.lock().unwrap_or_else(PoisonError::into_inner);
                    if all.is_ok() {
                        *all = one;
                    }
                }
            }
        };
        match helpers {
            None => work(),
            Some(pool) => pool.in_place_scope(|scope| {
                for _ in 0..pool.current_num_threads().min(most) {
                    scope.spawn(|_| work());
                }
                work();
            }),
        }
        came.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gathered<'py>(
    py: Python<'py>,
    episodes: &mut [PyRefMut<'py, Episode>],
) -> PyResult<Stepped<'py>> {
    let n = episodes.len();
    let (mut seen, mut rewards, mut ended) = (Vec::new(), Vec::with_capacity(n), Vec::new());
    for episode in episodes {
        let play = episode.play();
        seen.extend(play.observation(0)?);
        rewards.push(play.reward(0)?);
        ended.push(play.has_ended());
    }
    let width = seen.len().checked_div(n).unwrap_or(0);
    let seen = PyArray1::from_vec(py, seen).reshape([n, width])?;
    let rewards = PyArray1::from_vec(py, rewards);
    Ok((seen, rewards, PyArray1::from_vec(py, ended)))
}
