//! Outcomes as columns.

use crate::columns::{Columns, bits_per_second, seconds};
use crate::trace::Trace;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_sim::{
    Finished, FlowOutcome, FlowSpec, LinkOutcome, MediaOutcome, RequestOutcome, Series,
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

#[derive(Clone, Copy)]
struct FlowRow<'a> {
    trial: &'a Finished,
    spec: &'a FlowSpec,
    flow: &'a FlowOutcome,
}

struct LinkRow<'a> {
    trial: &'a Finished,
    link: &'a LinkOutcome,
}

struct RequestRow<'a> {
    trial: &'a Finished,
    spec: &'a FlowSpec,
    request: &'a RequestOutcome,
}

struct StreamRow<'a> {
    flow: FlowRow<'a>,
    stream: &'a MediaOutcome,
}

impl Outcomes {
    pub(crate) fn new(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Self> {
        Ok(Outcomes {
            flows: flows(py, specs, trials)?,
            links: links(py, trials)?,
            trials: one_row_each(py, trials)?,
            requests: requests(py, specs, trials)?,
            streams: streams(py, specs, trials)?,
            series: trials.iter().map(|t| t.outcome.series.clone()).collect(),
        })
    }
}

fn flow_rows<'a>(
    specs: &'a [FlowSpec],
    trials: &'a [Finished],
) -> impl Iterator<Item = FlowRow<'a>> {
    trials.iter().flat_map(move |trial| {
        let flows = specs.iter().zip(&trial.outcome.flows);
        flows.map(move |(spec, flow)| FlowRow { trial, spec, flow })
    })
}

fn flows(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<FlowRow<'_>> = flow_rows(specs, trials).collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.trial.index as u64)?
        .number("seed", |row| row.trial.outcome.seed)?
        .word("flow", |row| &row.spec.name)?
        .word("controller", |row| row.spec.controller.as_str())?
        .number("finished", |row| row.flow.completion.is_some())?
        .number("completion_s", |row| seconds(row.flow.completion))?
        .number("closed_s", |row| seconds(row.flow.closed))?
        .number("start_s", |row| seconds(row.flow.start))?
        .count("bytes_delivered", |row| row.flow.bytes_delivered.as_u64())?
        .number("mean_rate_bps", |row| bits_per_second(row.flow.mean_rate))?
        .count("packets_sent", |row| row.flow.packets_sent)?
        .count("packets_lost", |row| row.flow.packets_lost)?
        .count("packets_dropped", |row| row.flow.packets_dropped)?
        .count("packets_lost_at_random", |row| {
            row.flow.packets_lost_at_random
        })?
        .count("packets_marked", |row| row.flow.packets_marked)?
        .count("spurious_losses", |row| row.flow.spurious_losses)?
        .count("timeouts", |row| row.flow.timeouts)?
        .number("loss", |row| loss(row.flow))?
        .number("mean_rtt_s", |row| seconds(row.flow.mean_rtt))?
        .number("min_rtt_s", |row| seconds(row.flow.min_rtt))?
        .number("max_rtt_s", |row| seconds(row.flow.max_rtt))?
        .number("mean_queue_delay_s", |row| {
            seconds(row.flow.mean_queue_delay)
        })?
        .number("mean_jitter_s", |row| seconds(row.flow.mean_jitter))?
        .count("shared_bytes", |row| row.flow.shared_bytes.as_u64())?
        .number("shared_rate_bps", |row| {
            bits_per_second(row.flow.shared_rate)
        })?
        .number("share", |row| row.flow.share.unwrap_or(f64::NAN))?;
    Ok(table.finish())
}

/// Packets declared lost, of those sent; none of a flow that sent nothing.
fn loss(flow: &FlowOutcome) -> f64 {
    match flow.packets_sent {
        0 => f64::NAN,
        sent => flow.packets_lost as f64 / sent as f64,
    }
}

fn links(py: Python<'_>, trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<LinkRow<'_>> = trials
        .iter()
        .flat_map(|trial| {
            let links = trial.outcome.links.iter();
            links.map(move |link| LinkRow { trial, link })
        })
        .collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.trial.index as u64)?
        .number("seed", |row| row.trial.outcome.seed)?
        .word("link", |row| &row.link.name)?
        .count("delivered_packets", |row| row.link.delivered_packets)?
        .count("delivered_bytes", |row| row.link.delivered_bytes.as_u64())?
        .count("dropped_packets", |row| row.link.dropped_packets)?
        .count("lost_packets", |row| row.link.lost_packets)?
        .count("marked_packets", |row| row.link.marked_packets)?
        .number("utilisation", |row| row.link.utilisation)?
        .number("mean_queue_delay_s", |row| {
            seconds(row.link.mean_queue_delay)
        })?
        .count("max_queue_packets", |row| row.link.max_queue_packets)?
        .number("requested_jitter_s", |row| {
            seconds(row.link.requested_jitter)
        })?
        .number("drawn_jitter_s", |row| seconds(row.link.drawn_jitter))?
        .number("experienced_jitter_s", |row| {
            seconds(row.link.experienced_jitter)
        })?
        .number("requested_loss", |row| row.link.requested_loss)?
        .number("realised_loss", |row| row.link.realised_loss)?;
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

fn requests(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<RequestRow<'_>> = trials
        .iter()
        .flat_map(|trial| {
            let requests = trial.outcome.requests.iter();
            requests.map(move |request| RequestRow {
                trial,
                spec: &specs[request.flow],
                request,
            })
        })
        .collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.trial.index as u64)?
        .number("seed", |row| row.trial.outcome.seed)?
        .word("flow", |row| &row.spec.name)?
        .count("request", |row| row.request.request as u64)?
        .number("start_s", |row| seconds(row.request.start))?
        .count("bytes", |row| row.request.bytes.as_u64())?
        .number("completion_s", |row| seconds(row.request.completion))?
        .count("packets_sent", |row| row.request.packets_sent)?
        .count("packets_lost", |row| row.request.packets_lost)?
        .number("mean_rtt_s", |row| seconds(row.request.mean_rtt))?;
    Ok(table.finish())
}

fn streams(py: Python<'_>, specs: &[FlowSpec], trials: &[Finished]) -> PyResult<Py<PyDict>> {
    let rows: Vec<StreamRow<'_>> = flow_rows(specs, trials)
        .flat_map(|row| {
            let streams = row.flow.media.iter();
            streams.map(move |stream| StreamRow { flow: row, stream })
        })
        .collect();
    let table = Columns::new(py, &rows)
        .count("trial", |row| row.flow.trial.index as u64)?
        .number("seed", |row| row.flow.trial.outcome.seed)?
        .word("flow", |row| &row.flow.spec.name)?
        .word("stream", |row| &row.stream.name)?
        .count("frames", |row| row.stream.frames)?
        .number("mean_delay_s", |row| seconds(row.stream.mean_delay))?
        .number("p50_delay_s", |row| seconds(row.stream.p50_delay))?
        .number("p95_delay_s", |row| seconds(row.stream.p95_delay))?
        .number("p99_delay_s", |row| seconds(row.stream.p99_delay))?
        .number("max_delay_s", |row| seconds(row.stream.max_delay))?
        .number("mean_delay_from_start_s", |row| {
            seconds(row.stream.mean_delay_from_start)
        })?
        .number("max_delay_from_start_s", |row| {
            seconds(row.stream.max_delay_from_start)
        })?
        .number("mean_one_way_delay_s", |row| {
            seconds(row.stream.mean_one_way_delay)
        })?
        .count("late", |row| row.stream.late)?
        .count("freezes", |row| row.stream.freezes)?
        .count("skipped", |row| row.stream.skipped)?
        .number("recovery_s", |row| seconds(row.stream.recovery))?;
    Ok(table.finish())
}
