//! The event loop: endpoints and links, and the packets that go between them.

use crate::event_queue::EventQueue;
use crate::flow::{Flow, Side};
use crate::media::Call;
use crate::media_outcome::summarise;
use crate::outcome::{FlowOutcome, LinkOutcome, Outcome};
use crate::scenario::Scenario;
use crate::seed;
use crate::trace::Trace;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::{FlowLinkStats, Link, LinkConfig};
use thalweg_transport::Packet;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

const DOWN: usize = 0;
const UP: usize = 1;
/// Elements of a flow: client, server, applications.
const PER_FLOW: usize = 3;
const APPLICATIONS: usize = 2;
const LINKS: [&str; 2] = ["down", "up"];
/// How many events pass between two looks at the request to stop.
const STOP_CHECK: u64 = 1 << 14;

/// A packet on a link: it counts the headers of IP and UDP.
struct Carried {
    flow: u32,
    size: u32,
    packet: Packet,
}

impl thalweg_path::Packet for Carried {
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn ecn(&self) -> Ecn {
        self.packet.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        u64::from(self.flow)
    }
}

pub(crate) struct Network<'a> {
    scenario: &'a Scenario,
    seed: u64,
    links: [Link<Carried>; 2],
    flows: Vec<Flow>,
    /// Elements: the two links, then client, server and applications of each flow.
    queue: EventQueue,
    /// Flows that the end of the trial waits for.
    waiting: usize,
    awaited: Vec<bool>,
    /// Flows that have not started yet, and delivery counts when there were none left.
    unstarted: usize,
    overlap_start: Option<(Instant, Vec<Bytes>)>,
    overlap_end: Option<(Instant, Vec<Bytes>)>,
    now: Instant,
    events: u64,
    hash: u64,
    trace: Option<Trace>,
}

impl<'a> Network<'a> {
    pub(crate) fn new(scenario: &'a Scenario, trial: u64, traced: bool) -> Self {
        let count = scenario.flows.len();
        let drawn = scenario.jitter_seed.unwrap_or(trial);
        let link = |config: &LinkConfig, name: &str| {
            let mut link = Link::new(config, seed::of(drawn, &format!("link/{name}")), count);
            link.record_drops(traced);
            link
        };
        let flows: Vec<Flow> = scenario
            .flows
            .iter()
            .map(|spec| Flow::new(spec, trial, scenario.start_noise))
            .collect();
        let mut queue = EventQueue::new(LINKS.len() + PER_FLOW * count);
        for (index, flow) in flows.iter().enumerate() {
            queue.set(element(index, Side::Client), flow.start);
        }
        // With criteria, the trial is over when the flows that they name are; without, when all are.
        let awaited: Vec<bool> = (0..count)
            .map(|flow| {
                scenario.criteria.is_empty() || scenario.criteria.iter().any(|c| c.flow == flow)
            })
            .collect();
        Network {
            scenario,
            seed: trial,
            links: [
                link(&scenario.down, LINKS[DOWN]),
                link(&scenario.up, LINKS[UP]),
            ],
            flows,
            queue,
            waiting: awaited.iter().filter(|awaited| **awaited).count(),
            awaited,
            unstarted: count,
            overlap_start: None,
            overlap_end: None,
            now: Instant::START,
            events: 0,
            hash: 0,
            trace: traced.then(Trace::default),
        }
    }

    /// Plays the trial; `None` if it was told to stop.
    pub(crate) fn play(mut self, stop: &AtomicBool) -> Option<(Outcome, Option<Trace>)> {
        let limit = Instant::START + self.scenario.time_limit;
        while self.waiting > 0 {
            let Some((time, element)) = self.queue.peek() else {
                break;
            };
            if time > limit {
                self.now = limit;
                break;
            }
            self.now = time;
            self.events += 1;
            if self.events.is_multiple_of(STOP_CHECK) && stop.load(Ordering::Relaxed) {
                return None;
            }
            if element < LINKS.len() {
                self.deliver(element);
            } else {
                self.wake(element - LINKS.len());
            }
        }
        Some(self.finish())
    }

    /// Packets come out of a link.
    fn deliver(&mut self, link: usize) {
        let side = if link == DOWN {
            Side::Client
        } else {
            Side::Server
        };
        while let Some(carried) = self.links[link].pop(self.now) {
            let index = carried.flow as usize;
            self.hash = seed::fold(self.hash, self.now.as_nanos());
            let what = carried.packet.number << 20 ^ u64::from(carried.flow) << 2 ^ link as u64;
            self.hash = seed::fold(self.hash, what << 16 ^ u64::from(carried.size));
            let flow = &mut self.flows[index];
            flow.endpoint(side).receive(self.now, &carried.packet);
            self.pump(index, side, "received");
        }
        let next = self.links[link].next().unwrap_or(Instant::NEVER);
        self.queue.set(link, next);
        if let Some(trace) = &mut self.trace {
            trace.sample_link(self.now, link, &mut self.links[link]);
        }
    }

    /// The time of an endpoint or of the applications of a flow has come.
    fn wake(&mut self, place: usize) {
        let index = place / PER_FLOW;
        let flow = &mut self.flows[index];
        match place % PER_FLOW {
            APPLICATIONS => {
                flow.tick_app(self.now);
                self.pump(index, Side::Client, "timer");
                self.pump(index, Side::Server, "timer");
            }
            0 if !flow.started => {
                flow.begin();
                self.unstarted -= 1;
                if self.unstarted == 0 {
                    self.overlap_start = Some((self.now, self.delivered()));
                }
                self.pump(index, Side::Client, "timer");
            }
            side => {
                let side = if side == 0 {
                    Side::Client
                } else {
                    Side::Server
                };
                flow.endpoint(side).expire(self.now);
                self.pump(index, side, "timer");
            }
        }
    }

    fn delivered(&self) -> Vec<Bytes> {
        self.flows.iter().map(Flow::delivered).collect()
    }

    /// Lets the application of one side act, sends all that may leave, and notes when the side wants to
    /// be called again.
    fn pump(&mut self, index: usize, side: Side, event: &'static str) {
        let link = if side == Side::Client { UP } else { DOWN };
        let flow = &mut self.flows[index];
        if flow.endpoint(side).has_events() {
            self.serve(index, side);
        }
        let endpoint = self.flows[index].endpoint(side);
        let mut sent = false;
        while let Some(packet) = endpoint.transmit(self.now) {
            let size = packet.size + self.scenario.overhead;
            let flow = index as u32;
            self.links[link].push(self.now, Carried { flow, size, packet });
            sent = true;
        }
        let next = endpoint.next();
        if endpoint.has_events() {
            self.serve(index, side);
        }
        self.queue.set(element(index, side), next);
        if sent {
            let next = self.links[link].next().unwrap_or(Instant::NEVER);
            self.queue.set(link, next);
        }
        if self.flows[index].call.is_some() {
            let next = self.flows[index].next_app();
            self.queue
                .set(element(index, Side::Client) + APPLICATIONS, next);
        }
        if self.trace.is_some() {
            self.sample(index, side, link, sent, event);
        }
    }

    /// The application of one side takes in what happened.
    fn serve(&mut self, index: usize, side: Side) {
        let flow = &mut self.flows[index];
        let (running, open) = (flow.completion.is_none(), flow.closed.is_none());
        flow.serve(self.now, side);
        let (completed, closed) = (flow.completion.is_some(), flow.closed.is_some());
        if running && completed && self.unstarted == 0 && self.overlap_end.is_none() {
            self.overlap_end = Some((self.now, self.delivered()));
        }
        if open && closed && self.awaited[index] {
            self.waiting -= 1;
        }
    }

    fn sample(&mut self, index: usize, side: Side, link: usize, sent: bool, event: &'static str) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        if side == self.flows[index].sending_side() {
            let event = if sent && event == "timer" {
                "sent"
            } else {
                event
            };
            trace.sample_flow(self.now, index, event, self.flows[index].data_path().0);
        }
        if sent {
            trace.sample_link(self.now, link, &mut self.links[link]);
        }
    }

    fn finish(mut self) -> (Outcome, Option<Trace>) {
        for link in &mut self.links {
            link.advance(self.now);
        }
        let end = self.now - Instant::START;
        let (overlap, shared) = self.shared();
        let flows: Vec<FlowOutcome> = (0..self.flows.len())
            .map(|index| self.flow_outcome(index, overlap, &shared))
            .collect();
        let links = [DOWN, UP].map(|link| self.link_outcome(link, end)).to_vec();
        let packets = self
            .flows
            .iter()
            .map(|flow| flow.data_path().0.counters().packets_sent)
            .sum();
        let outcome = Outcome {
            seed: self.seed,
            end,
            events: self.events,
            packets,
            overlap,
            jain: jain(&shared),
            trace_hash: self.hash,
            flows,
            links,
        };
        (outcome, self.trace)
    }

    /// How long all flows were active, and what each of them got then.
    fn shared(&self) -> (Duration, Vec<Bytes>) {
        let Some((start, before)) = &self.overlap_start else {
            return (Duration::ZERO, vec![Bytes::ZERO; self.flows.len()]);
        };
        let now = (self.now, self.delivered());
        let (end, after) = self.overlap_end.as_ref().unwrap_or(&now);
        let got = after
            .iter()
            .zip(before)
            .map(|(after, before)| *after - *before);
        (*end - *start, got.collect())
    }

    fn flow_outcome(&self, index: usize, overlap: Duration, shared: &[Bytes]) -> FlowOutcome {
        let flow = &self.flows[index];
        let (sender, _) = flow.data_path();
        let link = if flow.sending_side() == Side::Server {
            DOWN
        } else {
            UP
        };
        let stats: &FlowLinkStats = self.links[link].flow_stats(index as u64);
        let counters = sender.counters();
        let since_start = |time: Instant| time - Instant::START;
        let delivered = flow.delivered();
        let span = flow.completion.unwrap_or(self.now) - flow.start;
        let mean = |sum: Duration, count: u64| (count > 0).then(|| sum / count.max(1));
        let total: Bytes = shared.iter().copied().sum();
        let media = flow
            .call
            .iter()
            .flat_map(Call::records)
            .map(|(spec, records, skipped)| summarise(spec, records, skipped, &self.changes()));
        let has_rtt = counters.rtt_samples > 0;
        FlowOutcome {
            start: since_start(flow.start),
            completion: flow.completion.map(since_start),
            closed: flow.closed.map(since_start),
            bytes_delivered: delivered,
            mean_rate: Rate::over(delivered, span),
            shared_bytes: shared[index],
            shared_rate: Rate::over(shared[index], overlap),
            share: (!total.is_zero())
                .then(|| shared[index].as_u64() as f64 / total.as_u64() as f64),
            media: media.collect(),
            packets_sent: counters.packets_sent,
            packets_lost: counters.packets_lost,
            packets_dropped: stats.dropped.packets,
            packets_lost_at_random: stats.lost.packets,
            packets_marked: stats.marked.packets,
            spurious_losses: counters.spurious_losses,
            timeouts: counters.timeouts,
            mean_rtt: mean(counters.rtt_sum, counters.rtt_samples),
            min_rtt: has_rtt.then_some(sender.path().min_rtt),
            max_rtt: has_rtt.then_some(counters.rtt_max),
            mean_queue_delay: mean(stats.queue_wait, stats.transmitted.packets),
            mean_jitter: mean(stats.jitter_experienced, stats.transmitted.packets),
        }
    }

    /// The times within the trial at which the path changes.
    fn changes(&self) -> Vec<Instant> {
        let config = &self.scenario.down;
        let mut times = Vec::new();
        let mut period = Instant::START;
        while !config.changes.is_empty() && period <= self.now {
            times.extend(
                config
                    .changes
                    .iter()
                    .map(|c| period + c.at)
                    .filter(|at| *at <= self.now),
            );
            match config.repeat {
                Some(repeat) => period += repeat,
                None => break,
            }
        }
        times
    }

    fn link_outcome(&self, index: usize, end: Duration) -> LinkOutcome {
        let config = if index == DOWN {
            &self.scenario.down
        } else {
            &self.scenario.up
        };
        let stats = self.links[index].stats();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        LinkOutcome {
            name: LINKS[index],
            delivered_packets: stats.delivered.packets,
            delivered_bytes: stats.delivered.bytes,
            dropped_packets: stats.dropped.packets,
            lost_packets: stats.lost.packets,
            marked_packets: stats.marked.packets,
            utilisation: share(stats.busy.as_secs_f64(), end.as_secs_f64()).min(1.0),
            mean_queue_delay: stats.mean_queue_wait(),
            max_queue_packets: stats.max_queue.packets,
            requested_jitter: config.jitter.requested_mean(),
            drawn_jitter: stats.mean_jitter_drawn(),
            experienced_jitter: stats.mean_jitter_experienced(),
            requested_loss: config.loss.mean_rate().as_f64(),
            // What is lost at random was transmitted first.
            realised_loss: share(stats.lost.packets as f64, stats.transmitted.packets as f64),
        }
    }
}

/// Jain's index of what the flows got: (sum x)^2 / (n sum x^2); absent for one flow, or if nobody got
/// anything.
fn jain(shared: &[Bytes]) -> Option<f64> {
    let amounts = shared.iter().map(|bytes| bytes.as_u64() as f64);
    let (sum, squares) = amounts.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let several = shared.len() > 1 && squares > 0.0;
    several.then(|| sum * sum / (shared.len() as f64 * squares))
}

fn element(flow: usize, side: Side) -> usize {
    LINKS.len() + PER_FLOW * flow + side as usize
}
