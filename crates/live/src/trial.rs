//! One trial of a scenario with the kernel's TCP: outcomes and a trace in the columns of the simulator.

use crate::emulator::{DOWN, Emulator, Side, UP};
use crate::play::Stage;
use crate::request::{Answer, Request};
use crate::samples::Samples;
use crate::scenario::LiveScenario;
use crate::sys::process::{self, Child};
use crate::traffic::{self, FlowPlan, FlowResult, FlowSample, TrafficResult};
use serde::Serialize;
use std::io::{self, Read, Seek, Write};
use std::ops::ControlFlow;
use thalweg_path::{DropCause, LinkConfig};
use thalweg_sim::Transfer;
use thalweg_units::{Bytes, Duration, Rate};

/// How often the links are looked at for a trace.
const SAMPLE: Duration = Duration::from_millis(5);

/// What one trial yields: rows of the tables that the simulator fills.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TrialOutcome {
    flows: Vec<FlowRow>,
    links: Vec<LinkRow>,
    end_s: f64,
    overlap_s: f64,
    jain: Option<f64>,
    packets: u64,
    trace: Option<TraceRows>,
}

#[derive(Clone, Debug, Serialize)]
struct FlowRow {
    flow: String,
    controller: String,
    finished: bool,
    completion_s: Option<f64>,
    closed_s: Option<f64>,
    start_s: Option<f64>,
    bytes_delivered: u64,
    mean_rate_bps: f64,
    packets_sent: u64,
    packets_lost: u64,
    packets_dropped: u64,
    packets_lost_at_random: u64,
    packets_marked: u64,
    spurious_losses: u64,
    timeouts: u64,
    mean_rtt_s: Option<f64>,
    min_rtt_s: Option<f64>,
    max_rtt_s: Option<f64>,
    mean_queue_delay_s: Option<f64>,
    mean_jitter_s: Option<f64>,
    shared_bytes: u64,
    shared_rate_bps: f64,
    share: Option<f64>,
    /// Why the connection failed, if it did.
    error: Option<String>,
}

/// What the links of a scenario ask for; what they did stands in the report.
#[derive(Clone, Debug, Serialize)]
struct LinkRow {
    link: &'static str,
    requested_jitter_s: f64,
    requested_loss: f64,
    realised_loss: f64,
}

#[derive(Clone, Debug, Serialize)]
struct TraceRows {
    flows: Vec<FlowSample>,
    links: Vec<LinkSampleRow>,
    drops: Vec<DropRow>,
}

#[derive(Clone, Debug, Serialize)]
struct LinkSampleRow {
    time_s: f64,
    link: usize,
    capacity_bps: f64,
    queue_bytes: u64,
    queue_packets: u64,
    queue_delay_s: f64,
    delivered_bytes: u64,
    dropped_packets: u64,
    marked_packets: u64,
}

#[derive(Clone, Debug, Serialize)]
struct DropRow {
    time_s: f64,
    link: usize,
    flow: usize,
    reason: &'static str,
}

/// Plays a trial.
pub(crate) fn play(request: &Request, trace: bool) -> Result<Answer, String> {
    let text = request.scenario.as_bytes();
    let live = LiveScenario::from_toml(text, &request.origin, &[], &[]);
    let live = live.map_err(|error| error.to_string())?;
    let scenario = &live.scenario;
    let plans: Vec<FlowPlan> = (scenario.flows.iter().enumerate())
        .filter_map(|(index, flow)| {
            Some(FlowPlan {
                transfer: flow.transfer()?,
                congestion: live.controllers.get(index)?.clone(),
                start: flow.start,
                awaited: scenario.is_awaited(index),
            })
        })
        .collect();
    let count = u16::try_from(plans.len()).map_err(|_| "too many flows".to_owned())?;
    let ports = traffic::FIRST_PORT..traffic::FIRST_PORT.saturating_add(count);
    let sample = trace.then_some(SAMPLE);
    let mut stage = Stage::new(request, scenario, [1, 1], ports, sample)?;
    let result = run(&mut stage, plans.clone(), scenario.time_limit(), trace)?;
    let links = scenario.path().ok_or("the path has several hops")?;
    let outcome = outcome(&live, &plans, links, result, &mut stage.emulator);
    let report = stage.report();
    Ok(Answer::Trial { outcome, report })
}

/// Drives the flows from a process of its own, and carries their packets meanwhile.
fn run(
    stage: &mut Stage,
    plans: Vec<FlowPlan>,
    limit: Duration,
    record: bool,
) -> Result<TrafficResult, String> {
    let text = |error: io::Error| error.to_string();
    let mut answer = process::memory_file("traffic").map_err(text)?;
    let clock = stage.emulator.clock();
    let traffic = {
        let ends = [stage.first(Side::Left), stage.first(Side::Right)];
        let [Some(left), Some(right)] = ends else {
            return Err("there are no hosts".into());
        };
        process::spawn(Child::Plain, || {
            let result = traffic::drive(plans, [left, right], clock, limit, record);
            let written = serde_json::to_vec(&result)
                .map_err(io::Error::other)
                .and_then(|text| answer.write_all(&text));
            u8::from(written.is_err())
        })
        .map_err(text)?
    };
    let signals = &stage.signals;
    let end = stage.emulator.run(|_| {
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                process::kill(traffic);
                return Ok(ControlFlow::Break(None));
            }
        }
        Ok(match process::ended(traffic)? {
            Some(status) => ControlFlow::Break(Some(status)),
            None => ControlFlow::Continue(()),
        })
    });
    match end.map_err(text)? {
        None => Err("interrupted".into()),
        Some(0) => {
            let mut text_of = String::new();
            answer.rewind().map_err(text)?;
            answer.read_to_string(&mut text_of).map_err(text)?;
            serde_json::from_str::<Result<TrafficResult, String>>(&text_of)
                .map_err(|error| error.to_string())?
        }
        Some(status) => Err(format!("the traffic ended with status {status}")),
    }
}

fn outcome(
    live: &LiveScenario,
    plans: &[FlowPlan],
    links: [&LinkConfig; 2],
    result: TrafficResult,
    emulator: &mut Emulator,
) -> TrialOutcome {
    let total: u64 = result.flows.iter().map(|flow| flow.shared_bytes).sum();
    let flows: Vec<FlowRow> = (plans.iter().zip(&result.flows).enumerate())
        .map(|(index, (plan, flow))| flow_row(live, index, plan, flow, &result, total, emulator))
        .collect();
    let rows = [DOWN, UP].map(|index| {
        let stats = emulator.link_stats(index);
        let transmitted = stats.transmitted.packets.max(1);
        LinkRow {
            link: ["down", "up"][index],
            requested_jitter_s: links[index].jitter.requested_mean().as_secs_f64(),
            requested_loss: links[index].loss.mean_rate().as_f64(),
            realised_loss: stats.lost.packets as f64 / transmitted as f64,
        }
    });
    TrialOutcome {
        links: rows.into(),
        end_s: Duration::from_nanos(result.end).as_secs_f64(),
        overlap_s: Duration::from_nanos(result.overlap).as_secs_f64(),
        jain: jain(&result.flows),
        packets: flows.iter().map(|flow| flow.packets_sent).sum(),
        trace: (emulator.samples.take()).map(|samples| trace_rows(result.samples, &samples, plans)),
        flows,
    }
}

fn flow_row(
    live: &LiveScenario,
    index: usize,
    plan: &FlowPlan,
    flow: &FlowResult,
    result: &TrafficResult,
    total: u64,
    emulator: &Emulator,
) -> FlowRow {
    let seconds = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
    let micros = |micros: u64| Duration::from_micros(micros).as_secs_f64();
    let direction = match plan.transfer {
        Transfer::Download { .. } => DOWN,
        Transfer::Upload { .. } => UP,
    };
    let stats = emulator.flow_stats(direction, index as u64);
    let transmitted = stats.transmitted.packets;
    let mean = |sum: Duration| (transmitted > 0).then(|| (sum / transmitted.max(1)).as_secs_f64());
    let span = flow.completion.unwrap_or(result.end) - flow.start.unwrap_or(0);
    let rate = |bytes: u64, span: u64| {
        Rate::over(Bytes::new(bytes), Duration::from_nanos(span)).as_bits_per_sec() as f64
    };
    FlowRow {
        flow: live.scenario.flows[index].name.clone(),
        controller: live.controller(index),
        finished: flow.completion.is_some(),
        completion_s: flow.completion.map(seconds),
        closed_s: flow.closed.map(seconds),
        start_s: flow.start.map(seconds),
        bytes_delivered: flow.bytes_delivered,
        mean_rate_bps: rate(flow.bytes_delivered, span),
        packets_sent: flow.packets_sent,
        packets_lost: flow.retransmitted,
        packets_dropped: stats.dropped.packets,
        packets_lost_at_random: stats.lost.packets,
        packets_marked: stats.marked.packets,
        spurious_losses: flow.spurious,
        timeouts: flow.timeouts,
        mean_rtt_s: (flow.rtt_samples > 0).then(|| micros(flow.rtt_sum) / flow.rtt_samples as f64),
        min_rtt_s: flow.rtt_min.map(micros),
        max_rtt_s: (flow.rtt_samples > 0).then(|| micros(flow.rtt_max)),
        mean_queue_delay_s: mean(stats.queue_wait),
        mean_jitter_s: mean(stats.jitter_experienced),
        shared_bytes: flow.shared_bytes,
        shared_rate_bps: rate(flow.shared_bytes, result.overlap),
        share: (total > 0).then(|| flow.shared_bytes as f64 / total as f64),
        error: flow.error.clone(),
    }
}

/// Jain's index of what the flows got together: (sum x)^2 / (n sum x^2), as in the simulator.
fn jain(flows: &[FlowResult]) -> Option<f64> {
    let amounts = flows.iter().map(|flow| flow.shared_bytes as f64);
    let (sum, squares) = amounts.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let several = flows.len() > 1 && squares > 0.0;
    several.then(|| sum * sum / (flows.len() as f64 * squares))
}

fn trace_rows(flows: Vec<FlowSample>, samples: &Samples, plans: &[FlowPlan]) -> TraceRows {
    let links = samples.links.iter().map(|sample| LinkSampleRow {
        time_s: sample.time.as_secs_f64(),
        link: sample.link,
        capacity_bps: sample.capacity.as_bits_per_sec() as f64,
        queue_bytes: sample.queue_bytes.as_u64(),
        queue_packets: sample.queue_packets,
        queue_delay_s: sample.queue_delay.as_secs_f64(),
        delivered_bytes: sample.delivered.as_u64(),
        dropped_packets: sample.dropped,
        marked_packets: sample.marked,
    });
    let drops = samples.drops.iter().filter_map(|drop| {
        let flow = usize::try_from(drop.flow).ok();
        Some(DropRow {
            time_s: drop.time.as_secs_f64(),
            link: drop.link,
            // Packets of no flow: the kernel's own.
            flow: flow.filter(|flow| *flow < plans.len())?,
            reason: match drop.cause {
                DropCause::Policed => "policer",
                DropCause::Full => "queue",
                DropCause::Early => "aqm",
                DropCause::Shrunk => "shrunk",
                DropCause::Lost => "loss",
            },
        })
    });
    TraceRows {
        links: links.collect(),
        drops: drops.collect(),
        flows,
    }
}
