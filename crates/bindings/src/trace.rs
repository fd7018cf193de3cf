//! A trace as columns.

use crate::columns::dictionary;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_columns::{TraceTables, qlog};

/// Time series of one trial.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Trace {
    /// Samples of flows.
    #[pyo3(get)]
    flows: Py<PyDict>,
    /// Variables of controllers.
    #[pyo3(get)]
    variables: Py<PyDict>,
    /// Samples of links.
    #[pyo3(get)]
    links: Py<PyDict>,
    /// Drops.
    #[pyo3(get)]
    drops: Py<PyDict>,
    /// The fate of each packet.
    #[pyo3(get)]
    packets: Py<PyDict>,
    /// Packets that links held back.
    #[pyo3(get)]
    held: Py<PyDict>,
    /// Frames of calls.
    #[pyo3(get)]
    frames: Py<PyDict>,
}

impl Trace {
    pub(crate) fn new(py: Python<'_>, trace: thalweg_sim::Trace) -> PyResult<Self> {
        let tables = TraceTables::from(trace);
        Ok(Trace {
            flows: dictionary(py, tables.flows)?,
            variables: dictionary(py, tables.variables)?,
            links: dictionary(py, tables.links)?,
            drops: dictionary(py, tables.drops)?,
            packets: dictionary(py, tables.packets)?,
            held: dictionary(py, tables.held)?,
            frames: dictionary(py, tables.frames)?,
        })
    }
}

/// A trace, its tables in JSON, as qlog: of the current drafts if `sequence`, else in the older form that qvis reads.
#[pyfunction]
pub(crate) fn qlog_of(
    py: Python<'_>,
    trace: &str,
    vantage: &str,
    sequence: bool,
) -> PyResult<String> {
    py.detach(|| qlog::written(trace, vantage, sequence).map_err(PyValueError::new_err))
}
