//! Scenarios, and the trials of one.

use crate::columns::Columns;
use crate::outcomes::{Outcomes, Trial};
use crate::running::watched;
use crate::trace::Trace;
use crate::{AuditError, Cancelled, ScenarioError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::num::NonZero;
use std::sync::atomic::Ordering;
use std::thread;
use thalweg_sim::{Finished, Measured, Progress, run_traced, run_trials};
use thalweg_units::{Bytes, Duration, Instant};

/// One scenario, checked.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Scenario {
    scenario: thalweg_sim::Scenario,
    /// What is read for real time is not simulated.
    is_live: bool,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario. `file` is the name that errors use.
    #[staticmethod]
    #[pyo3(signature = (text, file, overrides=vec![], controllers=vec![]))]
    fn from_toml(
        text: &[u8],
        file: &str,
        overrides: Vec<(String, String)>,
        controllers: Vec<(String, String)>,
    ) -> PyResult<Self> {
        thalweg_sim::Scenario::from_toml(text, file, &overrides, &controllers)
            .map(Scenario::simulated)
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// Reads a scenario that runs in real time: the kernel's TCP carries its flows, or the QUIC stack.
    #[staticmethod]
    #[pyo3(signature = (text, file, overrides=vec![], controllers=vec![]))]
    fn live_from_toml(
        text: &[u8],
        file: &str,
        overrides: Vec<(String, String)>,
        controllers: Vec<(String, String)>,
    ) -> PyResult<Self> {
        thalweg_live::flows_from_toml(text, file, &overrides, &controllers)
            .map(|scenario| Scenario {
                scenario,
                is_live: true,
            })
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// Reads a scenario of which the path counts and not the flows, whoever is to carry them.
    #[staticmethod]
    #[pyo3(signature = (text, file, overrides=vec![]))]
    fn path_from_toml(text: &[u8], file: &str, overrides: Vec<(String, String)>) -> PyResult<Self> {
        thalweg_live::path_from_toml(text, file, &overrides)
            .map(|scenario| Scenario {
                scenario,
                is_live: true,
            })
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        self.scenario.source.as_deref()
    }

    #[getter]
    fn note(&self) -> Option<&str> {
        self.scenario.note.as_deref()
    }

    /// The scenario as it runs, overrides included.
    #[getter]
    fn toml(&self) -> &str {
        self.scenario.toml()
    }

    /// Per flow: name, controller, workload, start_s, awaited.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (index, spec) in self.scenario.flows.iter().enumerate() {
            let flow = PyDict::new(py);
            flow.set_item("name", &spec.name)?;
            flow.set_item("controller", spec.controller.as_str())?;
            flow.set_item("workload", spec.workload())?;
            flow.set_item("start_s", spec.start.as_secs_f64())?;
            flow.set_item("awaited", self.scenario.is_awaited(index))?;
            list.append(flow)?;
        }
        Ok(list)
    }

    /// Per criterion: flow, metric, column, unit, at_most, floor, source, informative.
    #[getter]
    fn criteria<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for criterion in &self.scenario.criteria {
            let entry = PyDict::new(py);
            entry.set_item("flow", &self.scenario.flows[criterion.flow].name)?;
            entry.set_item("metric", criterion.metric.name())?;
            entry.set_item("stream", &criterion.stream)?;
            entry.set_item("column", criterion.column())?;
            entry.set_item("unit", "s")?;
            entry.set_item("at_most", criterion.at_most.as_secs_f64())?;
            entry.set_item("floor", criterion.floor.map(Duration::as_secs_f64))?;
            entry.set_item("source", &criterion.source)?;
            entry.set_item("informative", criterion.informative)?;
            list.append(entry)?;
        }
        Ok(list)
    }

    /// Floor of the completion of the first flow, in seconds.
    #[getter]
    fn floor_s(&self) -> Option<f64> {
        self.scenario.floor().map(Duration::as_secs_f64)
    }

    /// Simulated time at which a trial ends whatever has finished, in seconds.
    #[getter]
    fn time_limit_s(&self) -> f64 {
        self.scenario.time_limit().as_secs_f64()
    }

    /// One trial with one seed, watched by the auditor if asked.
    #[pyo3(signature = (seed, trace=false, audit=false))]
    fn run(&self, py: Python<'_>, seed: u64, trace: bool, audit: bool) -> PyResult<Trial> {
        self.refuse_live()?;
        let progress = progress(audit);
        let work = || {
            if trace {
                run_traced(&self.scenario, seed, &progress)
                    .map(|(finished, trace)| (finished, Some(trace)))
            } else {
                let finished = run_trials(&self.scenario, &[seed], 1, &progress).pop();
                finished.map(|finished| (finished, None))
            }
        };
        let (played, _) = watched(py, &progress.stop, work, || Ok(()))?;
        refuse_finding(&progress)?;
        let Some((finished, trace)) = played else {
            return Err(cancelled(py, self.outcomes(py, &[])?));
        };
        let trace = trace
            .map(|trace| Py::new(py, Trace::new(py, trace)?))
            .transpose()?;
        let outcomes = self.outcomes(py, &[finished])?;
        Ok(Trial { outcomes, trace })
    }

    /// A trial in real time, as the process that measured it tells: its outcomes, and its trace if it has one.
    fn measured(&self, py: Python<'_>, text: &str, core_s: f64) -> PyResult<Trial> {
        let measured = serde_json::from_str::<Measured>(text);
        let measured = measured.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let finished = Finished {
            index: 0,
            outcome: measured.outcome,
            core: std::time::Duration::from_secs_f64(core_s),
        };
        let trace = measured.trace;
        let trace = trace
            .map(|trace| Py::new(py, Trace::new(py, trace)?))
            .transpose()?;
        let outcomes = self.outcomes(py, &[finished])?;
        Ok(Trial { outcomes, trace })
    }

    /// Probes through the otherwise idle path; per probe sent_ns, echoed_ns, received_ns, -1 for what was lost.
    fn probe(
        &self,
        py: Python<'_>,
        seed: u64,
        interval_ns: u64,
        count: u32,
        payload: u64,
    ) -> PyResult<Py<PyDict>> {
        let interval = Duration::from_nanos(interval_ns);
        let work =
            || thalweg_sim::probe(&self.scenario, seed, interval, count, Bytes::new(payload));
        let probes = py.detach(work);
        let nanos = |at: Option<Instant>| at.map_or(-1, |at| at.as_nanos().cast_signed());
        let columns = Columns::new(py, &probes)
            .count("sent_ns", |probe| probe.sent.as_nanos())?
            .number("echoed_ns", |probe| nanos(probe.echoed))?
            .number("received_ns", |probe| nanos(probe.received))?;
        Ok(columns.finish())
    }

    /// One trial for each seed on `jobs` threads (0: all cores), watched by the auditor if asked.
    #[pyo3(signature = (seeds, jobs=0, on_progress=None, audit=false))]
    fn trials(
        &self,
        py: Python<'_>,
        seeds: Vec<u64>,
        jobs: usize,
        on_progress: Option<Bound<'_, PyAny>>,
        audit: bool,
    ) -> PyResult<Py<Outcomes>> {
        self.refuse_live()?;
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let jobs = if jobs == 0 { cores() } else { jobs };
        let progress = progress(audit);
        let report = || {
            let finished = progress.finished.load(Ordering::Relaxed);
            on_progress
                .as_ref()
                .map_or(Ok(()), |hear| hear.call1((finished,)).map(|_| ()))
        };
        let work = || run_trials(&self.scenario, &seeds, jobs, &progress);
        let (finished, interrupted) = watched(py, &progress.stop, work, report)?;
        refuse_finding(&progress)?;
        let outcomes = self.outcomes(py, &finished)?;
        if interrupted {
            return Err(cancelled(py, outcomes));
        }
        Ok(outcomes)
    }
}

impl Scenario {
    fn simulated(scenario: thalweg_sim::Scenario) -> Scenario {
        Scenario {
            scenario,
            is_live: false,
        }
    }

    fn refuse_live(&self) -> PyResult<()> {
        match self.is_live {
            true => Err(ScenarioError::new_err(
                "this scenario runs in real time only",
            )),
            false => Ok(()),
        }
    }

    fn outcomes(
        &self,
        py: Python<'_>,
        finished: &[thalweg_sim::Finished],
    ) -> PyResult<Py<Outcomes>> {
        Py::new(py, Outcomes::new(py, &self.scenario.flows, finished)?)
    }
}

/// A run that has not begun.
fn progress(audit: bool) -> Progress {
    if audit {
        Progress::audited()
    } else {
        Progress::default()
    }
}

/// Fails if the auditor has found something: there are no outcomes then.
fn refuse_finding(progress: &Progress) -> PyResult<()> {
    match progress.finding.get() {
        Some(finding) => Err(AuditError::new_err(finding.to_string())),
        None => Ok(()),
    }
}

/// The exception of a Ctrl-C, with what is finished.
fn cancelled(py: Python<'_>, outcomes: Py<Outcomes>) -> PyErr {
    let error = Cancelled::new_err("interrupted");
    match error.value(py).setattr("outcomes", outcomes) {
        Ok(()) => error,
        Err(unable) => unable,
    }
}
