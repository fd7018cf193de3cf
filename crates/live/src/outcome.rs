//! What a trial in real time yields, in the rows of the tables that the simulator fills.

use crate::emulator::samples::Samples;
use crate::emulator::{DOWN, Emulator, UP};
use crate::traffic::{ConnectionResult, FlowPlan, FlowTrace, TrafficResult};
use serde::Serialize;
use thalweg_path::{DropCause, FlowLinkStats, LinkConfig};
use thalweg_sim::{Scenario, Transfer};
use thalweg_units::{Bytes, Duration, Rate};

/// What one trial yields: rows of the tables that the simulator fills.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TrialOutcome {
    flows: Vec<FlowRow>,
    links: Vec<LinkRow>,
    end_s: f64,
    overlap_s: f64,
    jain: Option<f64>,
    packets: u64,
    /// Of flows of requests.
    requests: Vec<RequestRow>,
    /// If the scenario asks for series.
    series: Option<SeriesRows>,
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
    /// Of each stream of a call, the columns.
    media: Vec<(String, Option<f64>)>,
    /// Why the connection failed, if it did.
    error: Option<String>,
}

/// One request of many.
#[derive(Clone, Debug, Serialize)]
struct RequestRow {
    flow: String,
    request: usize,
    start_s: f64,
    bytes: u64,
    completion_s: Option<f64>,
    packets_sent: u64,
    packets_lost: u64,
    mean_rtt_s: Option<f64>,
}

/// Bytes in bins, for each flow and each link.
#[derive(Clone, Debug, Serialize)]
struct SeriesRows {
    every_s: f64,
    sent: Vec<Vec<u64>>,
    received: Vec<Vec<u64>>,
    capacity: Vec<Vec<u64>>,
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
    /// What the flows that the rows number are called: of a flow of requests, each request by itself.
    names: Vec<String>,
    senders: FlowTrace,
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

/// A trial that has ended.
pub(crate) struct Ended<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plans: &'a [FlowPlan],
    pub(crate) links: [&'a LinkConfig; 2],
    pub(crate) result: TrafficResult,
}

/// One connection: its number, what it was to move, and what it experienced.
type Connected<'a> = (usize, &'a (Duration, Transfer), &'a ConnectionResult);

impl Ended<'_> {
    /// Draws up the rows.
    pub(crate) fn outcome(mut self, emulator: &mut Emulator) -> TrialOutcome {
        let flows: Vec<FlowRow> = (0..self.plans.len())
            .map(|flow| self.flow_row(flow, emulator))
            .collect();
        let links = [DOWN, UP].map(|index| {
            let stats = emulator.link_stats(index);
            let transmitted = stats.transmitted.packets.max(1);
            let config = self.links[index];
            LinkRow {
                link: ["down", "up"][index],
                requested_jitter_s: config.jitter.requested_mean().as_secs_f64(),
                requested_loss: config.loss.mean_rate().as_f64(),
                realised_loss: stats.lost.packets as f64 / transmitted as f64,
            }
        });
        let series = emulator.take_series().map(|series| SeriesRows {
            every_s: series.every.as_secs_f64(),
            sent: series.flows.iter().map(|flow| flow.sent.clone()).collect(),
            received: (series.flows.iter())
                .map(|flow| flow.received.clone())
                .collect(),
            capacity: series.capacity,
        });
        let trace = emulator.samples.take().map(|samples| {
            let senders = self.result.trace.take().unwrap_or_default();
            trace_rows(self.names(), senders, &samples)
        });
        TrialOutcome {
            links: links.into(),
            end_s: Duration::from_nanos(self.result.end).as_secs_f64(),
            overlap_s: Duration::from_nanos(self.result.overlap).as_secs_f64(),
            jain: jain(&self.result.shared),
            packets: flows.iter().map(|flow| flow.packets_sent).sum(),
            requests: self.requests(),
            series,
            trace,
            flows,
        }
    }

    /// The connections of a flow.
    fn connections(&self, flow: usize) -> impl Iterator<Item = Connected<'_>> {
        let before = self.plans[..flow].iter();
        let first: usize = before.map(|plan| plan.transfers.len()).sum();
        let results = self.result.connections.iter().enumerate().skip(first);
        let planned = self.plans[flow].transfers.iter();
        planned
            .zip(results)
            .map(|(planned, (index, result))| (index, planned, result))
    }

    /// A flow, which sums up its connections.
    fn flow_row(&self, flow: usize, emulator: &Emulator) -> FlowRow {
        let mut sum = ConnectionResult::default();
        let own = self.connections(flow);
        let on_link: FlowLinkStats = own
            .map(|(index, (_, transfer), _)| emulator.flow_stats(data_link(transfer), index as u64))
            .sum();
        // Missing if it is missing for one of the connections.
        let (mut completion, mut closed) = (Some(0), Some(0));
        for (_, _, one) in self.connections(flow) {
            sum.start = sum.start.or(one.start);
            completion = completion.zip(one.completion).map(|(a, b)| a.max(b));
            closed = closed.zip(one.closed).map(|(a, b)| a.max(b));
            sum.bytes_delivered += one.bytes_delivered;
            sum.packets_sent += one.packets_sent;
            sum.packets_lost += one.packets_lost;
            sum.spurious += one.spurious;
            sum.timeouts += one.timeouts;
            sum.rtt_sum += one.rtt_sum;
            sum.rtt_samples += one.rtt_samples;
            sum.rtt_max = sum.rtt_max.max(one.rtt_max);
            let least = sum.rtt_min.into_iter().chain(one.rtt_min).min();
            sum.rtt_min = least;
            sum.media.extend(one.media.iter().cloned());
            sum.error = sum.error.or_else(|| one.error.clone());
        }
        let transmitted = on_link.transmitted.packets;
        let mean =
            |sum: Duration| (transmitted > 0).then(|| (sum / transmitted.max(1)).as_secs_f64());
        let (end, overlap) = (self.result.end, self.result.overlap);
        let span = completion.unwrap_or(end) - sum.start.unwrap_or(0);
        let rate = |bytes: u64, span: u64| {
            Rate::over(Bytes::new(bytes), Duration::from_nanos(span)).as_bits_per_sec() as f64
        };
        let shared = self.result.shared[flow];
        let total: u64 = self.result.shared.iter().sum();
        FlowRow {
            flow: self.scenario.flows[flow].name.clone(),
            controller: self.scenario.flows[flow].controller.as_str().to_owned(),
            finished: completion.is_some(),
            completion_s: completion.map(seconds),
            closed_s: closed.map(seconds),
            start_s: sum.start.map(seconds),
            bytes_delivered: sum.bytes_delivered,
            mean_rate_bps: rate(sum.bytes_delivered, span),
            packets_sent: sum.packets_sent,
            packets_lost: sum.packets_lost,
            packets_dropped: on_link.dropped.packets,
            packets_lost_at_random: on_link.lost.packets,
            packets_marked: on_link.marked.packets,
            spurious_losses: sum.spurious,
            timeouts: sum.timeouts,
            mean_rtt_s: mean_rtt(&sum),
            min_rtt_s: sum.rtt_min.map(seconds),
            max_rtt_s: (sum.rtt_samples > 0).then(|| seconds(sum.rtt_max)),
            mean_queue_delay_s: mean(on_link.queue_wait),
            mean_jitter_s: mean(on_link.jitter_experienced),
            shared_bytes: shared,
            shared_rate_bps: rate(shared, overlap),
            share: (total > 0).then(|| shared as f64 / total as f64),
            media: sum.media,
            error: sum.error,
        }
    }

    /// What each connection is called in a trace.
    fn names(&self) -> Vec<String> {
        let flows = self.scenario.flows.iter().zip(self.plans);
        let names = flows.flat_map(|(spec, plan)| {
            let name = move |number: usize| match spec.has_requests() {
                true => format!("{}/{number}", spec.name),
                false => spec.name.clone(),
            };
            (0..plan.transfers.len()).map(name)
        });
        names.collect()
    }

    fn requests(&self) -> Vec<RequestRow> {
        let flows = self.scenario.flows.iter().enumerate();
        let of_requests = flows.filter(|(_, spec)| spec.has_requests());
        let rows = of_requests.flat_map(|(flow, spec)| {
            let own = self.connections(flow).enumerate();
            own.map(|(request, (_, (start, transfer), one))| RequestRow {
                flow: spec.name.clone(),
                request,
                start_s: start.as_secs_f64(),
                bytes: match transfer {
                    Transfer::Download { bytes, .. } | Transfer::Upload { bytes } => bytes.as_u64(),
                    Transfer::Call => 0,
                },
                completion_s: one.completion.map(seconds),
                packets_sent: one.packets_sent,
                packets_lost: one.packets_lost,
                mean_rtt_s: mean_rtt(one),
            })
        });
        rows.collect()
    }
}

/// The link that carries the data of a transfer; of a call, what the server sends.
pub(crate) fn data_link(transfer: &Transfer) -> usize {
    match transfer {
        Transfer::Download { .. } | Transfer::Call => DOWN,
        Transfer::Upload { .. } => UP,
    }
}

fn seconds(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64()
}

fn mean_rtt(of: &ConnectionResult) -> Option<f64> {
    (of.rtt_samples > 0).then(|| seconds(of.rtt_sum) / of.rtt_samples as f64)
}

/// Jain's index of what the flows got together: (sum x)^2 / (n sum x^2), as in the simulator.
fn jain(shared: &[u64]) -> Option<f64> {
    let amounts = shared.iter().map(|bytes| *bytes as f64);
    let (sum, squares) = amounts.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let several = shared.len() > 1 && squares > 0.0;
    several.then(|| sum * sum / (shared.len() as f64 * squares))
}

fn trace_rows(names: Vec<String>, senders: FlowTrace, samples: &Samples) -> TraceRows {
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
        let connection = usize::try_from(drop.flow).ok()?;
        Some(DropRow {
            time_s: drop.time.as_secs_f64(),
            link: drop.link,
            // Others are packets of no flow: the kernel's own.
            flow: (connection < names.len()).then_some(connection)?,
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
        names,
        senders,
    }
}
