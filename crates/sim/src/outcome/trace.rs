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

/// Makes the trace of a trial that runs.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// By now.
    pub trace: Trace,
    /// By flow.
    shown: Vec<Shown>,
}

/// What a flow's controller has shown last: names and values.
type Shown = Vec<(&'static str, f64)>;

/// Collects what a controller shows of itself, and keeps what differs from the last time.
struct Snapshot<'a> {
    time: Instant,
    flow: usize,
    state: &'static str,
    /// Variables seen by now.
    seen: usize,
    shown: &'a mut Shown,
    variables: &'a mut Vec<(Instant, usize, &'static str, f64)>,
}

impl Observer for Snapshot<'_> {
    fn state(&mut self, name: &'static str) {
        self.state = name;
    }
    fn variable(&mut self, name: &'static str, value: f64) {
        // A controller shows the same variables each time, but for those of some states.
        let here = self.shown.get(self.seen).is_some_and(|one| one.0 == name);
        let place = if here {
            self.seen
        } else {
            let known = self.shown.iter().position(|one| one.0 == name);
            known.unwrap_or_else(|| {
                // No value is this one, so that the first is kept.
                self.shown.push((name, f64::from_bits(!value.to_bits())));
                self.shown.len() - 1
            })
        };
        self.seen = place + 1;
        let last = &mut self.shown[place].1;
        if last.to_bits() != value.to_bits() {
            *last = value;
            self.variables.push((self.time, self.flow, name, value));
        }
    }
}

impl Recorder {
    pub(crate) fn new(scenario: &Scenario, connections: &[Connection]) -> Self {
        let hops = scenario.hops.iter();
        Recorder {
            trace: Trace {
                flow_names: flow_names(scenario, connections),
                link_names: hops.flat_map(|hop| hop.names.iter().cloned()).collect(),
                ..Trace::default()
            },
            shown: Vec::new(),
        }
    }

    pub(crate) fn sample_flow(
        &mut self,
        time: Instant,
        flow: usize,
        event: &'static str,
        endpoint: &mut Endpoint,
    ) {
        endpoint.take_packets(&mut |event| self.trace.packets.push((flow, event)));
        if self.shown.len() <= flow {
            self.shown.resize_with(flow + 1, Shown::new);
        }
        let mut snapshot = Snapshot {
            time,
            flow,
            state: "",
            seen: 0,
            shown: &mut self.shown[flow],
            variables: &mut self.trace.variables,
        };
        endpoint.observe(&mut snapshot);
        let state = snapshot.state;
        let path = endpoint.path();
        self.trace.flows.push(FlowRow {
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

    pub(crate) fn sample_link<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        id: LinkId,
        link: &mut Link<P>,
    ) {
        link.advance(time);
        for dropped in link.take_drops() {
            self.trace.drops.push(DropRow {
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
        self.trace.links.push(row);
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
