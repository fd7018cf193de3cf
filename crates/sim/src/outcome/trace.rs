//! The time series that one trial yields when asked.
//!
//! Flows are sampled at their data sender after every event that changed it, links after every packet that
//! came or went. Nothing is recorded, and nothing is paid, unless a trace is asked for.

use crate::scenario::{Scenario, Workload};
use crate::trial::connection::Connection;
use crate::trial::stack::Endpoint;
use serde::{Deserialize, Serialize};
use thalweg_path::{DropCause, Link};
use thalweg_transport::{Sampled, SenderRecorder, SenderTrace};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// One sample of a link.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Trace {
    /// Of the data sender of each flow.
    pub senders: SenderTrace,
    /// Samples of links.
    pub links: Vec<LinkRow>,
    /// Drops.
    pub drops: Vec<DropRow>,
    /// What the flows that the series number are called: of a flow of requests, each request by itself, as
    /// "web/17".
    pub flow_names: Vec<String>,
    /// What the links are called.
    pub link_names: Vec<String>,
}

/// Makes the trace of a trial that runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) senders: SenderRecorder,
    trace: Trace,
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
            senders: SenderRecorder::default(),
        }
    }

    pub(crate) fn sample_flow(
        &mut self,
        time: Instant,
        flow: usize,
        event: &'static str,
        endpoint: &mut Endpoint,
    ) {
        sample_sender(&mut self.senders, time, flow, event, endpoint);
    }

    pub(crate) fn sample_link<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &mut Link<P>,
    ) {
        self.trace.sample_link(time, index, link);
    }

    pub(crate) fn finish(self) -> Trace {
        Trace {
            senders: self.senders.trace,
            ..self.trace
        }
    }
}

impl Trace {
    /// Looks at link number `index`.
    pub fn sample_link<P: thalweg_path::Packet>(
        &mut self,
        time: Instant,
        index: usize,
        link: &mut Link<P>,
    ) {
        link.advance(time);
        for dropped in link.take_drops() {
            self.drops.push(DropRow {
                time: dropped.at,
                link: index,
                flow: dropped.flow as usize,
                cause: dropped.cause,
            });
        }
        let (queue, stats) = (link.queue(), link.stats());
        let row = LinkRow {
            time,
            link: index,
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

/// Looks at a sender of data, and takes what became of its packets.
pub(crate) fn sample_sender(
    recorder: &mut SenderRecorder,
    time: Instant,
    flow: usize,
    event: &'static str,
    endpoint: &mut Endpoint,
) {
    let packets = &mut recorder.trace.packets;
    endpoint.take_packets(&mut |event| packets.push((flow, event)));
    let sender = Sampled {
        control: endpoint.control(),
        pacing: endpoint.pacing_rate(),
        path: endpoint.path(),
    };
    recorder.sample(time, flow, event, &sender, |out| endpoint.observe(out));
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
