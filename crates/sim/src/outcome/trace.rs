//! The time series that one trial yields when asked.
//!
//! Flows are sampled at their data sender after every event that changed it, links after every packet that
//! came or went. Nothing is recorded, and nothing is paid, unless a trace is asked for.

use crate::scenario::hop::LinkId;
use crate::scenario::{Scenario, Workload};
use crate::trial::connection::Connection;
use crate::trial::stack::Endpoint;
use thalweg_control::Observer;
use thalweg_path::{DropCause, Link};
use thalweg_transport::PacketEvent;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// One sample of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// When.
    pub time: Instant,
    /// Index of the flow.
    pub flow: usize,
    /// What happened: "received" (a packet arrived), "sent" or "timer".
    pub event: &'static str,
    /// Congestion window.
    pub window: Bytes,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// Smoothed RTT, if there is one.
    pub smoothed_rtt: Option<Duration>,
    /// Latest RTT sample, if there is one.
    pub latest_rtt: Option<Duration>,
    /// Pacing rate, if there is one.
    pub pacing: Option<Rate>,
    /// Latest delivery-rate sample.
    pub delivery_rate: Rate,
    /// Bytes acknowledged so far.
    pub delivered: Bytes,
    /// State of the controller.
    pub state: &'static str,
}

/// One sample of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRow {
    /// When.
    pub time: Instant,
    /// Index of the link.
    pub link: usize,
    /// Capacity.
    pub capacity: Rate,
    /// Bytes waiting.
    pub queue_bytes: Bytes,
    /// Packets waiting.
    pub queue_packets: u64,
    /// Time that a packet that arrives now waits.
    pub queue_delay: Duration,
    /// Bytes transmitted so far.
    pub delivered: Bytes,
    /// Packets dropped so far.
    pub dropped: u64,
    /// Packets marked so far.
    pub marked: u64,
}

/// One drop.
#[derive(Clone, Debug, PartialEq)]
pub struct DropRow {
    /// When.
    pub time: Instant,
    /// Index of the link.
    pub link: usize,
    /// Index of the flow.
    pub flow: usize,
    /// Why.
    pub cause: DropCause,
}

/// Time series of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Samples of flows.
    pub flows: Vec<FlowRow>,
    /// Controller variables: time, flow, name, value.
    pub variables: Vec<(Instant, usize, &'static str, f64)>,
    /// Samples of links.
    pub links: Vec<LinkRow>,
    /// Drops.
    pub drops: Vec<DropRow>,
    /// What became of the packets of each data sender: flow, event.
    pub packets: Vec<(usize, PacketEvent)>,
    /// What the flows that the series number are called: of a flow of requests, each request by itself, as
    /// "web/17".
    pub flow_names: Vec<String>,
    /// What the links are called.
    pub link_names: Vec<String>,
}

/// Collects what a controller shows of itself.
struct Snapshot<'a> {
    time: Instant,
    flow: usize,
    state: &'static str,
    variables: &'a mut Vec<(Instant, usize, &'static str, f64)>,
}

impl Observer for Snapshot<'_> {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        self.variables.push((self.time, self.flow, name, value));
    }
}

impl Trace {
    pub(crate) fn new(scenario: &Scenario, connections: &[Connection]) -> Self {
        let hops = scenario.hops.iter();
        Trace {
            flow_names: flow_names(scenario, connections),
            link_names: hops.flat_map(|hop| hop.names.iter().cloned()).collect(),
            ..Trace::default()
        }
    }

    pub(crate) fn sample_flow(
        &mut self,
        time: Instant,
        flow: usize,
        event: &'static str,
        endpoint: &mut Endpoint,
    ) {
        endpoint.take_packets(&mut |event| self.packets.push((flow, event)));
        let before = self.variables.len();
        let variables = &mut self.variables;
        let mut snapshot = Snapshot {
            time,
            flow,
            state: "",
            variables,
        };
        endpoint.observe(&mut snapshot);
        let state = snapshot.state;
        self.keep_changes(flow, before);
        let path = endpoint.path();
        self.flows.push(FlowRow {
            time,
            flow,
            event,
            window: endpoint.control().window,
            in_flight: path.bytes_in_flight,
            smoothed_rtt: path.has_rtt().then_some(path.smoothed_rtt),
            latest_rtt: path.has_rtt().then_some(path.latest_rtt),
            pacing: endpoint.pacing_rate(),
            delivery_rate: path.delivery_rate,
            delivered: path.delivered,
            state,
        });
    }

    /// Of the variables after `before`, keeps those that differ from their last value.
    fn keep_changes(&mut self, flow: usize, before: usize) {
        let mut kept = before;
        for i in before..self.variables.len() {
            let (_, _, name, value) = self.variables[i];
            let last = self.variables[..before]
                .iter()
                .rev()
                .take(4096)
                .find(|v| v.1 == flow && v.2 == name);
            if last.is_none_or(|last| last.3 != value) {
                self.variables[kept] = self.variables[i];
                kept += 1;
            }
        }
        self.variables.truncate(kept);
    }

    pub(crate) fn sample_link<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        id: LinkId,
        link: &mut Link<P>,
    ) {
        link.advance(time);
        for dropped in link.take_drops() {
            self.drops.push(DropRow {
                time: dropped.at,
                link: id.index(),
                flow: dropped.flow as usize,
                cause: dropped.cause,
            });
        }
        let (queue, stats) = (link.queue(), link.stats());
        let row = LinkRow {
            time,
            link: id.index(),
            capacity: link.capacity(),
            queue_bytes: queue.bytes,
            queue_packets: queue.packets,
            queue_delay: link.queue_delay(),
            delivered: stats.transmitted.bytes,
            dropped: stats.dropped.packets,
            marked: stats.marked.packets,
        };
        self.links.push(row);
    }
}

/// What connections are called: by their flow, or, of a flow of requests, each by itself, as "web/17".
pub(crate) fn flow_names(scenario: &Scenario, connections: &[Connection]) -> Vec<String> {
    let mut names = Vec::new();
    for (index, spec) in scenario.flows.iter().enumerate() {
        let count = connections.iter().filter(|c| c.flow == index).count();
        match &spec.workload {
            Workload::Requests(_) => {
                names.extend((0..count).map(|number| format!("{}/{number}", spec.name)));
            }
            _ => names.push(spec.name.clone()),
        }
    }
    names
}
