//! Scenarios, and the trials of one.

use crate::columns::dictionary;
use crate::controller::{self, Failure, Named, Speaking};
use crate::outcomes::{Outcomes, Trial, text_of};
use crate::registry;
use crate::running::watched;
use crate::trace::Trace;
use crate::{AuditError, Cancelled, Panicked, ScenarioError, StackFailed, libraries};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread;
use thalweg_columns::outcomes::trace_hash;
use thalweg_columns::{Column, PassageTables, Table, descriptions};
use thalweg_control::Registry;
use thalweg_sim::{
    Finished, Measured, Outcome, Probe, Progress, Watch, run_traced, run_trials, run_watched,
};
use thalweg_units::{Bytes, Duration, Instant};

/// Passages, limits of queues, names of links, the time up to which none is left out, and the hash of the trial.
type Packets = (Py<PyDict>, Py<PyDict>, Vec<String>, f64, String);

/// One scenario, checked.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Scenario {
    scenario: thalweg_sim::Scenario,
    /// Read for real time: it is not simulated.
    is_live: bool,
    /// Whether controllers in Python steer flows: their trials run on one thread, one after the other.
    speaks: bool,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario. `file` is the name that errors use.
    #[staticmethod]
    #[pyo3(signature = (text, file, overrides, controllers, resolve))]
    fn from_toml(
        text: &[u8],
        file: &str,
        overrides: Vec<(String, String)>,
        controllers: Vec<(String, String)>,
        resolve: Py<PyAny>,
    ) -> PyResult<Self> {
        Scenario::read(resolve, false, |registry| {
            let clock = thalweg_sim::Clock::Virtual;
            thalweg_sim::Scenario::read(text, file, &overrides, &controllers, clock, registry)
        })
    }

    /// Reads a scenario that runs in real time: the kernel's TCP carries its flows, or the QUIC stack.
    #[staticmethod]
    #[pyo3(signature = (text, file, overrides, controllers, resolve))]
    fn live_from_toml(
        text: &[u8],
        file: &str,
        overrides: Vec<(String, String)>,
        controllers: Vec<(String, String)>,
        resolve: Py<PyAny>,
    ) -> PyResult<Self> {
        Scenario::read(resolve, true, |registry| {
            thalweg_live::flows_from_toml(text, file, &overrides, &controllers, registry)
        })
    }

    /// Reads a scenario for its path only; its flows may have any stack.
    #[staticmethod]
    #[pyo3(signature = (text, file, overrides, resolve))]
    fn path_from_toml(
        text: &[u8],
        file: &str,
        overrides: Vec<(String, String)>,
        resolve: Py<PyAny>,
    ) -> PyResult<Self> {
        Scenario::read(resolve, true, |registry| {
            thalweg_live::path_from_toml(text, file, &overrides, registry)
        })
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

    /// All that a trial depends on in addition to its seed, as text; controllers in Python only by their names.
    #[getter]
    fn resolved(&self) -> String {
        self.scenario.resolved()
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
            flow.set_item("awaited", self.scenario.has_to_finish(index))?;
            list.append(flow)?;
        }
        Ok(list)
    }

    /// Per criterion: flow, metric, stream, column, unit, at_most, at_least, in, floor, source, informative.
    #[getter]
    fn criteria<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        registry::list(py, &descriptions::criteria(&self.scenario))
    }

    /// Floor of the completion of the first flow, in seconds.
    #[getter]
    fn floor_s(&self) -> Option<f64> {
        self.scenario.floor().map(Duration::as_secs_f64)
    }

    /// Time limit of a trial, in simulated seconds.
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
            self.result_of(seed, || match trace {
                true => run_traced(&self.scenario, seed, &progress)
                    .map(|(finished, trace)| (finished, Some(trace))),
                false => {
                    let finished = run_trials(&self.scenario, &[seed], 1, &progress).pop();
                    finished.map(|finished| (finished, None))
                }
            })
        };
        let (played, interrupted) = watched(py, &progress.stop, || self.spoken(work), || Ok(()))?;
        refuse_finding(&progress)?;
        let played = match played? {
            Ok(played) => played,
            Err(_) if interrupted => None,
            Err(failed) => return Err(failed.into_error(py)),
        };
        let Some((finished, trace)) = played else {
            return Err(cancelled(py, self.outcomes(py, vec![])?));
        };
        let trace = trace
            .map(|trace| Py::new(py, Trace::new(py, trace)?))
            .transpose()?;
        let outcomes = self.outcomes(py, vec![finished])?;
        Ok(Trial { outcomes, trace })
    }

    /// The passages of packets through links in one trial, of at most `most` packets from `from_s` on: their table, the table of
    /// the limits of queues, the names of the links, up to when no packet is left out, in seconds, and the trace hash.
    fn packets(&self, py: Python<'_>, seed: u64, from_s: f64, most: usize) -> PyResult<Packets> {
        self.refuse_live()?;
        let progress = progress(false);
        let watch = Watch::from_seconds(from_s, most);
        let work = || self.result_of(seed, || run_watched(&self.scenario, seed, watch, &progress));
        let (played, interrupted) = watched(py, &progress.stop, || self.spoken(work), || Ok(()))?;
        let (finished, passages) = match played? {
            Ok(Some((finished, passages))) => (finished, PassageTables::from(passages)),
            Err(failed) if !interrupted => return Err(failed.into_error(py)),
            _ => return Err(cancelled(py, self.outcomes(py, vec![])?)),
        };
        let packets = dictionary(py, passages.packets)?;
        let limits = dictionary(py, passages.limits)?;
        let hash = trace_hash(&finished.outcome);
        Ok((packets, limits, passages.links, passages.until_s, hash))
    }

    /// A trial in real time, as its process reports it: its outcomes, and its trace if it has one.
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
        let outcomes = self.outcomes(py, vec![finished])?;
        Ok(Trial { outcomes, trace })
    }

    /// The libraries that are stacks of its flows: path, SHA-256, and what each says of itself.
    #[getter]
    fn libraries(&self) -> Vec<(String, String, libraries::StackInfo)> {
        let found = self.scenario.libraries().into_iter();
        let entry = |of: &thalweg_stacks::Description| {
            let said = of.inspected.clone();
            let said = (said.name, said.version, said.controllers, said.max_streams);
            let path = of.path.to_string_lossy().into_owned();
            (path, of.sha256.clone(), said)
        };
        found.map(entry).collect()
    }

    /// One trial with its trace, as text for another process, which `measured` reads, and the seconds of processor time
    /// that it took.
    fn traced_record(&self, py: Python<'_>, seed: u64, audit: bool) -> PyResult<(String, f64)> {
        self.refuse_live()?;
        let progress = progress(audit);
        let work = || self.result_of(seed, || run_traced(&self.scenario, seed, &progress));
        let played = py.detach(|| catch_unwind(AssertUnwindSafe(|| self.spoken(work))));
        let played = played.map_err(|_| Panicked::new_err("the simulator has panicked"))??;
        refuse_finding(&progress)?;
        let played = played.map_err(|failed| failed.into_error(py))?;
        let (finished, trace) = played.ok_or_else(|| Cancelled::new_err("interrupted"))?;
        let measured = Measured {
            outcome: finished.outcome,
            trace: Some(trace),
        };
        let text = serde_json::to_string(&measured);
        let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((text, finished.core.as_secs_f64()))
    }

    /// One trial without its trace, as text for another process, and the seconds of processor time that it took.
    fn record(&self, py: Python<'_>, seed: u64, audit: bool) -> PyResult<(String, f64)> {
        self.refuse_live()?;
        let progress = progress(audit);
        let work = || {
            self.result_of(seed, || {
                run_trials(&self.scenario, &[seed], 1, &progress).pop()
            })
        };
        // Without a thread of its own, which a trial of a batch is too short for.
        let played = py.detach(|| catch_unwind(AssertUnwindSafe(|| self.spoken(work))));
        let finished = played.map_err(|_| Panicked::new_err("the simulator has panicked"))??;
        refuse_finding(&progress)?;
        let finished = finished.map_err(|failed| failed.into_error(py))?;
        let finished = finished.ok_or_else(|| Cancelled::new_err("interrupted"))?;
        Ok((text_of(&finished.outcome)?, finished.core.as_secs_f64()))
    }

    /// The outcomes of trials that other processes have played, each with its number.
    fn gathered(
        &self,
        py: Python<'_>,
        records: Vec<(usize, String, f64)>,
    ) -> PyResult<Py<Outcomes>> {
        let mut finished = Vec::with_capacity(records.len());
        for (index, text, core_s) in records {
            let outcome = serde_json::from_str::<Outcome>(&text);
            let outcome = outcome.map_err(|error| PyValueError::new_err(error.to_string()))?;
            let flows = self.scenario.flows.len();
            if outcome.flows.len() != flows || outcome.requests.iter().any(|r| r.flow >= flows) {
                return Err(PyValueError::new_err("an outcome of another scenario"));
            }
            let core = std::time::Duration::try_from_secs_f64(core_s);
            finished.push(Finished {
                index,
                outcome,
                core: core.map_err(|error| PyValueError::new_err(error.to_string()))?,
            });
        }
        self.outcomes(py, finished)
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
        let column =
            |value: &dyn Fn(&Probe) -> i64| Column::Counts(probes.iter().map(value).collect());
        let columns = vec![
            ("sent_ns".into(), column(&|probe| nanos(Some(probe.sent)))),
            ("echoed_ns".into(), column(&|probe| nanos(probe.echoed))),
            ("received_ns".into(), column(&|probe| nanos(probe.received))),
        ];
        dictionary(py, Table { columns })
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
        let jobs = cores_if_none(jobs);
        let progress = progress(audit);
        let report = || {
            let finished = progress.finished.load(Ordering::Relaxed);
            on_progress
                .as_ref()
                .map_or(Ok(()), |hear| hear.call1((finished,)).map(|_| ()))
        };
        let work = || match self.speaks {
            true => self.one_by_one(&seeds, &progress),
            false => (run_trials(&self.scenario, &seeds, jobs, &progress), None),
        };
        let (played, interrupted) = watched(py, &progress.stop, || self.spoken(work), report)?;
        refuse_finding(&progress)?;
        let (finished, failed) = played?;
        let outcomes = self.outcomes(py, finished)?;
        match failed {
            _ if interrupted => Err(cancelled(py, outcomes)),
            Some(failed) => Err(failed.into_error(py)),
            None => Ok(outcomes),
        }
    }
}

/// A trial that was ended from within.
struct Failed {
    seed: u64,
    by: Ender,
}

/// What has ended a trial.
enum Ender {
    /// A controller in Python.
    Controller(Box<Failure>),
    /// The library of a stack.
    Stack(Box<thalweg_stacks::Fault>),
}

impl Failed {
    fn into_error(self, py: Python<'_>) -> PyErr {
        match self.by {
            Ender::Controller(failure) => failure.into_error(py, Some(self.seed)),
            Ender::Stack(fault) => StackFailed::new_err((fault.to_string(), self.seed)),
        }
    }
}

impl Scenario {
    /// Reads a scenario with all controllers that there are; `resolve` knows those in Python.
    fn read(
        resolve: Py<PyAny>,
        is_live: bool,
        read: impl FnOnce(&Registry) -> Result<thalweg_sim::Scenario, thalweg_sim::ScenarioError>,
    ) -> PyResult<Self> {
        let named = Named::new(resolve);
        let scenario = read(&controller::registry(&named));
        let mut scenario = scenario.map_err(|error| named.reason(refusal(&error)))?;
        let speaks = named.bind(&mut scenario.flows);
        Ok(Scenario {
            scenario,
            is_live,
            speaks,
        })
    }

    /// Does work on a thread that the interpreter knows, if controllers in Python have a part in it.
    fn spoken<T: Send>(&self, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        match self.speaks {
            true => Speaking::during(work),
            false => Ok(work()),
        }
    }

    /// Plays the trial with `seed`, which a controller or a stack may end.
    fn result_of<T>(&self, seed: u64, play: impl FnOnce() -> T) -> Result<T, Failed> {
        let played = thalweg_stacks::result_of(|| controller::result_of(play));
        let by = match played {
            Ok(Ok(played)) => return Ok(played),
            Ok(Err(failure)) => Ender::Controller(failure),
            Err(fault) => Ender::Stack(fault),
        };
        Err(Failed { seed, by })
    }

    /// Plays trials one after the other, until one fails.
    fn one_by_one(&self, seeds: &[u64], progress: &Progress) -> (Vec<Finished>, Option<Failed>) {
        let mut finished = Vec::with_capacity(seeds.len());
        for (index, seed) in seeds.iter().enumerate() {
            let play = || run_trials(&self.scenario, &[*seed], 1, progress).pop();
            match self.result_of(*seed, play) {
                Ok(Some(played)) => finished.push(Finished { index, ..played }),
                Ok(None) => break,
                Err(failed) => return (finished, Some(failed)),
            }
        }
        (finished, None)
    }

    /// Whether controllers in Python steer flows.
    pub(crate) fn speaks(&self) -> bool {
        self.speaks
    }

    /// What the simulator plays.
    pub(crate) fn simulation(&self) -> &thalweg_sim::Scenario {
        &self.scenario
    }

    pub(crate) fn refuse_live(&self) -> PyResult<()> {
        match self.is_live {
            true => Err(ScenarioError::new_err(
                "this scenario runs in real time only",
            )),
            false => libraries::refuse_here(&self.scenario),
        }
    }

    fn outcomes(&self, py: Python<'_>, finished: Vec<Finished>) -> PyResult<Py<Outcomes>> {
        Py::new(py, Outcomes::new(py, &self.scenario.flows, finished)?)
    }
}

/// This many threads; all cores for 0.
pub(crate) fn cores_if_none(jobs: usize) -> usize {
    match jobs {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        jobs => jobs,
    }
}

/// A run that has not started.
pub(crate) fn progress(audit: bool) -> Progress {
    if audit {
        Progress::audited()
    } else {
        Progress::default()
    }
}

/// Fails if the auditor found something; there are no outcomes then.
pub(crate) fn refuse_finding(progress: &Progress) -> PyResult<()> {
    match progress.finding.get() {
        Some(finding) => Err(AuditError::new_err(finding.to_string())),
        None => Ok(()),
    }
}

/// The exception for Ctrl-C, with the finished trials.
fn cancelled(py: Python<'_>, outcomes: Py<Outcomes>) -> PyErr {
    let error = Cancelled::new_err("interrupted");
    match error.value(py).setattr("outcomes", outcomes) {
        Ok(()) => error,
        Err(unable) => unable,
    }
}

/// The exception of a refusal: its message, and as attributes `origin` (the file, or the option), `line` and `key`.
pub(crate) fn refusal(error: &thalweg_sim::ScenarioError) -> PyErr {
    let refused = ScenarioError::new_err(error.to_string());
    Python::attach(|py| {
        let value = refused.value(py);
        // An exception that was just made takes attributes.
        let _ = value.setattr("origin", &error.origin);
        let _ = value.setattr("line", error.line);
        let _ = value.setattr("key", error.key.as_deref());
    });
    refused
}
