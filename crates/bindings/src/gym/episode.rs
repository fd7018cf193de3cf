//! One trial, decided step by step.
//!
//! A step applies an action, lets the trial go on until a flow is to decide, and says what that flow sees and what it is
//! rewarded for since its last decision. The interpreter's lock is released meanwhile, unless controllers in Python steer
//! other flows.

use super::actions::Decision;
use super::features::Seen;
use super::interface::{Choice, Interface};
use crate::controller::{Failure, result_of};
use crate::outcomes::Outcomes;
use crate::scenario::Scenario;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_control::Control;
use thalweg_control::report::{Every, Report};
use thalweg_sim::{Finished, SteeredTrial, Stop};

/// Events between two looks at Ctrl-C: a tenth of a second or less.
const EVENTS: u64 = 200_000;

/// One trial with flows that agents steer.
#[pyclass(module = "thalweg._native")]
pub(crate) struct Episode {
    /// Shared with the threads of a `Pool` during a step. Nobody waits for the lock.
    trial: Arc<Mutex<Trial>>,
    scenario: Py<Scenario>,
    /// Whether controllers in Python take part.
    speaks: bool,
}

/// The trial, without anything of the interpreter.
pub(super) struct Trial {
    /// None once its outcome is known.
    steered: Option<SteeredTrial>,
    choice: Arc<Choice>,
    flows: Vec<Flow>,
    seed: u64,
    /// Whether the first flow was asked.
    has_begun: bool,
    asks: Option<usize>,
    /// What it has decided, until the trial goes on.
    decided: Option<Control>,
    finished: Option<Finished>,
}

/// A flow that an agent steers.
struct Flow {
    decision: Decision,
    /// The last report that asked for a decision; of a flow that has ended, what happened after it.
    report: Report,
}

/// How far a trial has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// Some flow is asked, or the trial has ended.
    There,
    /// Not yet: as many events have been handled as fit between two looks at Ctrl-C.
    OnTheWay,
}

/// What a step comes to for the only steered flow of a trial.
pub(super) struct Stepped {
    pub(super) observation: Vec<f32>,
    pub(super) reward: f64,
    pub(super) has_ended: bool,
}

pub(super) fn open(trial: &Mutex<Trial>) -> MutexGuard<'_, Trial> {
    trial.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Trial {
    /// What is wrong with an action, if one is due and it is not an action.
    pub(super) fn check(&self, actions: &[f32]) -> Result<(), String> {
        match self.has_begun {
            true => self.choice.check(actions),
            false => Ok(()),
        }
    }

    /// Takes the action of the flow that was asked; nothing to take before the first step.
    pub(super) fn take(&mut self, actions: &[f32]) -> PyResult<()> {
        let (Some(trial), Some(asked)) = (&self.steered, self.asks) else {
            return Err(ended());
        };
        let flow = &mut self.flows[asked];
        let path = trial.path(asked);
        flow.decision = self.choice.decision(actions, path, flow.decision)?;
        self.decided = Some(flow.decision.control(trial.control(asked)));
        Ok(())
    }

    /// Goes on until a flow is asked or the trial has ended.
    pub(super) fn go_on(&mut self) -> Came {
        self.has_begun = true;
        let Some(trial) = &mut self.steered else {
            return Came::There;
        };
        if let Some(control) = self.decided.take() {
            self.asks = None;
            trial.decide(control);
        }
        if self.asks.is_some() {
            return Came::There;
        }
        match trial.advance(EVENTS) {
            Stop::Unfinished => Came::OnTheWay,
            Stop::Asks(flow) => {
                // What closed flows were rewarded for last is known now.
                for number in 0..self.flows.len() {
                    if number == flow || trial.is_closed(number) {
                        self.flows[number].report = trial.report(number);
                    }
                }
                self.asks = Some(flow);
                Came::There
            }
            Stop::Ended => {
                for (number, flow) in self.flows.iter_mut().enumerate() {
                    flow.report = trial.report(number);
                }
                self.asks = None;
                Came::There
            }
        }
    }

    /// Gives up a trial that has panicked: what it would say next means nothing.
    pub(super) fn abandon(&mut self) {
        self.steered = None;
        self.asks = None;
    }

    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_begun && self.asks.is_none()
    }

    /// What a flow sees.
    pub(super) fn observation(&self, flow: usize) -> PyResult<Vec<f32>> {
        self.with_seen(flow, |seen| self.choice.observation(seen).collect())
    }

    /// What a flow is rewarded for since its last decision.
    pub(super) fn reward(&self, flow: usize) -> PyResult<f64> {
        self.with_seen(flow, |seen| self.choice.reward(seen))
    }

    pub(super) fn stepped(&self) -> PyResult<Stepped> {
        Ok(Stepped {
            observation: self.observation(0)?,
            reward: self.reward(0)?,
            has_ended: self.has_ended(),
        })
    }

    fn with_seen<T>(&self, flow: usize, of: impl FnOnce(&Seen<'_>) -> T) -> PyResult<T> {
        let (Some(trial), Some(at)) = (&self.steered, self.flows.get(flow)) else {
            return Err(ended());
        };
        Ok(of(&Seen {
            report: &at.report,
            path: trial.path(flow),
            decision: &at.decision,
        }))
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the episode has ended; step() requires reset() first")
}

#[pymethods]
impl Episode {
    /// The trial of a scenario with a seed; `flows` are those that agents steer, by their place in the scenario, and how
    /// often each decides. Raises ValueError for a flow that cannot be steered.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: Py<Scenario>,
        seed: u64,
        flows: Vec<(usize, String)>,
        interface: &Interface,
    ) -> PyResult<Episode> {
        let of = scenario.get();
        of.refuse_live()?;
        let steered: Result<Vec<_>, String> = flows
            .iter()
            .map(|(flow, every)| Every::read(every).map(|every| (*flow, every)))
            .collect();
        let steered = steered.map_err(PyValueError::new_err)?;
        let made = result_of(|| SteeredTrial::new(of.simulation(), seed, &steered));
        let trial = made
            .map_err(|failure| failure.into_error(py, Some(seed)))?
            .map_err(PyValueError::new_err)?;
        let flows = (0..steered.len()).map(|flow| Flow {
            decision: Decision::initial(&trial.control(flow)),
            report: Report::default(),
        });
        let speaks = of.speaks();
        Ok(Episode {
            trial: Arc::new(Mutex::new(Trial {
                flows: flows.collect(),
                steered: Some(trial),
                choice: Arc::clone(&interface.0),
                seed,
                has_begun: false,
                asks: None,
                decided: None,
                finished: None,
            })),
            scenario,
            speaks,
        })
    }

    /// Goes on until the first flow is asked; tells which, -1 if the trial ended before.
    fn begin(&mut self, py: Python<'_>) -> PyResult<i64> {
        self.go_on(py)?;
        Ok(self.asked())
    }

    /// Takes the action of the flow that is asked and goes on until one is asked again; tells which, -1 at the end.
    fn step(&mut self, py: Python<'_>, actions: Vec<f32>) -> PyResult<i64> {
        self.trial().take(&actions)?;
        self.go_on(py)?;
        Ok(self.asked())
    }

    /// The same for a trial with one steered flow: what it sees, its reward, and whether the trial has ended.
    fn step_alone<'py>(
        &mut self,
        py: Python<'py>,
        actions: Vec<f32>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, f64, bool)> {
        self.trial().take(&actions)?;
        self.go_on(py)?;
        let stepped = self.trial().stepped()?;
        let observation = PyArray1::from_vec(py, stepped.observation);
        Ok((observation, stepped.reward, stepped.has_ended))
    }

    /// What a flow sees.
    fn observation<'py>(
        &mut self,
        py: Python<'py>,
        flow: usize,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(PyArray1::from_vec(py, self.trial().observation(flow)?))
    }

    /// What a flow is rewarded for since its last decision.
    fn reward(&mut self, flow: usize) -> PyResult<f64> {
        self.trial().reward(flow)
    }

    /// Every feature of a flow, by the order of `gym_features`.
    fn features(&mut self, flow: usize) -> PyResult<Vec<f64>> {
        self.trial().with_seen(flow, |seen| {
            let all = super::features::FEATURES.iter();
            all.map(|feature| feature.of(seen)).collect()
        })
    }

    /// Whether the connection of a flow has closed.
    fn is_closed(&mut self, flow: usize) -> PyResult<bool> {
        let trial = self.trial();
        Ok(trial.steered.as_ref().ok_or_else(ended)?.is_closed(flow))
    }

    /// Simulated time in seconds.
    #[getter]
    fn now(&mut self) -> PyResult<f64> {
        let trial = self.trial();
        let steered = trial.steered.as_ref().ok_or_else(ended)?;
        Ok(steered.now().as_secs_f64())
    }

    /// The outcome of the trial, which has ended.
    fn outcomes(&mut self, py: Python<'_>) -> PyResult<Py<Outcomes>> {
        let mut trial = open(&self.trial);
        if !trial.has_ended() {
            return Err(PyValueError::new_err("the episode has not ended"));
        }
        if let Some(steered) = trial.steered.take() {
            trial.finished = Some(Finished {
                index: 0,
                outcome: steered.finish(),
                core: std::time::Duration::ZERO,
            });
        }
        let flows = &self.scenario.get().simulation().flows;
        let outcomes = Outcomes::new(py, flows, trial.finished.iter().cloned().collect())?;
        Py::new(py, outcomes)
    }
}

impl Episode {
    /// The trial.
    pub(super) fn trial(&mut self) -> MutexGuard<'_, Trial> {
        open(&self.trial)
    }

    /// The trial, for another thread.
    pub(super) fn shared(&self) -> Arc<Mutex<Trial>> {
        Arc::clone(&self.trial)
    }

    /// The flow that is asked, -1 if the trial has ended.
    fn asked(&mut self) -> i64 {
        self.trial().asks.map_or(-1, |flow| flow as i64)
    }

    /// One step, or the beginning.
    pub(super) fn take_turn(&mut self, py: Python<'_>, actions: &[f32]) -> PyResult<()> {
        if self.trial().has_begun() {
            self.trial().take(actions)?;
        }
        self.go_on(py)
    }

    fn go_on(&mut self, py: Python<'_>) -> PyResult<()> {
        let trial = self.shared();
        let seed = self.trial().seed;
        loop {
            let came = match self.speaks {
                true => result_of(|| open(&trial).go_on()),
                false => Ok(py.detach(|| open(&trial).go_on())),
            };
            match came.map_err(|failure| failed(py, *failure, seed))? {
                Came::There => return Ok(()),
                Came::OnTheWay => py.check_signals()?,
            }
        }
    }

    /// Whether controllers in Python take part: their handlers run one at a time.
    pub(super) fn speaks(&self) -> bool {
        self.speaks
    }
}

/// What a controller in Python has raised; Ctrl-C in its handler is Ctrl-C.
fn failed(py: Python<'_>, failure: Failure, seed: u64) -> PyErr {
    if failure
        .error
        .is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
    {
        return failure.error;
    }
    failure.into_error(py, Some(seed))
}
