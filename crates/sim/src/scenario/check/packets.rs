//! Whether the packets of a scenario are too many, inside the network or in total.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::{Direction, Hop};
use crate::scenario::limits::{INSIDE, PACKETS};
use crate::scenario::schema::ScenarioFile;
use crate::scenario::traffic::TrafficSpec;
use crate::scenario::{FlowSpec, Workload};
use thalweg_path::{CapacitySchedule, Limit, LinkConfig};
use thalweg_units::{Bytes, Duration, Instant};

impl Checker<'_> {
    /// Bounds on the packets at a time, and in total: what the flows send, what the links transmit, and
    /// what fits into them.
    pub(super) fn check_packets(
        &self,
        file: &ScenarioFile,
        (flows, traffic): (&[FlowSpec], &[TrafficSpec]),
        hops: &[Hop],
    ) -> Result<(), ScenarioError> {
        let packet = u128::from(
            file.transport
                .initial_mtu
                .unwrap_or(Bytes::new(1252))
                .as_u64()
                .max(1),
        );
        let packet = super::traffic::smallest_packet(traffic)
            .map_or(packet, |least| packet.min(u128::from(least.as_u64())));
        let end = Instant::START + file.time_limit;
        let (mut carried, mut inside) = (0u128, 0u128);
        for (index, hop) in hops.iter().enumerate() {
            for direction in Direction::BOTH {
                let sent: u128 = (flows.iter())
                    .filter(|flow| flow.route.contains(&index))
                    .map(|flow| data(flow, direction))
                    .sum();
                let cross = Self::traffic_on(traffic, index, direction, file.time_limit);
                let sent = sent + cross;
                let link = &*hop.at_most(direction);
                let able = CapacitySchedule::new(link).bytes_between(Instant::START, end);
                let moved = sent.min(u128::from(able.as_u64()));
                // What a full link drops costs as much time as what it carries.
                carried += moved.max(cross) / packet;
                // Cross traffic does not wait for the link: all of it may stand in an unlimited buffer.
                inside += moved.max(cross).min(room(link)) / packet;
            }
        }
        for (packets, most, what) in [
            (inside, INSIDE, "can be inside the network at one time"),
            (carried, PACKETS, "can cross links in one trial"),
        ] {
            if packets > u128::from(most) {
                let problem = format!(
                    "{packets} packets of these flows {what}; accepted: at most {most}, by less data, a lower rate, a shorter rtt or a smaller buffer"
                );
                return self.fail("flow", problem);
            }
        }
        Ok(())
    }
}

/// The most bytes that a flow sends in one direction; requests and receipts are small.
fn data(flow: &FlowSpec, direction: Direction) -> u128 {
    match &flow.workload {
        Workload::Download { bytes, .. } if direction == Direction::Down => {
            u128::from(bytes.as_u64())
        }
        Workload::Upload { bytes, .. } if direction == Direction::Up => u128::from(bytes.as_u64()),
        Workload::Download { .. } | Workload::Upload { .. } => 0,
        Workload::Call(media) => {
            let bytes: u128 = (media.iter()).map(|stream| stream.most_bytes()).sum();
            match &flow.probe {
                None => bytes,
                // Probes are at most `b` of all: media is at least `1 - b` of it.
                Some(probe) => {
                    let media = u128::from(probe.budget.rest().parts_per_billion());
                    bytes * 1_000_000_000 / media.max(1)
                }
            }
        }
        Workload::Requests(arrivals) => {
            u128::from(arrivals.connections()) * u128::from(arrivals.objects) * arrivals.most()
        }
    }
}

/// Most bytes in the queue of a link and in flight behind it.
fn room(link: &LinkConfig) -> u128 {
    let mean = link.trace.as_ref().map(|trace| trace.mean_rate());
    let rates = link.changes.iter().filter_map(|change| change.rate);
    let rate = rates
        .chain(mean)
        .fold(link.rate, |most, rate| most.max(rate));
    let delays = link.changes.iter().filter_map(|change| change.delay);
    let delay = delays.fold(link.delay, Duration::max);
    let limits = link.changes.iter().filter_map(|change| change.limit);
    let queue = |limit: Limit| match limit {
        Limit::Unlimited => u128::MAX >> 1,
        Limit::Time(time) => u128::from(rate.bytes_in(time).as_u64()),
        Limit::Bytes(bytes) => u128::from(bytes.as_u64()),
        Limit::Packets(packets) => u128::from(packets) * 65_527,
    };
    let buffer = limits.map(queue).fold(queue(link.limit), u128::max);
    buffer + u128::from(rate.bytes_in(delay).as_u64())
}
