//! Probes: measurements of a client and an echo server at the ends of a scenario's path, in virtual time.
//!
//! # Model
//! The client sends a packet every interval, the server returns it at the instant of its arrival. Both
//! directions use the route of the first flow, with the links of a trial with the same seed. There is no other
//! traffic: queues hold only probes, and jitter is drawn once for each of them.
//!
//! # Limits
//! Endpoints take no time and their clocks agree. A link keeps probes in order like the
//! packets of a flow; since its delays grow with the packet rate, probes see less delay than a busy flow.

use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::seed;
use thalweg_path::Link;
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// One probe. Lost packets have no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When the client sent it.
    pub sent: Instant,
    /// When the server received and returned it.
    pub echoed: Option<Instant>,
    /// When the client received the reply.
    pub received: Option<Instant>,
}

struct Datagram {
    number: u32,
    size: Bytes,
    ecn: Ecn,
}

impl thalweg_path::Packet for Datagram {
    fn size(&self) -> Bytes {
        self.size
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        0
    }
}

/// Sends `count` probes with `size` bytes of payload through the path of a scenario that is otherwise idle.
pub fn probe(
    scenario: &Scenario,
    trial: u64,
    interval: Duration,
    count: u32,
    size: Bytes,
) -> Vec<Probe> {
    let size = size + Bytes::new(u64::from(scenario.overhead));
    let mut probes: Vec<Probe> = (0..count)
        .map(|number| Probe {
            sent: Instant::START + interval * u64::from(number),
            echoed: None,
            received: None,
        })
        .collect();
    let route = &scenario.flows[0].route;
    let mut packets: Vec<(Instant, u32)> = (0..).zip(&probes).map(|(n, p)| (p.sent, n)).collect();
    let cross = |hop: usize, direction: Direction, packets: Vec<(Instant, u32)>| {
        let seed = seed::of_link(scenario, trial, LinkId::new(hop, direction));
        let link = Link::new(&scenario.hops[hop].links[direction], seed, 1);
        carry(link, packets, size)
    };
    for hop in route.iter().rev() {
        packets = cross(*hop, Direction::Up, packets);
    }
    for &(at, number) in &packets {
        probes[number as usize].echoed = Some(at);
    }
    for hop in route {
        packets = cross(*hop, Direction::Down, packets);
    }
    for &(at, number) in &packets {
        probes[number as usize].received = Some(at);
    }
    probes
}

/// Sends packets over a link; they and the result are times and numbers, ordered by time.
fn carry(
    mut link: Link<Datagram>,
    packets: Vec<(Instant, u32)>,
    size: Bytes,
) -> Vec<(Instant, u32)> {
    let mut arrived = Vec::with_capacity(packets.len());
    for (at, number) in packets {
        drain(&mut link, at, &mut arrived);
        let ecn = Ecn::NotEct;
        link.push(at, Datagram { number, size, ecn });
    }
    drain(&mut link, Instant::NEVER, &mut arrived);
    arrived
}

/// What arrives until `end`.
fn drain(link: &mut Link<Datagram>, end: Instant, arrived: &mut Vec<(Instant, u32)>) {
    while let Some(at) = link.next().filter(|at| *at <= end) {
        if let Some(packet) = link.pop(at) {
            arrived.push((at, packet.number));
        }
    }
}
