//! Results of flows: recorded as each connection ends, and summed up at the end.

use super::connection::Ends;
use super::connection_result::ConnectionResult;
use super::event_loop::Traffic;
use super::flow_trace::{FlowRecorder, FlowTrace};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Duration, Instant};

/// The results of all flows.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct TrafficResult {
    /// By flow, in order of their start.
    pub(crate) connections: Vec<ConnectionResult>,
    /// If requested.
    pub(crate) trace: Option<FlowTrace>,
    /// Datagrams down and up that the host dropped because the receive buffer was full.
    pub(crate) host_dropped: [u64; 2],
    /// For each flow, bytes delivered while all flows were active.
    pub(crate) shared: Vec<Bytes>,
    /// Time during which all flows were active.
    pub(crate) overlap: Duration,
    /// End of the trial.
    pub(crate) end: Duration,
}

impl Traffic<'_> {
    /// Records the result of a connection, and closes its sockets.
    pub(super) fn take_leave(&mut self, index: usize, now: Instant) {
        let connection = &mut self.connections[index];
        connection.observe(now, self.trace.as_mut());
        if let Ends::Quic(ends) = &connection.ends {
            connection.result.media = ends.media(self.scenario, now);
            let [down, up] = ends.dropped();
            self.host_dropped[0] += down;
            self.host_dropped[1] += up;
        }
        if let Ends::Program(ends) = std::mem::replace(&mut connection.ends, Ends::None) {
            self.to_stop.push(*ends);
        }
    }

    /// A connection has ended.
    pub(super) fn leave(&mut self, index: usize) {
        self.active.retain(|active| *active != index);
        self.flows[self.connections[index].flow].unfinished -= 1;
    }

    /// Bytes delivered by each flow so far.
    pub(super) fn delivered(&self) -> Vec<Bytes> {
        let mut delivered = vec![Bytes::ZERO; self.flows.len()];
        for connection in &self.connections {
            delivered[connection.flow] += connection.result.bytes_delivered;
        }
        delivered
    }

    pub(super) fn finish(mut self) -> TrafficResult {
        let now = self.clock.now();
        for index in std::mem::take(&mut self.active) {
            self.take_leave(index, now);
        }
        for ends in &mut self.to_stop {
            ends.stop();
        }
        let delivered = self.delivered();
        let [start, end] = self.overlap;
        let (end, after) = end.unwrap_or((now, delivered));
        let (start, before) = start.unwrap_or_else(|| (end, after.clone()));
        let shared = after.iter().zip(&before);
        let connections = self.connections.into_iter();
        TrafficResult {
            connections: connections.map(|connection| connection.result).collect(),
            trace: self.trace.map(FlowRecorder::close),
            host_dropped: self.host_dropped,
            shared: shared.map(|(after, before)| *after - *before).collect(),
            overlap: end - start,
            end: now - Instant::START,
        }
    }
}
