//! Outcomes as columns.

use crate::columns::{Columns, bits_per_second, seconds};
use crate::trace::Trace;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_sim::{
    Finished, FlowOutcome, FlowSpec, LinkOutcome, MediaOutcome, RequestOutcome, Series, column_name,
};

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

struct FlowRow<'a> {
    trial: &'a Finished,
    spec: &'a FlowSpec,
    is: &'a FlowOutcome,
}

struct LinkRow<'a> {
    trial: &'a Finished,
    is: &'a LinkOutcome,
}

impl Outcomes {
    pub(crate) fn new(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Self> {
        Ok(Outcomes {
            flows: flows(py, specs, trials)?,
            links: links(py, trials)?,
            trials: one_row_each(py, trials)?,
            requests: requests(py, specs, trials)?,
            series: trials.iter().map(|t| t.outcome.series.clone()).collect(),
        })
    }
}

fn flows(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<FlowRow<'_>> = trials
        .iter()
        .flat_map(|trial| {
            let flows = specs.iter().zip(&trial.outcome.flows);
            flows.map(move |(spec, is)| FlowRow { trial, spec, is })
        })
        .collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.trial.index as u64)?
        .number("seed", |row| row.trial.outcome.seed)?
        .word("flow", |row| &row.spec.name)?
        .word("controller", |row| row.spec.controller.as_str())?
        .number("finished", |row| row.is.completion.is_some())?
        .number("completion_s", |row| seconds(row.is.completion))?
        .number("closed_s", |row| seconds(row.is.closed))?
        .number("start_s", |row| seconds(row.is.start))?
        .count("bytes_delivered", |row| row.is.bytes_delivered.as_u64())?
        .number("mean_rate_bps", |row| bits_per_second(row.is.mean_rate))?
        .count("packets_sent", |row| row.is.packets_sent)?
        .count("packets_lost", |row| row.is.packets_lost)?
        .count("packets_dropped", |row| row.is.packets_dropped)?
        .count("packets_lost_at_random", |row| {
            row.is.packets_lost_at_random
        })?
        .count("packets_marked", |row| row.is.packets_marked)?
        .count("spurious_losses", |row| row.is.spurious_losses)?
        .count("timeouts", |row| row.is.timeouts)?
        .number("mean_rtt_s", |row| seconds(row.is.mean_rtt))?
        .number("min_rtt_s", |row| seconds(row.is.min_rtt))?
        .number("max_rtt_s", |row| seconds(row.is.max_rtt))?
        .number("mean_queue_delay_s", |row| seconds(row.is.mean_queue_delay))?
        .number("mean_jitter_s", |row| seconds(row.is.mean_jitter))?
        .count("shared_bytes", |row| row.is.shared_bytes.as_u64())?
        .number("shared_rate_bps", |row| bits_per_second(row.is.shared_rate))?
        .number("share", |row| row.is.share.unwrap_or(f64::NAN))?;
    Ok(media(table, &rows)?.finish())
}

/// Columns of each stream of media, `<stream>_<number>`; rows of flows without it have no values there.
fn media<'a, 'py>(
    mut table: Columns<'a, 'py, FlowRow<'a>>,
    rows: &'a [FlowRow<'a>],
) -> PyResult<Columns<'a, 'py, FlowRow<'a>>> {
    let mut names: Vec<&str> = Vec::new();
    for stream in rows.iter().flat_map(|row| &row.is.media) {
        if !names.contains(&stream.name.as_str()) {
            names.push(&stream.name);
        }
    }
    for name in names {
        for (place, (number, _)) in MediaOutcome::default().columns().into_iter().enumerate() {
            let column = format!("{}_{number}", column_name(name));
            table = table.number(&column, |row| {
                let media = row.is.media.iter().find(|media| media.name == name);
                media.map_or(f64::NAN, |media| media.columns()[place].1)
            })?;
        }
    }
    Ok(table)
}

fn links(py: Python<'_>, trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<LinkRow<'_>> = trials
        .iter()
        .flat_map(|trial| {
            let links = trial.outcome.links.iter();
            links.map(move |is| LinkRow { trial, is })
        })
        .collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.trial.index as u64)?
        .number("seed", |row| row.trial.outcome.seed)?
        .word("link", |row| &row.is.name)?
        .count("delivered_packets", |row| row.is.delivered_packets)?
        .count("delivered_bytes", |row| row.is.delivered_bytes.as_u64())?
        .count("dropped_packets", |row| row.is.dropped_packets)?
        .count("lost_packets", |row| row.is.lost_packets)?
        .count("marked_packets", |row| row.is.marked_packets)?
        .number("utilisation", |row| row.is.utilisation)?
        .number("mean_queue_delay_s", |row| seconds(row.is.mean_queue_delay))?
        .count("max_queue_packets", |row| row.is.max_queue_packets)?
        .number("requested_jitter_s", |row| seconds(row.is.requested_jitter))?
        .number("drawn_jitter_s", |row| seconds(row.is.drawn_jitter))?
        .number("experienced_jitter_s", |row| {
            seconds(row.is.experienced_jitter)
        })?
        .number("requested_loss", |row| row.is.requested_loss)?
        .number("realised_loss", |row| row.is.realised_loss)?;
    Ok(table.finish())
}

fn one_row_each(py: Python<'_>, trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let table = Columns::new(py, trials)
        .count("trial", |row| row.index as u64)?
        .number("seed", |row| row.outcome.seed)?
        .number("end_s", |row| seconds(row.outcome.end))?
        .count("events", |row| row.outcome.events)?
        .count("packets", |row| row.outcome.packets)?
        .number("overlap_s", |row| seconds(row.outcome.overlap))?
        .number("jain", |row| row.outcome.jain.unwrap_or(f64::NAN))?
        .number("core_s", |row| row.core.as_secs_f64())?
        .text("trace_hash", |row| {
            let hash = row.outcome.trace_hash;
            hash.map_or_else(String::new, |hash| format!("{hash:016x}"))
        })?;
    Ok(table.finish())
}

struct RequestRow<'a> {
    trial: &'a Finished,
    spec: &'a FlowSpec,
    is: &'a RequestOutcome,
}

fn requests(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<RequestRow<'_>> = trials
        .iter()
        .flat_map(|trial| {
            trial.outcome.requests.iter().map(move |is| RequestRow {
                trial,
                spec: &specs[is.flow],
                is,
            })
        })
        .collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.trial.index as u64)?
        .number("seed", |row| row.trial.outcome.seed)?
        .word("flow", |row| &row.spec.name)?
        .count("request", |row| row.is.request as u64)?
        .number("start_s", |row| seconds(row.is.start))?
        .count("bytes", |row| row.is.bytes.as_u64())?
        .number("completion_s", |row| seconds(row.is.completion))?
        .count("packets_sent", |row| row.is.packets_sent)?
        .count("packets_lost", |row| row.is.packets_lost)?
        .number("mean_rtt_s", |row| seconds(row.is.mean_rtt))?;
    Ok(table.finish())
}
