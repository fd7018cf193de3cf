//! Outcomes of trials: the tables of flows, links, trials, requests and streams.

use crate::table::{Columns, Table};
use std::collections::BTreeSet;
use thalweg_sim::{
    Finished, FlowOutcome, FlowSpec, LimitedBy, LinkOutcome, MediaOutcome, MediumOutcome, Outcome,
    RequestOutcome,
};

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

fn flow_rows<'a>(
    specs: &'a [FlowSpec],
    trials: &'a [Finished],
) -> impl Iterator<Item = FlowRow<'a>> {
    trials.iter().flat_map(move |trial| {
        let flows = specs.iter().zip(&trial.outcome.flows);
        flows.map(move |(spec, flow)| FlowRow { trial, spec, flow })
    })
}

/// One row for each trial and flow.
pub fn flows(specs: &[FlowSpec], trials: &[Finished]) -> Table {
    let rows: Vec<FlowRow<'_>> = flow_rows(specs, trials).collect();
    Columns::new(&rows)
        .count("trial", |row| row.trial.index as u64)
        .seed("seed", |row| row.trial.outcome.seed)
        .word("flow", |row| &row.spec.name)
        .word("controller", |row| row.spec.controller.as_str())
        .truth("finished", |row| row.flow.completion.is_some())
        .seconds("completion_s", |row| row.flow.completion)
        .seconds("closed_s", |row| row.flow.closed)
        .seconds("start_s", |row| row.flow.start)
        .count("bytes_delivered", |row| row.flow.bytes_delivered.as_u64())
        .rate("mean_rate_bps", |row| row.flow.mean_rate)
        .count("packets_sent", |row| row.flow.packets_sent)
        .count("packets_lost", |row| row.flow.packets_lost)
        .count("packets_dropped", |row| row.flow.packets_dropped)
        .count("packets_policed", |row| row.flow.packets_policed)
        .count("packets_lost_at_random", |row| {
            row.flow.packets_lost_at_random
        })
        .count("packets_marked", |row| row.flow.packets_marked)
        .count("spurious_losses", |row| row.flow.spurious_losses)
        .count("timeouts", |row| row.flow.timeouts)
        .float("loss", |row| of_sent(row.flow, row.flow.packets_lost))
        .seconds("mean_rtt_s", |row| row.flow.mean_rtt)
        .seconds("min_rtt_s", |row| row.flow.min_rtt)
        .seconds("max_rtt_s", |row| row.flow.max_rtt)
        .count("trips", |row| u64::from(row.flow.tripped.is_some()))
        .seconds("tripped_s", |row| row.flow.tripped.map(|(at, _)| at))
        .word("tripped_by", |row| {
            row.flow.tripped.map_or("", |(_, rule)| rule.name())
        })
        .seconds("mean_queue_delay_s", |row| row.flow.mean_queue_delay)
        .seconds("mean_jitter_s", |row| row.flow.mean_jitter)
        .count("shared_bytes", |row| row.flow.shared_bytes.as_u64())
        .rate("shared_rate_bps", |row| row.flow.shared_rate)
        .float("share", |row| row.flow.share.unwrap_or(f64::NAN))
        .seconds("event_rtt_s", |row| row.flow.event_rtt)
        .seconds("event_rtt_high_s", |row| row.flow.event_rtt_high)
        .float("load", |row| row.flow.load.unwrap_or(f64::NAN))
        .seconds("starvation_s", |row| row.flow.starvation)
        .seconds("convergence_s", |row| row.flow.convergence)
        .float("oscillation", |row| {
            row.flow.oscillation.unwrap_or(f64::NAN)
        })
        .float("utilisation", |row| {
            row.flow.utilisation.unwrap_or(f64::NAN)
        })
        .float("drops", |row| of_sent(row.flow, row.flow.packets_dropped))
        .float("marks", |row| of_sent(row.flow, row.flow.packets_marked))
        .float("spurious_loss", |row| {
            of_sent(row.flow, row.flow.spurious_losses)
        })
        .float("probe_bytes", |row| {
            let bytes = row.flow.probe_bytes;
            bytes.map_or(f64::NAN, |bytes| bytes.as_u64() as f64)
        })
        .seconds("frame_delay_s", |row| row.flow.frame_delay)
        .seconds("max_frame_delay_s", |row| row.flow.max_frame_delay)
        .seconds("p95_queue_delay_s", |row| row.flow.p95_queue_delay)
        .seconds("p99_queue_delay_s", |row| row.flow.p99_queue_delay)
        .floats(limited(&rows))
        .floats(watched(&rows))
        .finish()
}

/// The share of its time in which each limit held a sender back.
fn limited(rows: &[FlowRow<'_>]) -> Vec<(String, Vec<f64>)> {
    let limits = LimitedBy::ALL.iter().enumerate();
    let column = |(place, by): (usize, &LimitedBy)| {
        let share = |row: &FlowRow<'_>| row.flow.limited.map_or(f64::NAN, |shares| shares[place]);
        (by.column(), rows.iter().map(share).collect())
    };
    limits.map(column).collect()
}

/// What criteria look at in controllers: a column for each, in which other flows have no number.
fn watched(rows: &[FlowRow<'_>]) -> Vec<(String, Vec<f64>)> {
    let first = rows.first().map(|row| row.trial.index);
    let of_one_trial = rows.iter().take_while(|row| Some(row.trial.index) == first);
    let names = of_one_trial.flat_map(|row| row.flow.watched.iter().map(|(name, _)| name));
    let names: BTreeSet<&String> = names.collect();
    let value = |row: &FlowRow<'_>, name: &str| {
        let own = row.flow.watched.iter().find(|(known, _)| known == name);
        own.and_then(|(_, value)| *value).unwrap_or(f64::NAN)
    };
    let columns = names.into_iter();
    columns
        .map(|name| {
            (
                name.clone(),
                rows.iter().map(|row| value(row, name)).collect(),
            )
        })
        .collect()
}

/// Some packets, of those that a flow sent; not a number if it sent none.
fn of_sent(flow: &FlowOutcome, packets: u64) -> f64 {
    match flow.packets_sent {
        0 => f64::NAN,
        sent => packets as f64 / sent as f64,
    }
}

/// One row for each trial and link.
pub fn links(trials: &[Finished]) -> Table {
    let rows: Vec<LinkRow<'_>> = trials
        .iter()
        .flat_map(|trial| {
            let links = trial.outcome.links.iter();
            links.map(move |link| LinkRow { trial, link })
        })
        .collect();
    Columns::new(&rows)
        .count("trial", |row| row.trial.index as u64)
        .seed("seed", |row| row.trial.outcome.seed)
        .word("link", |row| &row.link.name)
        .count("delivered_packets", |row| row.link.delivered_packets)
        .count("delivered_bytes", |row| row.link.delivered_bytes.as_u64())
        .count("dropped_packets", |row| row.link.dropped_packets)
        .count("policed_packets", |row| row.link.policed_packets)
        .count("lost_packets", |row| row.link.lost_packets)
        .count("marked_packets", |row| row.link.marked_packets)
        .float("utilisation", |row| row.link.utilisation)
        .seconds("mean_queue_delay_s", |row| row.link.mean_queue_delay)
        .count("max_queue_packets", |row| row.link.max_queue_packets)
        .seconds("requested_jitter_s", |row| row.link.requested_jitter)
        .seconds("drawn_jitter_s", |row| row.link.drawn_jitter)
        .seconds("experienced_jitter_s", |row| row.link.experienced_jitter)
        .float("requested_loss", |row| row.link.requested_loss)
        .float("realised_loss", |row| row.link.realised_loss)
        .float("airtime", |row| of_medium(row, |all| Some(all.airtime)))
        .float("airtime_of_neighbours", |row| {
            of_medium(row, |all| Some(all.neighbours))
        })
        .float("airtime_of_several", |row| {
            of_medium(row, |all| Some(all.several))
        })
        .float("airtime_idle", |row| of_medium(row, |all| Some(all.idle)))
        .float("failed_attempts", |row| {
            of_medium(row, |all| all.failed_attempts)
        })
        .finish()
}

/// A number of the medium of a link; not a number if no stations contend for it.
fn of_medium(row: &LinkRow<'_>, number: impl Fn(&MediumOutcome) -> Option<f64>) -> f64 {
    row.link
        .medium
        .as_ref()
        .and_then(number)
        .unwrap_or(f64::NAN)
}

/// One row for each trial.
pub fn trials(trials: &[Finished]) -> Table {
    Columns::new(trials)
        .count("trial", |row| row.index as u64)
        .seed("seed", |row| row.outcome.seed)
        .seconds("end_s", |row| row.outcome.end)
        .count("events", |row| row.outcome.events)
        .count("packets", |row| row.outcome.packets)
        .seconds("overlap_s", |row| row.outcome.overlap)
        .float("jain", |row| row.outcome.jain.unwrap_or(f64::NAN))
        .float("core_s", |row| row.core.as_secs_f64())
        .text("trace_hash", |row| trace_hash(&row.outcome))
        .finish()
}

/// The hash over every arrival of a trial, as its column has it; empty if it has none.
pub fn trace_hash(outcome: &Outcome) -> String {
    let hash = outcome.trace_hash;
    hash.map_or_else(String::new, |hash| format!("{hash:016x}"))
}

/// One row for each trial, flow of requests and request.
pub fn requests(specs: &[FlowSpec], trials: &[Finished]) -> Table {
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
    Columns::new(&rows)
        .count("trial", |row| row.trial.index as u64)
        .seed("seed", |row| row.trial.outcome.seed)
        .word("flow", |row| &row.spec.name)
        .count("request", |row| row.request.request as u64)
        .seconds("start_s", |row| row.request.start)
        .count("bytes", |row| row.request.bytes.as_u64())
        .seconds("completion_s", |row| row.request.completion)
        .count("packets_sent", |row| row.request.packets_sent)
        .count("packets_lost", |row| row.request.packets_lost)
        .seconds("mean_rtt_s", |row| row.request.mean_rtt)
        .finish()
}

/// One row for each trial, flow and stream of media.
pub fn streams(specs: &[FlowSpec], trials: &[Finished]) -> Table {
    let rows: Vec<StreamRow<'_>> = flow_rows(specs, trials)
        .flat_map(|row| {
            let streams = row.flow.media.iter();
            streams.map(move |stream| StreamRow { flow: row, stream })
        })
        .collect();
    Columns::new(&rows)
        .count("trial", |row| row.flow.trial.index as u64)
        .seed("seed", |row| row.flow.trial.outcome.seed)
        .word("flow", |row| &row.flow.spec.name)
        .word("stream", |row| &row.stream.name)
        .count("frames", |row| row.stream.frames)
        .seconds("mean_delay_s", |row| row.stream.mean_delay)
        .seconds("p50_delay_s", |row| row.stream.p50_delay)
        .seconds("p95_delay_s", |row| row.stream.p95_delay)
        .seconds("p99_delay_s", |row| row.stream.p99_delay)
        .seconds("max_delay_s", |row| row.stream.max_delay)
        .seconds("mean_delay_from_start_s", |row| {
            row.stream.mean_delay_from_start
        })
        .seconds("max_delay_from_start_s", |row| {
            row.stream.max_delay_from_start
        })
        .seconds("mean_one_way_delay_s", |row| row.stream.mean_one_way_delay)
        .seconds("first_frame_s", |row| row.stream.first_frame)
        .rate("media_rate_bps", |row| row.stream.media_rate)
        .count("late", |row| row.stream.late)
        .count("freezes", |row| row.stream.freezes)
        .count("skipped", |row| row.stream.skipped)
        .count("undelivered", |row| row.stream.undelivered)
        .seconds("recovery_s", |row| row.stream.recovery)
        .seconds("frozen_s", |row| Some(row.stream.frozen))
        .rate("encoder_rate_bps", |row| row.stream.encoder_rate)
        .float("encoder_share", |row| {
            row.stream.encoder_share.unwrap_or(f64::NAN)
        })
        .float("encoder_oscillation", |row| {
            row.stream.encoder_oscillation.unwrap_or(f64::NAN)
        })
        .float("repaired", |row| {
            row.stream.repaired.map_or(f64::NAN, |count| count as f64)
        })
        .float("repair_bytes", |row| {
            let bytes = row.stream.repair_bytes;
            bytes.map_or(f64::NAN, |bytes| bytes.as_u64() as f64)
        })
        .float("mos", |row| row.stream.mos.unwrap_or(f64::NAN))
        .finish()
}
