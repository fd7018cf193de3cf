//! Outcomes as columns.

use crate::columns::dictionary;
use crate::trace::Trace;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_columns::outcomes;
use thalweg_sim::{Finished, FlowSpec, Series};

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
    /// Series in bins of each trial, if the scenario asks for them.
    series: Vec<Option<Series>>,
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
        let series = self.series.get(trial)?.as_ref()?;
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
        let sender = self.series.get(trial)?.as_ref()?.senders.get(flow)?;
        let rtt_s: Vec<f64> = sender.rtt.iter().map(|rtt| rtt.as_secs_f64()).collect();
        Some((
            PyArray1::from_slice(py, &sender.lost),
            PyArray1::from_vec(py, rtt_s),
        ))
    }

    /// Bytes that link number `link` could have transmitted in each bin.
    fn capacity<'py>(&self, py: Python<'py>, trial: usize, link: usize) -> Option<ByteSeries<'py>> {
        let series = self.series.get(trial)?.as_ref()?;
        Some(PyArray1::from_slice(py, series.capacity.get(link)?))
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
    pub(crate) fn new(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Self> {
        Ok(Outcomes {
            flows: dictionary(py, outcomes::flows(specs, trials))?,
            links: dictionary(py, outcomes::links(trials))?,
            trials: dictionary(py, outcomes::trials(trials))?,
            requests: dictionary(py, outcomes::requests(specs, trials))?,
            streams: dictionary(py, outcomes::streams(specs, trials))?,
            series: trials.iter().map(|t| t.outcome.series.clone()).collect(),
        })
    }
}
