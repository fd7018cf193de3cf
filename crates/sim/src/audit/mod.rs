//! The auditor: a check of physics that can watch any trial.
//!
//! The event loop reports to it all calls of elements, packets that enter and leave links, and what endpoints
//! have measured and decided after each call. It draws and changes nothing: a trial is the same with and without
//! it. The first finding ends the trial, with seed, time and element ([`AuditError`]).
//!
//! # Rules
//! One file each:
//! - `clock`: time never decreases, an element is called when it is due, calls without effect are bounded.
//! - `transmitter`: a link sends one packet at a time, at its capacity: never more in any interval, and while
//!   busy never less. That applies to the end of transmission, so jitter may release packets together. All packets
//!   are lost while every packet is, and none while none is.
//! - `medium`: of two links that share a medium one transmits at a time, with the overhead between accesses.
//! - `air`: of stations that contend none begins while it senses another, and nothing arrives from a frame that was destroyed.
//! - `crossing`: a packet leaves once, as the link determined, and in order where promised; not
//!   earlier than transmission and propagation allow (`link`). None outlives a change that empties the queue.
//! - `ledger`: what entered a link has left, was dropped, was lost or is inside.
//! - `buffer`: the backlog fits the buffer.
//! - `fates`: packets are acknowledged after they have arrived; without reordering, a packet declared lost
//!   was dropped or lost.
//! - `estimates`: possible RTT samples, counts that grow, plausible window, pacing rate and quantum,
//!   stream data delivered once.
//! - `completion` (at the end): no flow completes before physics allows it, or with part of its data.
//!
//! # Limits
//! Memory grows with the number of packets: one byte for each, and 64 for each that a link drops.

mod air;
mod buffer;
mod clock;
pub(crate) mod completion;
mod crossing;
mod estimates;
mod fates;
mod finding;
mod ledger;
mod limited;
mod link;
mod medium;
mod schedule;
mod transmitter;

use crate::scenario::Scenario;
use crate::scenario::hop::{LinkId, PerDirection};
use crate::trial::connection::{self, Connection};
use crate::trial::element::{Element, Elements};
use crate::trial::stack::Endpoint;
use clock::Clock;
use crossing::Entry;
use estimates::{Estimates, Shown};
use fates::Fates;
pub use finding::AuditError;
use finding::{Verdict, hold};
use link::AuditedLink;
use medium::AuditedMedium;
use thalweg_path::{Link, Medium, MediumConfig, Packet};
use thalweg_transport::{AckConduct, PacketEvent, Role};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// The smallest UDP payload that a sample of the RTT can come from: first byte, four bytes of packet number and
/// frames, and the tag (RFC 9001 section 5.4.2).
const LEAST_PAYLOAD: u64 = 21;
/// A sample of the real stack is derived from the change of its smoothed RTT, multiplied by eight.
const ROUNDING: Duration = Duration::from_nanos(16);

/// One side of a connection.
struct AuditedSide {
    fates: Fates,
    estimates: Estimates,
}

impl AuditedSide {
    /// One whose peer acknowledges what has not arrived: so RTTs are as short as it likes.
    fn told_lies(self) -> Self {
        AuditedSide {
            fates: self.fates.told_lies(),
            estimates: self.estimates.told_lies(),
        }
    }
}

/// A packet on a link.
struct Tagged {
    link: LinkId,
    entry: Entry,
    /// Its packet number, if it comes from the sender.
    number: Option<u64>,
}

pub(crate) struct Auditor {
    seed: u64,
    elements: Elements,
    clock: Clock,
    links: Vec<AuditedLink>,
    /// The medium of each hop.
    media: Vec<Option<AuditedMedium>>,
    link_names: Vec<String>,
    sides: Vec<[AuditedSide; 2]>,
    names: Vec<String>,
    tagged: Vec<Option<Tagged>>,
    vacant: Vec<u32>,
    finding: Option<AuditError>,
}

impl Auditor {
    pub(crate) fn new(
        scenario: &Scenario,
        seed: u64,
        connections: &[Connection],
        elements: Elements,
    ) -> Self {
        let configs = || scenario.hops.iter().flat_map(|hop| hop.links.iter());
        let flows = elements.connections + elements.sources;
        let links: Vec<AuditedLink> = (scenario.hops.iter())
            .flat_map(|hop| hop.links.iter().map(move |config| (config, hop)))
            .map(|(config, hop)| {
                let is_in_air = matches!(hop.medium, Some(MediumConfig::Wifi(_)));
                AuditedLink::new(config, flows, is_in_air)
            })
            .collect();
        let marking: Vec<bool> = configs().map(AuditedLink::may_mark).collect();
        let sides = (connections.iter())
            .map(|connection| {
                // A packet that is marked may enter another queue of a later link.
                let in_order = |route: &[LinkId]| {
                    let mut marked = false;
                    route.iter().map(|link| link.index()).all(|link| {
                        let kept =
                            links[link].keeps_flows || (links[link].keeps_classes && !marked);
                        marked |= marking[link];
                        kept
                    })
                };
                let least = Bytes::new(LEAST_PAYLOAD + u64::from(scenario.overhead));
                let crossing = |route: &[LinkId]| -> Duration {
                    let times = route.iter().map(|link| &links[link.index()]);
                    times.map(|link| link.least_crossing(least)).sum()
                };
                // What elicits no acknowledgement carries no codepoint, and may enter another queue.
                // A bundle that is dropped takes many along.
                let bundles = (connection.hosts.as_ref()).is_some_and(|hosts| hosts.bundles());
                let acks_in_order = |back: &[LinkId]| {
                    !bundles && back.iter().all(|link| links[link.index()].keeps_flows)
                };
                let PerDirection { down, up } = &connection.routes;
                let rtt = crossing(down) + crossing(up);
                let (rounding, most_runs) = match connection.client {
                    Endpoint::Modelled(_) => (Duration::ZERO, None),
                    Endpoint::Real(_) => (ROUNDING, Some(crate::quic::ACK_RANGES)),
                };
                let side = |route: &[LinkId], back: &[LinkId], expected: Option<u64>| AuditedSide {
                    fates: Fates::new(in_order(route), acks_in_order(back), most_runs),
                    estimates: Estimates::new(connection.start, rtt, rounding, expected),
                };
                let [from_client, from_server] = completion::stream_bytes(&connection.workload);
                let mut sides = [side(up, down, from_server), side(down, up, from_client)];
                if scenario.flows[connection.flow].ack_conduct == AckConduct::Optimistic {
                    sides = sides.map(AuditedSide::told_lies);
                }
                sides
            })
            .collect();
        let names = scenario.hops.iter().flat_map(|hop| hop.names.iter());
        Auditor {
            seed,
            clock: Clock::new(elements.count()),
            elements,
            links,
            media: (scenario.hops.iter())
                .map(|hop| hop.medium.as_ref().map(AuditedMedium::new))
                .collect(),
            link_names: names.map(|name| format!("link {name}")).collect(),
            sides,
            names: connection::names(scenario, connections),
            tagged: Vec::new(),
            vacant: Vec::new(),
            finding: None,
        }
    }

    /// The first finding.
    pub(crate) fn take_finding(&mut self) -> Option<AuditError> {
        self.finding.take()
    }

    /// Keeps the first finding.
    fn note(&mut self, verdict: Verdict, element: impl FnOnce(&Self) -> String) {
        if let Err(problem) = verdict
            && self.finding.is_none()
        {
            self.finding = Some(AuditError {
                seed: self.seed,
                time: self.clock.now(),
                element: element(self),
                problem,
            });
        }
    }

    fn side_name(&self, connection: usize, side: usize) -> String {
        let role = ["client", "server"][side];
        format!("flow {} ({role})", self.names[connection])
    }

    fn element_name(&self, element: Element) -> String {
        match element {
            Element::Link(link) => self.link_names[link.index()].clone(),
            Element::Endpoint(index, _) if index >= self.sides.len() => "nothing".to_owned(),
            Element::Endpoint(index, side) => self.side_name(index, side.index()),
            Element::Applications(index) => format!("flow {} (applications)", self.names[index]),
            Element::Source(index) => {
                format!("traffic {}", self.names[self.sides.len() + index])
            }
            Element::Medium(hop) => format!("medium of {}", self.link_names[2 * hop]),
            Element::Breaker(index) => format!("circuit breaker {index}"),
            Element::Tape => "tape".to_owned(),
        }
    }

    /// A connection that waited for others has a start.
    pub(crate) fn note_start(&mut self, connection: usize, start: Instant) {
        for side in &mut self.sides[connection] {
            side.estimates.note_start(start);
        }
    }

    /// The event loop calls `element` at `time`; it is due at `due`.
    pub(crate) fn call(&mut self, element: Element, time: Instant, due: Instant) {
        if let Some((idle, problem)) = self.clock.called_in_vain() {
            let idle = self.elements.numbered(idle);
            self.note(Err(problem), |audit| audit.element_name(idle));
        }
        let verdict = self.clock.call(self.elements.number(element), time, due);
        self.note(verdict, |audit| audit.element_name(element));
    }

    /// An endpoint sends a packet with this number into its first link. Returns its tag on the link.
    pub(crate) fn depart(
        &mut self,
        now: Instant,
        link: LinkId,
        (connection, side): (usize, Role),
        (size, ecn): (u32, Ecn),
        number: Option<u64>,
    ) -> u32 {
        self.leave_host((connection, side), size, number);
        self.enter(now, link, connection, (size, ecn), number)
    }

    /// An endpoint sends a packet with this number, by itself or in a bundle.
    pub(crate) fn leave_host(
        &mut self,
        (connection, side): (usize, Role),
        size: u32,
        number: Option<u64>,
    ) {
        let sender = &mut self.sides[connection][side.index()];
        sender.estimates.wire_sent += Bytes::new(u64::from(size));
        if let Some(number) = number {
            let verdict = sender.fates.send(number);
            self.note(verdict, |audit| audit.side_name(connection, side.index()));
        }
    }

    /// A packet enters a link. Returns its tag.
    pub(crate) fn enter(
        &mut self,
        now: Instant,
        link: LinkId,
        connection: usize,
        (size, ecn): (u32, Ecn),
        number: Option<u64>,
    ) -> u32 {
        self.clock.moved();
        let verdict = hold(now == self.clock.now(), || {
            format!("gets a packet at {now}, but that is not the time of the event")
        });
        self.note(verdict, |audit| audit.link_names[link.index()].clone());
        let size = Bytes::new(u64::from(size));
        let entry = self.links[link.index()].enter(now, connection as u32, size, ecn);
        let tagged = Tagged {
            link,
            entry,
            number,
        };
        match self.vacant.pop() {
            Some(tag) => {
                self.tagged[tag as usize] = Some(tagged);
                tag
            }
            None => {
                self.tagged.push(Some(tagged));
                (self.tagged.len() - 1) as u32
            }
        }
    }

    /// A packet leaves a link. Returns its packet number.
    pub(crate) fn leave(&mut self, now: Instant, link: LinkId, tag: u32) -> Option<u64> {
        self.clock.moved();
        let position = tag as usize;
        let tagged = self.tagged.get_mut(position).and_then(Option::take);
        let Some(tagged) = tagged.filter(|tagged| tagged.link == link) else {
            let problem = "delivers a packet that did not enter, or delivers it twice";
            self.note(Err(problem.to_owned()), |audit| {
                audit.link_names[link.index()].clone()
            });
            return None;
        };
        self.vacant.push(tag);
        let verdict = self.links[link.index()].leave(now, &tagged.entry);
        self.note(verdict, |audit| audit.link_names[link.index()].clone());
        tagged.number
    }

    /// A packet arrived at the endpoint on `side`, which could process it.
    pub(crate) fn arrive(
        &mut self,
        connection: usize,
        side: Role,
        number: Option<u64>,
        size: u32,
        taken: bool,
    ) {
        let [client, server] = &mut self.sides[connection];
        let (receiver, sender) = match side {
            Role::Client => (client, server),
            Role::Server => (server, client),
        };
        receiver.estimates.wire_received += Bytes::new(u64::from(size));
        let Some(number) = number else {
            if taken {
                sender.fates.arrive_without_number();
            }
            return;
        };
        let verdict = sender.fates.arrive(number, taken);
        self.note(verdict, |audit| {
            audit.side_name(connection, side.peer().index())
        });
    }

    /// Something has happened on the medium of a hop.
    pub(crate) fn medium(&mut self, hop: usize, medium: &mut Medium) {
        let Some(AuditedMedium::Air(air)) = &mut self.media[hop] else {
            return;
        };
        let mut verdict = Ok(());
        while let Some(event) = medium.take_access() {
            verdict = verdict.and_then(|()| air.step(&event));
        }
        self.note(verdict, |audit| audit.element_name(Element::Medium(hop)));
    }

    /// A link has been moved to `now`.
    pub(crate) fn link<P: Packet>(&mut self, now: Instant, link_id: LinkId, link: &mut Link<P>) {
        let medium = self.media[link_id.hop()].as_mut();
        let on_medium = medium.map(|medium| (medium, link_id.direction() as usize));
        let verdict = self.links[link_id.index()].check(now, link, on_medium);
        self.note(verdict, |audit| audit.link_names[link_id.index()].clone());
    }

    /// This many packets towards an endpoint were dropped or lost.
    pub(crate) fn missing(&mut self, connection: usize, side: Role, packets: u64) {
        let sender = &mut self.sides[connection][side.index()];
        sender.fates.missing_on_the_way_back(packets);
    }

    /// An endpoint has recorded fates of packets.
    pub(crate) fn fate(
        &mut self,
        now: Instant,
        connection: usize,
        side: Role,
        event: &PacketEvent,
    ) {
        let verdict = self.sides[connection][side.index()].fates.note(now, event);
        self.note(verdict, |audit| audit.side_name(connection, side.index()));
    }

    /// An endpoint has been called at `now`.
    pub(crate) fn endpoint(
        &mut self,
        now: Instant,
        connection: usize,
        side: Role,
        endpoint: &Endpoint,
    ) {
        let shown = Shown {
            path: endpoint.path(),
            control: endpoint.control(),
            pacing: endpoint.pacing_rate(),
            counters: &endpoint.counters(),
        };
        let estimates = &mut self.sides[connection][side.index()].estimates;
        let verdict = estimates.check(now, &shown);
        self.note(verdict, |audit| audit.side_name(connection, side.index()));
    }

    /// The trial ends at `now`. `element` is due at `due`, and is to be called at `scheduled`.
    pub(crate) fn end_element(
        &mut self,
        now: Instant,
        element: Element,
        (due, scheduled): (Instant, Instant),
    ) {
        let verdict = Clock::end(now, due, scheduled);
        self.note(verdict, |audit| audit.element_name(element));
    }

    /// Conservation of a link at the end of the trial.
    pub(crate) fn end_link<P: Packet>(
        &mut self,
        now: Instant,
        link_id: LinkId,
        link: &mut Link<P>,
    ) {
        self.link(now, link_id, link);
        let verdict = self.links[link_id.index()].end(link);
        self.note(verdict, |audit| audit.link_names[link_id.index()].clone());
    }

    /// A connection at the end of the trial.
    pub(crate) fn end_connection(
        &mut self,
        scenario: &Scenario,
        index: usize,
        connection: &Connection,
        now: Instant,
    ) {
        let verdict =
            completion::check(scenario, connection).and_then(|()| limited::check(connection, now));
        self.note(verdict, |audit| format!("flow {}", audit.names[index]));
    }
}
