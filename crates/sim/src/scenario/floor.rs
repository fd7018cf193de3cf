//! The floor: the least time that physics allows a flow on its path, whatever its controller.
//!
//! # Model
//! A fluid limit: the flow has the path for itself, loses nothing, knows the capacity at every moment, and
//! full packets carry nothing but data and their headers, those of the real stack being as short as they can be. The request reaches the server after the
//! handshake (one and a half round trips, half of one with 0-RTT); from then on data leaves at capacity, and
//! the last byte takes one more propagation delay. On a route of several links the floor is the
//! largest that any of them sets by itself. Delays are the smallest of the schedule. Noise is taken at its best: three
//! deviations of capacity more and of delay less, all the time.
//!
//! # Limits
//! Noise scales the opportunities of a delivery trace as it scales a rate, without a useful bound: there the floor
//! counts delays alone.

use crate::scenario::hop::{Direction, Hop};
use crate::scenario::schema::Stack;
use crate::scenario::{FlowSpec, Metric, Scenario, Workload};
use thalweg_path::{CapacitySchedule, LinkConfig};
use thalweg_quic::LEAST_STREAM_OVERHEAD;
use thalweg_transport::Role;
use thalweg_transport::packet::full_packet_payload;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Where the draws of noise are cut off (see the noise of links).
const DEVIATIONS: u64 = 3;

impl Scenario {
    /// Floor of the completion of the main flow.
    pub fn floor(&self) -> Option<Duration> {
        of(
            &self.hops,
            &self.flows[0],
            self.overhead,
            Metric::Completion,
        )
    }
}

/// Floor of `metric`, from the start of the trial; `None` if the capacity never suffices, or if the workload has no single end to speak of.
pub(crate) fn of(hops: &[Hop], flow: &FlowSpec, overhead: u32, metric: Metric) -> Option<Duration> {
    let (down, up) = (
        links(hops, flow, Direction::Down),
        links(hops, flow, Direction::Up),
    );
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
            let from_client = media.iter().any(|stream| stream.from == Role::Client);
            let is_delay = metric != Metric::Completion && metric != Metric::Closed;
            return is_delay.then_some(if from_client { up_delay } else { rtt });
        }
        Workload::Requests(_) => return None,
    };
    let full = flow.transport.max_mtu;
    let header = match flow.stack {
        Stack::Model => full - full_packet_payload(full),
        Stack::Quic => Bytes::new(LEAST_STREAM_OVERHEAD),
    };
    let payload = (full - header).as_u64();
    let packets = bytes.as_u64().div_ceil(payload).max(1);
    let headers = packets * (header.as_u64() + u64::from(overhead));
    let begin = Instant::START + flow.start + ready;
    // Each link is a bottleneck of its own: none can be done before it has carried all.
    let mut done = Instant::START;
    for (place, link) in data.iter().enumerate() {
        let reached = begin + delay(&data[..place]);
        let sent = if link.trace.is_some() && link.noise.is_some() {
            reached
        } else {
            let schedule = CapacitySchedule::new(&at_best(link));
            schedule.time_to_send(bytes + Bytes::new(headers), reached)?
        };
        done = done.max(sent + delay(&data[place..]));
    }
    let close = match metric {
        Metric::Completion => Duration::ZERO,
        _ => rtt,
    };
    Some(done - Instant::START + close)
}

/// The links that a flow crosses in one direction, in the order in which its packets do.
fn links<'a>(hops: &'a [Hop], flow: &FlowSpec, direction: Direction) -> Vec<&'a LinkConfig> {
    let mut links: Vec<_> = (flow.route.iter())
        .map(|hop| &hops[*hop].links[direction])
        .collect();
    if direction == Direction::Up {
        links.reverse();
    }
    links
}

/// The link without noise, at the largest rates that noise lets it have. A suspended link stays suspended.
fn at_best(link: &LinkConfig) -> LinkConfig {
    let mut best = link.clone();
    if let Some(noise) = best.noise.take() {
        let gain = noise.rate_sd.as_bits_per_sec().saturating_mul(DEVIATIONS);
        let changed = best.changes.iter_mut();
        let rates = changed.filter_map(|change| change.rate.as_mut());
        for rate in rates.chain([&mut best.rate]) {
            if !rate.is_zero() {
                *rate = Rate::from_bits_per_sec(rate.as_bits_per_sec().saturating_add(gain));
            }
        }
    }
    best
}

/// The smallest propagation delay across all of these links.
fn delay(links: &[&LinkConfig]) -> Duration {
    let least = |link: &LinkConfig| {
        let changed = link.changes.iter().filter_map(|change| change.delay);
        let gain = (link.noise).map_or(Duration::ZERO, |noise| noise.delay_sd * DEVIATIONS);
        changed.fold(link.delay, Duration::min) - gain
    };
    (links.iter()).fold(Duration::ZERO, |sum, link| sum + least(link))
}
