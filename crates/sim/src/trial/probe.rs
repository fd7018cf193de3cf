//! Probes: measurements of a client and an echo server at the ends of a scenario's path, in virtual time.
//!
//! # Model
//! The client sends a packet every interval, the server returns it at the instant of its arrival. Both
//! directions use the route of the first flow, with the links of a trial with the same seed. There is no other
//! traffic: queues hold only probes, and jitter is drawn once for each of them. On a shared medium they contend, with the
//! neighbours if there are any.
//!
//! # Limits
//! Endpoints take no time and their clocks agree. A link keeps probes in order like the
//! packets of a flow; since its delays grow with the packet rate, probes see less delay than a busy flow.

use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::seed;
use thalweg_path::{Link, Medium};
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

/// A link on the way of a probe, in the order in which it crosses them: where it is, and which way it leads.
#[derive(Clone, Copy)]
struct Leg {
    hop: usize,
    direction: Direction,
}

/// The path on the way: the links of each hop, its medium, and what has arrived.
struct Path {
    hops: Vec<([Link<Datagram>; 2], Option<Medium>)>,
    legs: Vec<Leg>,
    size: Bytes,
    probes: Vec<Probe>,
}

/// Sends `count` probes with `size` bytes of payload through the path of a scenario that is otherwise idle.
pub fn probe(
    scenario: &Scenario,
    trial: u64,
    interval: Duration,
    count: u32,
    size: Bytes,
) -> Vec<Probe> {
    let route = &scenario.flows[0].route;
    let legs = |direction| {
        move |hop: &usize| Leg {
            hop: *hop,
            direction,
        }
    };
    let mut path = Path {
        hops: (0..scenario.hops.len())
            .map(|hop| of_hop(scenario, trial, hop))
            .collect(),
        legs: (route.iter().rev().map(legs(Direction::Up)))
            .chain(route.iter().map(legs(Direction::Down)))
            .collect(),
        size: size + Bytes::new(u64::from(scenario.overhead)),
        probes: Vec::with_capacity(count as usize),
    };
    for number in 0..count {
        let sent = Instant::START + interval * u64::from(number);
        path.run(sent);
        path.probes.push(Probe {
            sent,
            echoed: None,
            received: None,
        });
        path.enter(0, sent, number);
    }
    path.run(Instant::NEVER);
    path.probes
}

/// The links of a hop, and its medium, as in a trial of this seed.
fn of_hop(scenario: &Scenario, trial: u64, hop: usize) -> ([Link<Datagram>; 2], Option<Medium>) {
    let spec = &scenario.hops[hop];
    let seed = |direction| seed::of_link(scenario, trial, LinkId::new(hop, direction));
    let mut links = Direction::BOTH.map(|way| Link::new(&spec.links[way], seed(way), 1));
    let medium =
        (spec.medium.as_ref()).map(|config| Medium::new(config, seed(Direction::Down), &mut links));
    (links, medium)
}

impl Path {
    /// Everything until `end`, in the order of time.
    fn run(&mut self, end: Instant) {
        loop {
            let due = self.hops.iter().filter_map(|(links, medium)| {
                let medium = medium.as_ref().map(Medium::next);
                links.iter().filter_map(Link::next).chain(medium).min()
            });
            let Some(now) = due.min().filter(|at| *at <= end && *at != Instant::NEVER) else {
                return;
            };
            for (links, medium) in &mut self.hops {
                if let Some(medium) = medium.as_mut().filter(|one| one.next() <= now) {
                    medium.call(now, links);
                }
            }
            for leg in 0..self.legs.len() {
                self.hand_on(leg, now);
            }
        }
    }

    /// What has arrived at the end of a leg enters the next one.
    fn hand_on(&mut self, leg: usize, now: Instant) {
        let Leg { hop, direction } = self.legs[leg];
        while let Some(packet) = self.hops[hop].0[direction as usize].pop(now) {
            let probe = &mut self.probes[packet.number as usize];
            if leg + 1 == self.legs.len() {
                probe.received = Some(now);
                continue;
            }
            if leg + 1 == self.legs.len() / 2 {
                probe.echoed = Some(now);
            }
            self.enter(leg + 1, now, packet.number);
        }
    }

    /// A packet enters a leg, after what has arrived there.
    fn enter(&mut self, leg: usize, now: Instant, number: u32) {
        self.hand_on(leg, now);
        let Leg { hop, direction } = self.legs[leg];
        let (links, medium) = &mut self.hops[hop];
        let (size, ecn) = (self.size, Ecn::NotEct);
        links[direction as usize].push(now, Datagram { number, size, ecn });
        if let Some(medium) = medium {
            medium.pushed(now, direction as usize, links);
        }
    }
}
