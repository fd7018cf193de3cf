//! What the emulator sees of flows: when their packets cross, and what these carry above TCP and UDP.
//!
//! # Model
//! A packet counts as sent when it is read and as received when it is written. What is above the header of TCP or UDP
//! is payload: data, and headers of QUIC, TLS and HTTP, and data that is sent again.

use super::DataLinks;
use thalweg_units::{Bytes, Duration, Instant};

/// Bins of what flows have received.
const BIN: Duration = Duration::from_millis(10);
/// A connection with less than such a part of the payload of its flow carries none of the data.
const DATA: u64 = 100;

/// A packet, as far as this matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub(super) now: Instant,
    pub(super) link: usize,
    /// The number of its connection.
    pub(super) connection: u64,
    pub(super) payload: Bytes,
}

/// What was seen of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Its first packet in either direction, as sent.
    pub(crate) first: Option<Instant>,
    /// Its last packet with payload in the direction of the data, as received.
    pub(crate) last: Option<Instant>,
    /// Payload received in that direction.
    pub(crate) payload: Bytes,
    /// Packets sent in that direction.
    pub(crate) packets: u64,
}

/// What was seen of all flows.
#[derive(Debug)]
pub(crate) struct Outside {
    /// For each connection its flow, and the links that carry its data.
    connections: Vec<(usize, DataLinks)>,
    seen: Vec<Seen>,
    /// For each flow, payload received.
    bins: Vec<Vec<u64>>,
}

impl Outside {
    pub(crate) fn new(flows: usize, connections: Vec<(usize, DataLinks)>) -> Outside {
        Outside {
            seen: vec![Seen::default(); connections.len()],
            connections,
            bins: vec![Vec::new(); flows],
        }
    }

    /// A packet was offered to a link.
    pub(super) fn on_sent(&mut self, packet: Passing) {
        let Some((connection, _, data)) = self.known(packet.connection) else {
            return;
        };
        let seen = &mut self.seen[connection];
        seen.first.get_or_insert(packet.now);
        seen.packets += u64::from(data[packet.link]);
    }

    /// A packet left a link.
    pub(super) fn on_received(&mut self, packet: Passing) {
        let Some((connection, flow, data)) = self.known(packet.connection) else {
            return;
        };
        if !data[packet.link] || packet.payload.is_zero() {
            return;
        }
        let seen = &mut self.seen[connection];
        seen.last = Some(packet.now);
        seen.payload += packet.payload;
        let bin = ((packet.now - Instant::START).as_nanos() / BIN.as_nanos()) as usize;
        let bins = &mut self.bins[flow];
        if bins.len() <= bin {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += packet.payload.as_u64();
    }

    fn known(&self, connection: u64) -> Option<(usize, usize, DataLinks)> {
        let number = usize::try_from(connection).ok()?;
        let &(flow, data) = self.connections.get(number)?;
        Some((number, flow, data))
    }

    /// What was seen of a flow: the sum of its connections, but the last packet is from one which carries data, and
    /// so at least a hundredth of the payload (others may be of control).
    pub(crate) fn flow(&self, flow: usize) -> Seen {
        let all = self.connections.iter().zip(&self.seen);
        let own = all.filter(|((of, _), _)| *of == flow).map(|(_, seen)| seen);
        let payload: Bytes = own.clone().map(|seen| seen.payload).sum();
        let carry = own
            .clone()
            .filter(|seen| seen.payload.as_u64() >= payload.as_u64().div_ceil(DATA));
        Seen {
            first: own.clone().filter_map(|seen| seen.first).min(),
            last: carry.filter_map(|seen| seen.last).max(),
            payload,
            packets: own.map(|seen| seen.packets).sum(),
        }
    }

    /// Payload that a flow received between two times, in whole bins.
    pub(crate) fn received(&self, flow: usize, from: Duration, to: Duration) -> Bytes {
        let bin = |at: Duration| (at.as_nanos() / BIN.as_nanos()) as usize;
        let bins = &self.bins[flow];
        let (from, to) = (bin(from), bin(to).min(bins.len()));
        Bytes::new(bins.get(from..to).unwrap_or_default().iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOWN: DataLinks = [true, false];
    const UP: DataLinks = [false, true];

    fn packet(ms: u64, link: usize, connection: u64, payload: u64) -> Passing {
        Passing {
            now: Instant::START + Duration::from_millis(ms),
            link,
            connection,
            payload: Bytes::new(payload),
        }
    }

    #[test]
    fn a_flow_begins_with_any_packet_and_ends_with_the_last_data_of_connections_that_carry_it() {
        // Flow 0 downloads over link 0 and has three connections; flow 1 uploads over link 1.
        let mut outside = Outside::new(2, vec![(0, DOWN), (0, DOWN), (1, UP), (0, DOWN)]);
        outside.on_sent(packet(3, 1, 0, 0));
        outside.on_sent(packet(5, 0, 0, 1000));
        outside.on_received(packet(15, 0, 0, 1000));
        outside.on_received(packet(25, 0, 0, 500));
        outside.on_received(packet(26, 0, 0, 0)); // an acknowledgement
        outside.on_received(packet(27, 1, 0, 100)); // a request
        outside.on_received(packet(30, 0, 3, 30)); // a smaller transfer: 30 of 1545, 1.9 %
        outside.on_received(packet(40, 0, 1, 15)); // a connection for control: 1.0 %, and less than 15.45
        outside.on_received(packet(41, 1, 2, 9));
        outside.on_received(packet(50, 0, 99, 9)); // of no flow
        let at = |ms| Some(Instant::START + Duration::from_millis(ms));
        let seen = Seen {
            first: at(3),
            last: at(30),
            payload: Bytes::new(1545),
            packets: 1,
        };
        assert_eq!(outside.flow(0), seen);
        assert_eq!(outside.flow(1).payload, Bytes::new(9));
        let received =
            |from, to| outside.received(0, Duration::from_millis(from), Duration::from_millis(to));
        assert_eq!(received(10, 20), Bytes::new(1000));
        assert_eq!(received(0, 9999), Bytes::new(1545));
        assert_eq!(received(60, 50), Bytes::ZERO);
    }
}
