//! The outcome and trace of a trial in real time, in the form of virtual time.

use crate::emulator::outside::{Outside, Seen};
use crate::emulator::{DOWN, Emulator, UP};
use crate::traffic::{ConnectionResult, FlowPlan, TrafficResult};
use thalweg_path::{FlowLinkStats, LinkConfig};
use thalweg_sim::{
    FlowOutcome, LinkOutcome, Measured, Outcome, RequestOutcome, Scenario, Senders, Trace,
    Transfer, jain,
};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// The names of the links.
const LINKS: [&str; 2] = ["down", "up"];

/// A finished trial.
pub(crate) struct Ended<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    pub(crate) plans: &'a [FlowPlan],
    pub(crate) links: [&'a LinkConfig; 2],
    /// The flow of each connection that the emulator tells apart; the connections of programs come after the planned ones.
    pub(crate) flow_of: Vec<usize>,
    pub(crate) result: TrafficResult,
}

/// One connection: its number, its workload, and its result.
type Connected<'a> = (usize, &'a (Duration, Transfer), &'a ConnectionResult);

impl Ended<'_> {
    /// Why a flow failed, if one did. `outside` is what was seen of flows with programs.
    pub(crate) fn failure(&self, outside: Option<&Outside>) -> Option<String> {
        let flows = self.scenario.flows.iter().enumerate();
        let mut failed = flows.filter_map(|(index, flow)| {
            let mut own = self.connections(index);
            let error = own.find_map(|(_, _, done)| done.error.clone());
            let error = error.or_else(|| self.lacking(index, outside?))?;
            Some(format!("flow {} failed: {error}", flow.name))
        });
        failed.next()
    }

    /// What a flow lacks whose client has ended with status 0, before its workload has crossed.
    fn lacking(&self, flow: usize, outside: &Outside) -> Option<String> {
        let command = self.scenario.flows[flow].command.as_ref()?;
        let mut own = self.connections(flow);
        if command.counts_packets || !own.all(|(_, _, done)| done.closed.is_some()) {
            return None;
        }
        let (crossed, workload) = (outside.flow(flow).payload, self.workload(flow));
        (crossed < workload).then(|| {
            format!(
                "the client ended with status 0, but only {} of {} bytes have crossed the path; needed: a client \
                 that ends after its data has arrived, or count = \"packets\" for programs that compress or cache",
                crossed.as_u64(),
                workload.as_u64()
            )
        })
    }

    /// The bytes of all transfers of a flow.
    fn workload(&self, flow: usize) -> Bytes {
        let transfers = self.plans[flow].transfers.iter();
        transfers.map(|(_, transfer)| transfer.bytes()).sum()
    }

    /// Builds the outcome.
    pub(crate) fn measured(mut self, emulator: &mut Emulator) -> Measured {
        let mut flows: Vec<FlowOutcome> = (0..self.plans.len())
            .map(|flow| self.flow(flow, emulator))
            .collect();
        if let Some(outside) = &emulator.observers.outside {
            self.share_as_seen(&mut flows, outside);
        }
        let end = self.result.end;
        let links = [DOWN, UP].map(|link| {
            LinkOutcome::of(
                LINKS[link].to_owned(),
                emulator.link(link),
                self.links[link],
                end,
            )
        });
        let offered = [DOWN, UP].map(|link| emulator.link_stats(link).offered.packets);
        let outcome = Outcome {
            seed: self.seed,
            end,
            events: offered.iter().sum(),
            packets: flows.iter().map(|flow| flow.packets_sent).sum(),
            overlap: self.result.overlap,
            jain: jain(&self.result.shared),
            trace_hash: None,
            flows,
            links: links.into(),
            requests: self.requests(),
            series: emulator.take_series(),
        };
        let trace = emulator.samples.take().map(|samples| {
            let (names, _) = sender_names(self.scenario, self.plans);
            let mut trace = samples.trace;
            for drop in &mut trace.drops {
                drop.flow = self.planned(drop.flow);
            }
            // Other packets belong to no flow: the kernel's own.
            trace.drops.retain(|drop| drop.flow < names.len());
            Trace {
                senders: self.result.trace.take().unwrap_or_default().senders,
                flow_names: names,
                link_names: LINKS.map(str::to_owned).into(),
                ..trace
            }
        });
        Measured { outcome, trace }
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

    /// A flow: the sum of its connections.
    fn flow(&self, flow: usize, emulator: &Emulator) -> FlowOutcome {
        let spec = &self.scenario.flows[flow];
        let data = spec.data_links();
        let links = || [DOWN, UP].into_iter().filter(|link| data[*link]);
        let own = self.flow_of.iter().enumerate();
        let own = own.filter(|(_, of)| **of == flow);
        let on_link: FlowLinkStats = own
            .flat_map(|(index, _)| links().map(move |link| (link, index as u64)))
            .map(|(link, index)| emulator.flow_stats(link, index))
            .sum();
        let waited = |share| links().filter_map(move |link| emulator.link(link).wait(flow, share));
        let transmitted = on_link.transmitted.packets;
        let mean = |sum: Duration| (transmitted > 0).then(|| sum / transmitted.max(1));
        let shared = self.result.shared[flow];
        let total: Bytes = self.result.shared.iter().copied().sum();
        let mut sum = FlowOutcome {
            // Missing if it is missing for one of the connections.
            completion: Some(Duration::ZERO),
            closed: Some(Duration::ZERO),
            packets_dropped: on_link.dropped.packets,
            packets_policed: on_link.policed.packets,
            packets_lost_at_random: on_link.lost.packets,
            packets_marked: on_link.marked.packets,
            mean_queue_delay: mean(on_link.queue_wait),
            p95_queue_delay: waited(0.95).max(),
            p99_queue_delay: waited(0.99).max(),
            mean_jitter: mean(on_link.jitter_experienced),
            shared_bytes: shared,
            shared_rate: Rate::over(shared, self.result.overlap),
            share: (!total.is_zero()).then(|| shared.as_u64() as f64 / total.as_u64() as f64),
            ..FlowOutcome::default()
        };
        let (mut rtt_sum, mut rtt_samples) = (Duration::ZERO, 0);
        for (_, _, done) in self.connections(flow) {
            sum.start = sum.start.or(done.start);
            sum.completion = sum.completion.zip(done.completion).map(|(a, b)| a.max(b));
            sum.closed = sum.closed.zip(done.closed).map(|(a, b)| a.max(b));
            sum.bytes_delivered += done.bytes_delivered;
            sum.packets_sent += done.packets_sent;
            sum.packets_lost += done.packets_lost;
            sum.spurious_losses += done.spurious;
            sum.timeouts += done.timeouts;
            rtt_sum += done.rtt_sum;
            rtt_samples += done.rtt_samples;
            if done.rtt_samples > 0 {
                sum.max_rtt = sum.max_rtt.max(Some(done.rtt_max));
            }
            sum.min_rtt = sum.min_rtt.into_iter().chain(done.rtt_min).min();
            sum.media.extend(done.media.iter().cloned());
        }
        if let Some(outside) = &emulator.observers.outside
            && spec.command.is_some()
        {
            self.as_seen(&mut sum, flow, &outside.flow(flow), &on_link);
        }
        let begun = sum.start.unwrap_or(Duration::ZERO);
        let span = sum.completion.unwrap_or(self.result.end) - begun;
        sum.mean_rate = Rate::over(sum.bytes_delivered, span);
        sum.mean_rtt = mean_rtt(rtt_sum, rtt_samples);
        sum
    }

    /// The planned connection of one that the emulator tells apart: a flow with programs has one.
    fn planned(&self, connection: usize) -> usize {
        let before = self.plans.iter().map(|plan| plan.transfers.len());
        match self.flow_of.get(connection) {
            Some(flow) if connection >= before.clone().sum() => before.take(*flow).sum(),
            _ => connection,
        }
    }

    /// What the emulator has seen of a flow with programs, in place of what its ends report.
    fn as_seen(&self, sum: &mut FlowOutcome, flow: usize, seen: &Seen, on_link: &FlowLinkStats) {
        let spec = &self.scenario.flows[flow];
        let since_start = |at: Instant| at - Instant::START;
        if let Some(first) = seen.first {
            sum.start = Some(since_start(first));
        }
        let last = seen.last.map(since_start);
        sum.completion = sum
            .closed
            .map(|closed| last.map_or(closed, |last| last.min(closed)));
        let workload = self.workload(flow);
        let counts_packets = spec.command.as_ref().is_some_and(|it| it.counts_packets);
        sum.bytes_delivered = match sum.closed {
            _ if counts_packets => seen.payload,
            Some(_) => workload,
            None => seen.payload.min(workload),
        };
        sum.packets_sent = seen.packets;
        sum.packets_lost = on_link.dropped.packets + on_link.lost.packets;
    }

    /// Sets what flows got while all were active, from what the emulator has seen of each.
    fn share_as_seen(&mut self, flows: &mut [FlowOutcome], outside: &Outside) {
        let end = self.result.end;
        let begun = flows.iter().map(|flow| flow.start.unwrap_or(end)).max();
        let over = flows
            .iter()
            .map(|flow| flow.completion.unwrap_or(end))
            .min();
        let (begun, over) = (begun.unwrap_or(end), over.unwrap_or(end));
        self.result.overlap = over.max(begun) - begun;
        let received = (0..flows.len()).map(|flow| outside.received(flow, begun, over));
        self.result.shared = received.collect();
        let total: Bytes = self.result.shared.iter().copied().sum();
        for (flow, shared) in flows.iter_mut().zip(&self.result.shared) {
            flow.shared_bytes = *shared;
            flow.shared_rate = Rate::over(*shared, self.result.overlap);
            flow.share = (!total.is_zero()).then(|| shared.as_u64() as f64 / total.as_u64() as f64);
        }
    }

    fn requests(&self) -> Vec<RequestOutcome> {
        let flows = self.scenario.flows.iter().enumerate();
        let of_requests = flows.filter(|(_, spec)| spec.has_requests());
        let rows = of_requests.flat_map(|(flow, _)| {
            let own = self.connections(flow).enumerate();
            own.map(
                move |(request, (_, (start, transfer), done))| RequestOutcome {
                    flow,
                    request,
                    start: *start,
                    bytes: transfer.bytes(),
                    completion: done.completion,
                    packets_sent: done.packets_sent,
                    packets_lost: done.packets_lost,
                    mean_rtt: mean_rtt(done.rtt_sum, done.rtt_samples),
                },
            )
        });
        rows.collect()
    }
}

/// The names of connections in a trace, and the names of senders after them.
pub(crate) fn sender_names(scenario: &Scenario, plans: &[FlowPlan]) -> (Vec<String>, Senders) {
    let flows = scenario.flows.iter().zip(plans);
    let connections = flows.flat_map(|(spec, plan)| {
        let name = move |number: usize| match spec.has_requests() {
            true => format!("{}/{number}", spec.name),
            false => spec.name.clone(),
        };
        (0..plan.transfers.len()).map(move |number| (name(number), spec.is_sent_by_both()))
    });
    let (mut names, both): (Vec<String>, Vec<bool>) = connections.unzip();
    let both = both.iter().enumerate().filter(|(_, both)| **both);
    let senders = Senders::named(&mut names, both.map(|(connection, _)| connection));
    (names, senders)
}

fn mean_rtt(sum: Duration, samples: u64) -> Option<Duration> {
    (samples > 0).then(|| sum / samples.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sim::run_trial;

    #[test]
    fn what_crosses_to_another_process_arrives_as_it_was() {
        let text = "title = \"t\"\nsample = \"50 ms\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"21 ms\"\n\
            [[flow]]\nname = \"main\"\ncontroller = \"bbr\"\ndownload = \"300 kB\"\n\
            [[flow]]\nname = \"call\"\ncontroller = \"c4\"\ncall = \"1 s\"\n";
        let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).expect("valid");
        let (outcome, trace) = run_trial(&scenario, 1, true);
        let measured = Measured { outcome, trace };
        let told = serde_json::to_string(&measured).expect("JSON");
        let heard: Measured = serde_json::from_str(&told).expect("the same");
        assert_eq!(heard, measured);
        let trace = heard.trace.expect("a trace");
        assert!(trace.senders.samples.len() > 100 && !trace.senders.variables.is_empty());
    }
}
