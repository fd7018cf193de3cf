//! A trace as columns.

use crate::columns::{Columns, bits_per_second, seconds};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_path::DropCause;
use thalweg_sim::PacketFate;
use thalweg_units::{Duration, Instant};

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
    /// Turns rows into columns, table by table, and frees the rows of each: a trace can exceed ten megabytes.
    pub(crate) fn new(py: Python<'_>, trace: thalweg_sim::Trace) -> PyResult<Self> {
        let flow = |index: usize| trace.flow_names[index].as_str();
        let link = |index: usize| trace.link_names[index].as_str();
        let flows = Columns::new(py, &trace.senders.samples)
            .number("time_s", |row| at(row.time))?
            .word("flow", |row| flow(row.flow))?
            .word("event", |row| row.event)?
            .count("window_bytes", |row| row.window.as_u64())?
            .count("in_flight_bytes", |row| row.in_flight.as_u64())?
            .number("smoothed_rtt_s", |row| seconds(row.smoothed_rtt))?
            .number("latest_rtt_s", |row| seconds(row.latest_rtt))?
            .number("pacing_bps", |row| bits_per_second(row.pacing))?
            .number("delivery_bps", |row| bits_per_second(row.delivery_rate))?
            .count("delivered_bytes", |row| row.delivered.as_u64())?
            .word("state", |row| row.state)?
            .finish();
        drop(trace.senders.samples);
        let variables = Columns::new(py, &trace.senders.variables)
            .number("time_s", |row| at(row.time))?
            .word("flow", |row| flow(row.flow))?
            .word("variable", |row| row.name)?
            .number("value", |row| row.value)?
            .finish();
        drop(trace.senders.variables);
        let samples = Columns::new(py, &trace.links)
            .number("time_s", |row| at(row.time))?
            .word("link", |row| link(row.link as usize))?
            .number("capacity_bps", |row| bits_per_second(row.capacity))?
            .count("queue_bytes", |row| row.queue_bytes.as_u64())?
            .count("queue_packets", |row| row.queue_packets.into())?
            .number("queue_delay_s", |row| seconds(row.queue_delay))?
            .count("delivered_bytes", |row| row.delivered.as_u64())?
            .count("dropped_packets", |row| row.dropped.into())?
            .count("marked_packets", |row| row.marked.into())?
            .finish();
        drop(trace.links);
        let drops = Columns::new(py, &trace.drops)
            .number("time_s", |row| at(row.time))?
            .word("link", |row| link(row.link))?
            .word("flow", |row| flow(row.flow))?
            .word("reason", |row| reason(row.cause))?
            .finish();
        drop(trace.drops);
        let packets = Columns::new(py, &trace.senders.packets)
            .number("time_s", |row| at(row.1.time))?
            .word("flow", |row| flow(row.0))?
            .word("event", |row| fate(row.1.fate))?
            .count("first_packet", |row| row.1.first)?
            .count("last_packet", |row| row.1.last)?
            .count("size_bytes", |row| row.1.size)?
            .finish();
        drop(trace.senders.packets);
        let held = Columns::new(py, &trace.held)
            .number("time_s", |row| at(row.time))?
            .word("link", |row| link(row.link))?
            .word("flow", |row| flow(row.flow))?
            .number("held_s", |row| row.held.as_secs_f64())?
            .finish();
        let frames = Columns::new(py, &trace.frames)
            .number("time_s", |row| at(row.nominal))?
            .word("flow", |row| flow(row.flow))?
            .word("stream", |row| row.stream.as_str())?
            .number("delay_s", |row| {
                let delay = row.received.map(|received| received - row.nominal);
                delay.map_or(f64::NAN, Duration::as_secs_f64)
            })?
            .number("deadline_s", |row| row.deadline.as_secs_f64())?
            .number("counted", |row| row.counted)?
            .finish();
        Ok(Trace {
            flows,
            variables,
            links: samples,
            drops,
            packets,
            held,
            frames,
        })
    }
}

fn at(time: Instant) -> f64 {
    time.as_secs_f64()
}

fn fate(fate: PacketFate) -> &'static str {
    match fate {
        PacketFate::Sent => "sent",
        PacketFate::Acknowledged => "acknowledged",
        PacketFate::Lost => "lost",
    }
}

fn reason(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Policed => "policer",
        DropCause::Full => "queue",
        DropCause::Early => "aqm",
        DropCause::Shrunk => "shrunk",
        DropCause::Lost => "loss",
    }
}
