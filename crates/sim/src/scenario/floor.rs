//! The floor: the least time that physics allows a flow on its path, whatever its controller.
//!
//! # Model
//! A fluid limit: the flow is alone on the path, loses nothing (not even in an outage that loses everything, in which a
//! packet may begin that ends after it), knows the capacity in advance, and
//! full packets contain only data and their headers, of the least size for the real stack and none for a library or a
//! program. The request reaches the
//! server after the handshake (one and a half round trips, half of one with 0-RTT); from then on data is sent at
//! capacity, and the last byte takes one more propagation delay. A server that writes at a rate has not
//! written the last byte before, and chunks are a round trip and a think time apart. The exchange of closes takes
//! a round trip, or three probe timeouts before the first RTT sample; a sender to which optimistic ACKs are sent may close
//! by itself, in no time. On a route of several links the floor is the
//! largest of their floors. Delays are the smallest of the schedule. A change that follows a state may come at once: the
//! highest rate of such changes counts from the start. Noise is taken at its best: always three
//! deviations more capacity and less delay.
//!
//! # Limits
//! Noise scales the opportunities of a delivery trace like a rate, without a useful bound: there the floor
//! counts only delays.

use crate::quic::LEAST_STREAM_OVERHEAD;
use crate::scenario::hop::{Direction, Hop};
use crate::scenario::library::FlowStack;
use crate::scenario::{FlowSpec, Metric, Scenario, Workload};
use std::borrow::Cow;
use thalweg_path::{CapacitySchedule, LinkConfig};
use thalweg_transport::packet::full_packet_payload;
use thalweg_transport::{AckConduct, Role};
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// How long a client waits for the answer to its close at least: three probe timeouts (RFC 9000 section 10.2), each of
/// 333 ms and four times half of that, if it has no RTT sample yet (RFC 9002 sections 6.2.1 and 6.2.2).
const LEAST_CLOSING: Duration = Duration::from_millis(3 * (333 + 4 * 333 / 2));
/// Truncation of the draws of noise (see the noise of links).
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

/// Floor of `metric`, from the start of the trial; `None` if the capacity never suffices, or the
/// workload has no single end.
pub(crate) fn of(hops: &[Hop], flow: &FlowSpec, overhead: u32, metric: Metric) -> Option<Duration> {
    let (down, up) = (
        links(hops, flow, Direction::Down),
        links(hops, flow, Direction::Up),
    );
    let (down_delay, up_delay) = (delay(&down), delay(&up));
    let rtt = down_delay + up_delay;
    match metric {
        Metric::Rtt | Metric::EventRtt | Metric::EventRttHigh | Metric::MaxRtt => return Some(rtt),
        _ if metric.is_of_media() && !metric.is_delay() => return None,
        _ if metric.is_end() || metric.is_of_media() || metric.is_of_call() => {}
        _ => return None,
    }
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
            return (metric.is_of_media() || metric.is_of_call()).then_some(if from_client {
                up_delay
            } else {
                rtt
            });
        }
        Workload::Requests(_) => return None,
    };
    let full = flow.transport.max_mtu;
    let header = match &flow.stack {
        _ if flow.command.is_some() => Bytes::ZERO, // nobody knows its headers
        FlowStack::Model => full - full_packet_payload(full),
        FlowStack::Quic => Bytes::new(LEAST_STREAM_OVERHEAD),
        FlowStack::Library(_) => Bytes::ZERO, // nor these
    };
    let payload = (full - header).as_u64();
    let packets = bytes.as_u64().div_ceil(payload).max(1);
    let overhead = if flow.command.is_some() { 0 } else { overhead };
    let headers = packets * (header.as_u64() + u64::from(overhead));
    let begin = Instant::START + flow.start + ready;
    // Each link may be the bottleneck: none is done before it has transmitted all.
    let mut done = Instant::START;
    for (position, link) in data.iter().enumerate() {
        let reached = begin + delay(&data[..position]);
        let sent = if link.trace.is_some() && link.noise.is_some() {
            reached
        } else {
            let schedule = CapacitySchedule::new(&at_best(link));
            schedule.time_to_send(bytes + Bytes::new(headers), reached)?
        };
        done = done.max(sent + delay(&data[position..]));
    }
    let close = match metric {
        Metric::Completion => Duration::ZERO,
        // The sender may close as soon as it sees the lie, with the last of the data (RFC 9000 section 13.1).
        _ if flow.ack_conduct == AckConduct::Optimistic => Duration::ZERO,
        _ => rtt.min(LEAST_CLOSING),
    };
    if let Workload::Download {
        supply: Some(supply),
        ..
    } = &flow.workload
    {
        done = done.max(begin + supply.least(rtt) + down_delay);
    }
    Some(done - Instant::START + close)
}

/// The links that a flow crosses in one direction, in the order in which its packets do.
fn links<'a>(hops: &'a [Hop], flow: &FlowSpec, direction: Direction) -> Vec<Cow<'a, LinkConfig>> {
    let mut links: Vec<_> = (flow.route.iter())
        .map(|hop| hops[*hop].at_most(direction))
        .collect();
    if direction == Direction::Up {
        links.reverse();
    }
    links
}

/// The link without noise, at the largest rates under noise. A suspended link stays suspended.
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
fn delay(links: &[Cow<'_, LinkConfig>]) -> Duration {
    let least = |link: &LinkConfig| {
        let changed = link.changes.iter().filter_map(|change| change.delay);
        let gain = (link.noise).map_or(Duration::ZERO, |noise| noise.delay_sd * DEVIATIONS);
        changed.fold(link.delay, Duration::min) - gain
    };
    (links.iter()).fold(Duration::ZERO, |sum, link| sum + least(link))
}
