//! What an agent sees, what it decides, and what it is rewarded for: chosen by name, once for all episodes.

use super::actions::{Act, Decision, decide};
use super::features::{FEATURES, Feature, Seen, find};
use crate::controller::{Path, Report};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use thalweg_control::PathState;
use thalweg_units::did_you_mean;

/// The choice.
pub(super) struct Choice {
    pub(super) observe: Vec<&'static Feature>,
    pub(super) acts: Vec<Act>,
    pub(super) reward: Vec<(&'static Feature, f64)>,
}

impl Choice {
    pub(super) fn observation<'a>(&'a self, seen: &'a Seen<'a>) -> impl Iterator<Item = f32> + 'a {
        let features = self.observe.iter();
        features.map(|feature| feature.of(seen) as f32)
    }

    pub(super) fn reward(&self, seen: &Seen<'_>) -> f64 {
        let terms = self.reward.iter();
        terms
            .map(|(feature, weight)| weight * feature.of(seen))
            .sum()
    }

    /// What is wrong with actions that are not numbers, or too many or too few.
    pub(super) fn check(&self, actions: &[f32]) -> Result<(), String> {
        let n = self.acts.len();
        if actions.len() == n && actions.iter().all(|action| action.is_finite()) {
            return Ok(());
        }
        let wanted = match n {
            1 => "one finite number".to_owned(),
            n => format!("{n} finite numbers"),
        };
        Err(format!("action = {actions:?}; accepted: {wanted}"))
    }

    /// The decision out of actions. Raises for what is not a number.
    pub(super) fn decision(
        &self,
        actions: &[f32],
        path: &PathState,
        before: Decision,
    ) -> PyResult<Decision> {
        self.check(actions).map_err(PyValueError::new_err)?;
        let actions = actions.iter().map(|action| f64::from(*action));
        Ok(decide(&self.acts, actions, path, before))
    }
}

/// What agents see, decide and are rewarded for.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Interface(pub(super) Arc<Choice>);

#[pymethods]
impl Interface {
    /// Raises ValueError with the names that there are.
    #[new]
    fn new(
        observe: Vec<String>,
        act: Vec<String>,
        reward: Vec<(String, f64)>,
    ) -> PyResult<Interface> {
        let observe: PyResult<Vec<_>> = observe.iter().map(|n| feature("", n)).collect();
        let acts: PyResult<Vec<_>> = act.iter().map(|name| read_act(name)).collect();
        let reward: PyResult<Vec<_>> = reward
            .iter()
            .map(|(name, weight)| Ok((feature("reward: ", name)?, *weight)))
            .collect();
        let acts = acts?;
        let windows = acts.iter().filter(|act| act.is_window()).count();
        if acts.is_empty() || windows > 1 || acts.len() - windows > 1 {
            let problem = format!(
                "act = {act:?}; accepted: one of window_factor and window, one of pacing_factor and pacing, or one of each"
            );
            return Err(PyValueError::new_err(problem));
        }
        Ok(Interface(Arc::new(Choice {
            observe: observe?,
            acts,
            reward: reward?,
        })))
    }

    /// The least and the most of each number that is observed.
    fn observed(&self) -> (Vec<f64>, Vec<f64>) {
        let features = self.0.observe.iter();
        features.map(|feature| (feature.low, feature.high)).unzip()
    }

    /// The least and the most of each action.
    fn acted(&self) -> (Vec<f64>, Vec<f64>) {
        self.0.acts.iter().map(|act| act.range()).unzip()
    }

    /// What is observed at a report.
    fn observation(
        &self,
        report: &Report,
        path: &Path,
        window: f64,
        pacing: Option<f64>,
    ) -> Vec<f32> {
        let decision = Decision { window, pacing };
        let seen = Seen {
            report: &report.0,
            path: &path.path,
            decision: &decision,
        };
        self.0.observation(&seen).collect()
    }

    /// Window and pacing rate after an action.
    fn decision(
        &self,
        actions: Vec<f32>,
        path: &Path,
        window: f64,
        pacing: Option<f64>,
    ) -> PyResult<(f64, Option<f64>)> {
        let before = Decision { window, pacing };
        let after = self.0.decision(&actions, &path.path, before)?;
        Ok((after.window, after.pacing))
    }
}

fn feature(argument: &str, name: &str) -> PyResult<&'static Feature> {
    find(name).ok_or_else(|| {
        let names = || FEATURES.iter().map(|feature| feature.name);
        let accepted = names().collect::<Vec<_>>().join(", ");
        let hint = did_you_mean(name, names());
        PyValueError::new_err(format!(
            "{argument}there is no feature \"{name}\"{hint}; accepted: {accepted}"
        ))
    })
}

fn read_act(name: &str) -> PyResult<Act> {
    let found = Act::ALL.into_iter().find(|act| act.name() == name);
    found.ok_or_else(|| {
        let names = || Act::ALL.iter().map(|act| act.name());
        let accepted = names().collect::<Vec<_>>().join(", ");
        let hint = did_you_mean(name, names());
        PyValueError::new_err(format!(
            "there is no action \"{name}\"{hint}; accepted: {accepted}"
        ))
    })
}

/// What can be observed and rewarded: name and meaning.
#[pyfunction]
pub(crate) fn gym_features() -> Vec<(&'static str, &'static str)> {
    let features = FEATURES.iter();
    features
        .map(|feature| (feature.name, feature.meaning))
        .collect()
}

/// What can be decided: name, meaning and range.
#[pyfunction]
pub(crate) fn gym_actions() -> Vec<(&'static str, &'static str, (f64, f64))> {
    let acts = Act::ALL.into_iter();
    acts.map(|act| (act.name(), act.meaning(), act.range()))
        .collect()
}
