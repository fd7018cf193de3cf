//! The floor: the least time that physics allows a flow on its path, whatever its controller.
//!
//! # Model
//! A fluid limit: the flow has the path for itself, loses nothing, knows the capacity at every moment, and
//! full packets carry nothing but data and their headers. The request reaches the server after the
//! handshake (one and a half round trips, half of one with 0-RTT); from then on data leaves at capacity, and
//! the last byte takes one more propagation delay. Delays are the smallest of the schedule.

use crate::flow::Side;
use crate::scenario::{FlowSpec, Metric, Workload};
use thalweg_path::{CapacitySchedule, LinkConfig};
use thalweg_transport::packet::full_packet_payload;
use thalweg_units::{Bytes, Duration, Instant};

/// Floor of `metric`, from the start of the trial; `None` if the capacity does not suffice in all eternity.
pub(crate) fn of(
    down: &LinkConfig,
    up: &LinkConfig,
    flow: &FlowSpec,
    overhead: u32,
    metric: Metric,
) -> Option<Duration> {
    let (down_delay, up_delay) = (least_delay(down), least_delay(up));
    let rtt = down_delay + up_delay;
    let zero_rtt = flow.transport.zero_rtt;
    if let Workload::Call(media) = &flow.workload {
        // A frame from the server waits for its request: one RTT. One from the client takes half of that.
        let from_client = media.iter().any(|stream| stream.from == Side::Client);
        let is_delay = metric != Metric::Completion && metric != Metric::Closed;
        return is_delay.then_some(if from_client { up_delay } else { rtt });
    }
    let (bytes, data, data_delay, ready) = match flow.workload {
        Workload::Download { bytes, .. } => {
            let handshake = if zero_rtt { Duration::ZERO } else { rtt };
            (bytes, down, down_delay, handshake + up_delay)
        }
        Workload::Upload { bytes, .. } => {
            let handshake = if zero_rtt { Duration::ZERO } else { rtt };
            (bytes, up, up_delay, handshake)
        }
        Workload::Call(_) => return None,
    };
    let payload = full_packet_payload(flow.transport.max_mtu).as_u64();
    let packets = bytes.as_u64().div_ceil(payload).max(1);
    let full = flow.transport.max_mtu.as_u64();
    let headers = packets * (full - payload + u64::from(overhead));
    let schedule = CapacitySchedule::new(data);
    let begin = Instant::START + flow.start + ready;
    let sent = schedule.time_to_send(bytes + Bytes::new(headers), begin)?;
    let close = match metric {
        Metric::Completion => Duration::ZERO,
        _ => rtt,
    };
    Some(sent - Instant::START + data_delay + close)
}

/// Whether the capacity of both directions is above zero after the flow has started, at least at times.
pub(crate) fn can_finish(down: &LinkConfig, up: &LinkConfig, flow: &FlowSpec) -> bool {
    let bytes = match flow.workload {
        Workload::Download { bytes, .. } | Workload::Upload { bytes, .. } => bytes,
        Workload::Call(_) => Bytes::new(1),
    };
    let start = Instant::START + flow.start;
    let moves = |link: &LinkConfig, bytes| {
        CapacitySchedule::new(link)
            .time_to_send(bytes, start)
            .is_some()
    };
    moves(down, bytes) && moves(up, Bytes::new(1))
}

fn least_delay(link: &LinkConfig) -> Duration {
    let changed = link.changes.iter().filter_map(|change| change.delay);
    changed.fold(link.delay, Duration::min)
}
