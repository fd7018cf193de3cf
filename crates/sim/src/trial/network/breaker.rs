//! What the circuit breakers of connections, sources of cross traffic and tunnels see, the counts of links at both ends of a
//! path, and what they end.

use super::Network;
use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::breaker::{Breaker, Meters};
use crate::trial::connection::Connection;
use crate::trial::element::Element;
use crate::trial::traffic::Source;
use thalweg_transport::Role;
use thalweg_units::{Duration, Instant};

/// The circuit breaker of all that enters a tunnel, or of one source (RFC 8084 section 4).
pub(super) struct Aggregate {
    breaker: Breaker,
    /// What it ends.
    connections: Vec<usize>,
    sources: Vec<usize>,
}

impl Aggregate {
    fn new(
        mut breaker: Breaker,
        connections: Vec<usize>,
        sources: Vec<usize>,
        starts: impl Iterator<Item = Instant>,
    ) -> Self {
        breaker.begin(starts.min().unwrap_or(Instant::START));
        Aggregate {
            breaker,
            connections,
            sources,
        }
    }

    /// When it looks at its meters.
    pub(super) fn next(&self) -> Instant {
        self.breaker.next()
    }
}

/// The breakers of sources, and then the breakers of tunnels.
pub(super) fn of_aggregates(
    scenario: &Scenario,
    connections: &[Connection],
    sources: &[Source],
) -> Vec<Aggregate> {
    let of_sources = scenario.traffic.iter().enumerate();
    let of_sources = of_sources.filter_map(|(index, spec)| {
        let starts = [sources[index].start].into_iter();
        let breaker = Breaker::new(spec.breaker?);
        Some(Aggregate::new(breaker, vec![], vec![index], starts))
    });
    let of_tunnels = scenario.tunnels.iter().map(|(name, spec)| {
        let is_inside = |tunnel: &Option<String>| tunnel.as_ref() == Some(name);
        let inner: Vec<usize> = (0..connections.len())
            .filter(|index| is_inside(&scenario.flows[connections[*index].flow].tunnel))
            .collect();
        let cross: Vec<usize> = (0..sources.len())
            .filter(|index| is_inside(&scenario.traffic[*index].tunnel))
            .collect();
        let starts = (inner.iter().map(|index| connections[*index].start))
            .chain(cross.iter().map(|index| sources[*index].start));
        let starts: Vec<Instant> = starts.collect();
        Aggregate::new(Breaker::new(*spec), inner, cross, starts.into_iter())
    });
    of_sources.chain(of_tunnels).collect()
}

impl Network {
    /// The breaker of a connection, if it has one, looks at its meters if it is due, and may close the connection.
    pub(super) fn look_at_breaker(&mut self, index: usize) {
        let now = self.now;
        let connection = &self.connections[index];
        let due = connection.breaker.as_ref().map(|breaker| breaker.next());
        if due.is_none_or(|due| due > now)
            || connection.completion.is_some()
            || connection.is_tripped()
        {
            return;
        }
        let meters = self.meters_of(index);
        let connection = &self.connections[index];
        let rtts = connection
            .senders()
            .map(|side| connection.end(side).path().smoothed_rtt);
        let rtt = rtts.max().unwrap_or_default();
        let connection = &mut self.connections[index];
        if let Some(breaker) = &mut connection.breaker
            && let Some(rule) = breaker.look(now, meters, rtt)
        {
            connection.trip(now, rule);
        }
    }

    /// The breaker of a source or a tunnel looks at its meters, and may end all that it is for.
    #[cold]
    #[inline(never)]
    pub(super) fn look_at_aggregate(&mut self, number: usize) {
        let now = self.now;
        let mut meters = Meters::default();
        for position in 0..self.breakers[number].connections.len() {
            let index = self.breakers[number].connections[position];
            meters.add(self.meters_of(index));
        }
        for position in 0..self.breakers[number].sources.len() {
            let index = self.breakers[number].sources[position];
            let route = self.sources[index].route.clone();
            meters.add(self.meters_on(&route, self.connections.len() + index));
        }
        let aggregate = &mut self.breakers[number];
        let rule = aggregate.breaker.look(now, meters, Duration::ZERO);
        let next = aggregate.next();
        self.queue
            .set(self.elements.number(Element::Breaker(number)), next);
        let Some(rule) = rule else { return };
        let (connections, sources) = (aggregate.connections.clone(), aggregate.sources.clone());
        for index in sources {
            self.sources[index].stop();
            let source = self.elements.number(Element::Source(index));
            self.queue.set(source, Instant::NEVER);
        }
        for index in connections {
            let connection = &mut self.connections[index];
            if connection.completion.is_some() || connection.is_tripped() {
                continue;
            }
            let (running, open) = connection.is_in_progress();
            connection.trip(now, rule);
            if connection.started {
                self.note_end(index, running, open);
                self.pump(index, Role::Client, "timer");
                self.pump(index, Role::Server, "timer");
            }
        }
    }

    /// A connection would start whose tunnel has been ended: it is over at once, and never was active.
    #[cold]
    pub(super) fn end_unstarted(&mut self, index: usize) {
        let (running, open) = self.connections[index].is_in_progress();
        self.connections[index].started = true;
        self.connections[index].closed = Some(self.now);
        self.note_end(index, running, open);
        let client = Element::Endpoint(index, Role::Client);
        self.queue.set(self.elements.number(client), Instant::NEVER);
    }

    /// What links have counted of the data of a connection.
    fn meters_of(&mut self, index: usize) -> Meters {
        let connection = &self.connections[index];
        let mut meters = Meters::default();
        for side in connection.senders() {
            let connection = &self.connections[index];
            let route = connection.routes[Direction::from(side)].clone();
            let heard = connection.end(side).counters().rtt_samples;
            meters.add(Meters {
                heard,
                ..self.meters_on(&route, index)
            });
        }
        meters
    }

    /// What the links of a route have counted of the packets with this number of a flow.
    fn meters_on(&mut self, route: &[LinkId], flow: usize) -> Meters {
        let mut meters = Meters::default();
        for (position, link_id) in route.iter().enumerate() {
            let link = &mut self.links[link_id.index()];
            link.advance(self.now);
            let next = link.next().unwrap_or(Instant::NEVER);
            self.note_delivered(*link_id, next);
            let stats = self.links[link_id.index()].flow_stats(flow as u64);
            if position == 0 {
                meters.sent = stats.offered;
            }
            meters.missing += stats.dropped.packets + stats.lost.packets;
        }
        meters
    }
}
