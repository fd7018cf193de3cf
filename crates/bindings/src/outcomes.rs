//! Outcomes as columns.

use crate::columns::dictionary;
use crate::trace::Trace;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_columns::outcomes;
use thalweg_sim::{Finished, FlowSpec, Outcome, Series};

/// Outcomes of a number of trials, as columns.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Outcomes {
    /// One row for each trial and flow.
    #[pyo3(get)]
    flows: Py<PyDict>,
    /// One row for each trial and link.
    #[pyo3(get)]
    links: Py<PyDict>,
    /// One row for each trial.
    #[pyo3(get)]
    trials: Py<PyDict>,
    /// One row for each trial, flow of requests and request.
    #[pyo3(get)]
    requests: Py<PyDict>,
    /// One row for each trial, flow and stream of media.
    #[pyo3(get)]
    streams: Py<PyDict>,
    /// What the columns are made of.
    finished: Vec<Finished>,
}

#[pymethods]
impl Outcomes {
    /// Length of a bin in seconds, and the bytes sent and received by flow number `flow` in each bin.
    fn series<'py>(
        &self,
        py: Python<'py>,
        trial: usize,
        flow: usize,
    ) -> Option<(f64, ByteSeries<'py>, ByteSeries<'py>)> {
        let series = self.series_of(trial)?;
        let flow = series.flows.get(flow)?;
        Some((
            series.every.as_secs_f64(),
            PyArray1::from_slice(py, &flow.sent),
            PyArray1::from_slice(py, &flow.received),
        ))
    }

    /// Packets that the senders of flow number `flow` declared lost in each bin, and their largest RTT sample in seconds.
    fn sender_series<'py>(
        &self,
        py: Python<'py>,
        trial: usize,
        flow: usize,
    ) -> Option<(ByteSeries<'py>, Bound<'py, PyArray1<f64>>)> {
        let sender = self.series_of(trial)?.senders.get(flow)?;
        let rtt_s: Vec<f64> = sender.rtt.iter().map(|rtt| rtt.as_secs_f64()).collect();
        Some((
            PyArray1::from_slice(py, &sender.lost),
            PyArray1::from_vec(py, rtt_s),
        ))
    }

    /// Bytes that link number `link` could have transmitted in each bin.
    fn capacity<'py>(&self, py: Python<'py>, trial: usize, link: usize) -> Option<ByteSeries<'py>> {
        let series = self.series_of(trial)?;
        Some(PyArray1::from_slice(py, series.capacity.get(link)?))
    }

    /// The trials as texts that lose nothing, each with its seed and the seconds of processor time that it took:
    /// `Scenario.gathered` makes outcomes of them again.
    fn records(&self) -> PyResult<Vec<(u64, String, f64)>> {
        let record = |trial: &Finished| {
            let text = text_of(&trial.outcome)?;
            Ok((trial.outcome.seed, text, trial.core.as_secs_f64()))
        };
        self.finished.iter().map(record).collect()
    }
}

type ByteSeries<'py> = Bound<'py, PyArray1<u64>>;

/// One trial: its outcomes and its trace, if it was asked for.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Trial {
    /// Its outcomes.
    #[pyo3(get)]
    pub(crate) outcomes: Py<Outcomes>,
    /// Its time series.
    #[pyo3(get)]
    pub(crate) trace: Option<Py<Trace>>,
}

impl Outcomes {
    pub(crate) fn new(
        py: Python<'_>,
        specs: &[FlowSpec],
        finished: Vec<Finished>,
    ) -> PyResult<Self> {
        Ok(Outcomes {
            flows: dictionary(py, outcomes::flows(specs, &finished))?,
            links: dictionary(py, outcomes::links(&finished))?,
            trials: dictionary(py, outcomes::trials(&finished))?,
            requests: dictionary(py, outcomes::requests(specs, &finished))?,
            streams: dictionary(py, outcomes::streams(specs, &finished))?,
            finished,
        })
    }

    fn series_of(&self, trial: usize) -> Option<&Series> {
        self.finished.get(trial)?.outcome.series.as_ref()
    }
}

/// An outcome as text that loses nothing.
pub(crate) fn text_of(outcome: &Outcome) -> PyResult<String> {
    serde_json::to_string(outcome).map_err(|error| PyValueError::new_err(error.to_string()))
}
