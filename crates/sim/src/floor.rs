//! The floor: the least time that physics allows a flow on its path, whatever its controller.
//!
//! # Model
//! A fluid limit: the flow has the path for itself, loses nothing, knows the capacity at every moment, and
//! full packets carry nothing but data and their headers. The request reaches the server after the
//! handshake (one and a half round trips, half of one with 0-RTT); from then on data leaves at capacity, and
//! the last byte takes one more propagation delay. On a route of several links the floor is the
//! largest that any of them sets by itself. Delays are the smallest of the schedule.

use crate::connection::Side;
use crate::hop::{DOWN, Hop, UP};
use crate::scenario::{FlowSpec, Metric, Workload};
use thalweg_path::{CapacitySchedule, LinkConfig};
use thalweg_transport::packet::full_packet_payload;
use thalweg_units::{Bytes, Duration, Instant};

/// Floor of `metric`, from the start of the trial; `None` if the capacity does not suffice in all eternity,
/// or if the workload has no single end to speak of.
pub(crate) fn of(hops: &[Hop], flow: &FlowSpec, overhead: u32, metric: Metric) -> Option<Duration> {
    let (down, up) = (links(hops, flow, DOWN), links(hops, flow, UP));
    let (down_delay, up_delay) = (delay(&down), delay(&up));
    let rtt = down_delay + up_delay;
    let handshake = if flow.transport.zero_rtt {
        Duration::ZERO
    } else {
        rtt
    };
    let (bytes, data, ready) = match &flow.workload {
        Workload::Download { bytes, .. } => (*bytes, &down, handshake + up_delay),
        Workload::Upload { bytes, .. } => (*bytes, &up, handshake),
        Workload::Call(media) => {
            // A frame from the server waits for its request: one RTT. One from the client takes half of that.
            let from_client = media.iter().any(|stream| stream.from == Side::Client);
            let is_delay = metric != Metric::Completion && metric != Metric::Closed;
            return is_delay.then_some(if from_client { up_delay } else { rtt });
        }
        Workload::Requests(_) => return None,
    };
    let payload = full_packet_payload(flow.transport.max_mtu).as_u64();
    let packets = bytes.as_u64().div_ceil(payload).max(1);
    let full = flow.transport.max_mtu.as_u64();
    let headers = packets * (full - payload + u64::from(overhead));
    let begin = Instant::START + flow.start + ready;
    // Each link is a bottleneck of its own: none can be done before it has carried all.
    let mut done = Instant::START;
    for (place, link) in data.iter().enumerate() {
        let reached = begin + delay(&data[..place]);
        let sent =
            CapacitySchedule::new(link).time_to_send(bytes + Bytes::new(headers), reached)?;
        done = done.max(sent + delay(&data[place..]));
    }
    let close = match metric {
        Metric::Completion => Duration::ZERO,
        _ => rtt,
    };
    Some(done - Instant::START + close)
}

/// The hop, if there is one, whose capacity is zero in one direction for ever before the flow is done.
pub(crate) fn dead_end(hops: &[Hop], flow: &FlowSpec) -> Option<usize> {
    let bytes = match flow.workload {
        Workload::Download { bytes, .. } | Workload::Upload { bytes, .. } => bytes,
        Workload::Call(_) | Workload::Requests(_) => Bytes::new(1),
    };
    let start = Instant::START + flow.start;
    let moves = |link: &LinkConfig, bytes| {
        CapacitySchedule::new(link)
            .time_to_send(bytes, start)
            .is_some()
    };
    let mut route = flow.route.iter().copied();
    route.find(|hop| {
        let [down, up] = &hops[*hop].links;
        !(moves(down, bytes) && moves(up, Bytes::new(1)))
    })
}

/// The links that a flow crosses in one direction, in the order in which its packets do.
fn links<'a>(hops: &'a [Hop], flow: &FlowSpec, direction: usize) -> Vec<&'a LinkConfig> {
    let mut links: Vec<_> = (flow.route.iter())
        .map(|hop| &hops[*hop].links[direction])
        .collect();
    if direction == UP {
        links.reverse();
    }
    links
}

/// The smallest propagation delay across all of these links.
fn delay(links: &[&LinkConfig]) -> Duration {
    let least = |link: &LinkConfig| {
        let changed = link.changes.iter().filter_map(|change| change.delay);
        changed.fold(link.delay, Duration::min)
    };
    (links.iter()).fold(Duration::ZERO, |sum, link| sum + least(link))
}
