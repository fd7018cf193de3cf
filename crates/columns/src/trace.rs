//! The trace of a trial: tables of samples and of events.

use crate::table::{Columns, Table};
use thalweg_path::DropCause;
use thalweg_sim::{PacketFate, Trace};
use thalweg_units::{Duration, Instant};

/// The tables of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceTables {
    /// Samples of flows.
    pub flows: Table,
    /// Variables of controllers.
    pub variables: Table,
    /// Samples of links.
    pub links: Table,
    /// Drops.
    pub drops: Table,
    /// The fate of each packet.
    pub packets: Table,
    /// Packets that links held back.
    pub held: Table,
    /// Frames of calls.
    pub frames: Table,
}

impl From<Trace> for TraceTables {
    /// Turns rows into columns, table by table, and frees the rows of each: a trace can exceed ten megabytes.
    fn from(trace: Trace) -> Self {
        let flow = |index: usize| trace.flow_names[index].as_str();
        let link = |index: usize| trace.link_names[index].as_str();
        let flows = Columns::new(&trace.senders.samples)
            .float("time_s", |row| at(row.time))
            .word("flow", |row| flow(row.flow))
            .word("event", |row| row.event)
            .count("window_bytes", |row| row.window.as_u64())
            .float("in_flight_bytes", |row| {
                row.in_flight
                    .map_or(f64::NAN, |bytes| bytes.as_u64() as f64)
            })
            .seconds("smoothed_rtt_s", |row| row.smoothed_rtt)
            .seconds("latest_rtt_s", |row| row.latest_rtt)
            .rate("pacing_bps", |row| row.pacing)
            .rate("delivery_bps", |row| row.delivery_rate)
            .count("delivered_bytes", |row| row.delivered.as_u64())
            .word("state", |row| row.state)
            .word("limited", |row| row.limited)
            .finish();
        drop(trace.senders.samples);
        let variables = Columns::new(&trace.senders.variables)
            .float("time_s", |row| at(row.time))
            .word("flow", |row| flow(row.flow))
            .word("variable", |row| row.name)
            .float("value", |row| row.value)
            .finish();
        drop(trace.senders.variables);
        let links = Columns::new(&trace.links)
            .float("time_s", |row| at(row.time))
            .word("link", |row| link(row.link as usize))
            .rate("capacity_bps", |row| row.capacity)
            .count("queue_bytes", |row| row.queue_bytes.as_u64())
            .count("queue_packets", |row| row.queue_packets.into())
            .float("queue_delay_s", |row| endless(row.queue_delay))
            .count("delivered_bytes", |row| row.delivered.as_u64())
            .count("dropped_packets", |row| row.dropped.into())
            .count("marked_packets", |row| row.marked.into())
            .finish();
        drop(trace.links);
        let drops = Columns::new(&trace.drops)
            .float("time_s", |row| at(row.time))
            .word("link", |row| link(row.link))
            .word("flow", |row| flow(row.flow))
            .word("reason", |row| reason(row.cause))
            .finish();
        drop(trace.drops);
        let packets = Columns::new(&trace.senders.packets)
            .float("time_s", |row| at(row.1.time))
            .word("flow", |row| flow(row.0))
            .word("event", |row| fate(row.1.fate))
            .count("first_packet", |row| row.1.first)
            .count("last_packet", |row| row.1.last)
            .count("size_bytes", |row| row.1.size)
            .finish();
        drop(trace.senders.packets);
        let held = Columns::new(&trace.held)
            .float("time_s", |row| at(row.time))
            .word("link", |row| link(row.link))
            .word("flow", |row| flow(row.flow))
            .float("held_s", |row| row.held.as_secs_f64())
            .finish();
        let frames = Columns::new(&trace.frames)
            .float("time_s", |row| at(row.nominal))
            .word("flow", |row| flow(row.flow))
            .word("stream", |row| row.stream.as_str())
            .float("delay_s", |row| {
                let delay = row.received.map(|received| received - row.nominal);
                delay.map_or(f64::NAN, Duration::as_secs_f64)
            })
            .float("deadline_s", |row| row.deadline.as_secs_f64())
            .float("frozen_s", |row| {
                row.frozen.map_or(f64::NAN, Duration::as_secs_f64)
            })
            .truth("counted", |row| row.counted)
            .rate("encoder_bps", |row| row.encoder)
            .rate("told_bps", |row| row.told)
            .finish();
        TraceTables {
            flows,
            variables,
            links,
            drops,
            packets,
            held,
            frames,
        }
    }
}

/// Seconds of a wait; of one in a link without capacity nobody knows the end.
fn endless(wait: Duration) -> f64 {
    match wait {
        Duration::MAX => f64::INFINITY,
        wait => wait.as_secs_f64(),
    }
}

pub(crate) fn at(time: Instant) -> f64 {
    time.as_secs_f64()
}

fn fate(fate: PacketFate) -> &'static str {
    match fate {
        PacketFate::Sent => "sent",
        PacketFate::Acknowledged => "acknowledged",
        PacketFate::Lost => "lost",
    }
}

pub(crate) fn reason(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Policed => "policer",
        DropCause::Full => "queue",
        DropCause::Early => "aqm",
        DropCause::Filtered => "ack-filter",
        DropCause::Shrunk => "shrunk",
        DropCause::Flushed => "flushed",
        DropCause::Lost => "loss",
    }
}
