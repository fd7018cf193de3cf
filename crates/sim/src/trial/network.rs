//! The event loop: endpoints and links, and the packets that go between them.

use crate::audit::{AuditError, Auditor};
use crate::outcome::Outcome;
use crate::outcome::series::Series;
use crate::outcome::trace::Trace;
use crate::scenario::Scenario;
use crate::scenario::hop::{DOWN, UP};
use crate::trial::connection::{Connection, Side, plans};
use crate::trial::event_queue::EventQueue;
use crate::trial::seed;
use crate::trial::stack::{Outlet, Payload};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::Link;
use thalweg_units::{Bytes, Ecn, Instant};

mod audited;

/// Elements of a connection: client, server, applications.
const PER_CONNECTION: usize = 3;
const APPLICATIONS: usize = 2;

/// A packet on a link: it counts the headers of IP and UDP.
pub(crate) struct Carried {
    /// Index of its connection.
    connection: u32,
    size: u32,
    /// Links of its route that are behind it.
    crossed: u16,
    /// What the auditor knows it by.
    tag: u32,
    packet: Payload,
}

impl thalweg_path::Packet for Carried {
    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }
    fn flow(&self) -> u64 {
        u64::from(self.connection)
    }
}

/// The link into which an endpoint sends, and who watches what it sends.
struct FirstLink<'a> {
    now: Instant,
    overhead: u32,
    link: &'a mut Link<Carried>,
    place: usize,
    sender: (usize, Side),
    /// The series, if the flow has data in it from this side.
    series: Option<(&'a mut Series, usize)>,
    audit: Option<&'a mut Auditor>,
    /// Whether anything was sent.
    sent: bool,
}

impl Outlet for FirstLink<'_> {
    #[inline(always)] // so that the packet is made where it is pushed
    fn send(&mut self, packet: Payload, number: Option<u64>) {
        let size = packet.size() + self.overhead;
        let tag = match &mut self.audit {
            Some(audit) => {
                let what = (size, packet.ecn());
                audit.depart(self.now, self.place, self.sender, what, number)
            }
            None => 0,
        };
        if let Some((series, flow)) = &mut self.series {
            series.on_sent(self.now, *flow, Bytes::new(u64::from(size)));
        }
        let carried = Carried {
            connection: self.sender.0 as u32,
            size,
            crossed: 0,
            tag,
            packet,
        };
        self.link.push(self.now, carried);
        self.sent = true;
    }
}

pub(crate) struct Network<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    /// Two for each hop of the scenario: down and up.
    pub(crate) links: Vec<Link<Carried>>,
    /// The connections of all flows, flow by flow.
    pub(crate) connections: Vec<Connection>,
    /// Elements: the links, then client, server and applications of each connection.
    queue: EventQueue,
    pub(crate) progress: Vec<Progress>,
    /// Flows that the end of the trial waits for; `None` if it ends with the time limit.
    waiting: Option<usize>,
    /// Flows that have not started yet, and delivery counts when there were none left.
    unstarted: usize,
    pub(crate) overlap_start: Option<(Instant, Vec<Bytes>)>,
    pub(crate) overlap_end: Option<(Instant, Vec<Bytes>)>,
    pub(crate) now: Instant,
    pub(crate) events: u64,
    pub(crate) hash: u64,
    pub(crate) trace: Option<Trace>,
    pub(crate) series: Option<Series>,
    audit: Option<Box<Auditor>>,
}

/// Why a trial has no outcome.
pub(crate) enum Ended {
    /// It was told to stop.
    Stopped,
    /// The auditor has found something.
    Audit(AuditError),
}

/// How far a flow is.
pub(crate) struct Progress {
    /// Indices of its connections.
    pub(crate) connections: Range<usize>,
    started: bool,
    /// Connections that are not complete, and those that are not closed.
    incomplete: usize,
    open: usize,
    /// Whether the end of the trial waits for it.
    awaited: bool,
}

impl<'a> Network<'a> {
    /// A trial at its beginning; `None` if it was told to stop.
    pub(crate) fn new(
        scenario: &'a Scenario,
        trial: u64,
        traced: bool,
        stop: &AtomicBool,
    ) -> Option<Self> {
        let mut connections = Vec::new();
        for (index, spec) in scenario.flows.iter().enumerate() {
            for plan in plans(spec, trial, scenario.start_noise) {
                // There may be a hundred thousand.
                if stop.load(Ordering::Relaxed) {
                    return None;
                }
                connections.push(Connection::new(spec, index, trial, plan));
            }
        }
        if traced {
            for connection in &mut connections {
                let side = connection.sending_side();
                connection.endpoint(side).record_packets();
            }
        }
        let drawn = scenario.jitter_seed.unwrap_or(trial);
        let links: Vec<Link<Carried>> = (scenario.hops.iter())
            .flat_map(|hop| hop.names.iter().zip(&hop.links))
            .map(|(name, config)| {
                let seed = seed::of(drawn, &format!("link/{name}"));
                let mut link = Link::new(config, seed, connections.len());
                link.record_drops(traced);
                link
            })
            .collect();
        let mut queue = EventQueue::new(links.len() + PER_CONNECTION * connections.len());
        for (index, connection) in connections.iter().enumerate() {
            let client = links.len() + PER_CONNECTION * index + Side::Client as usize;
            queue.set(client, connection.start);
        }
        let mut progress = Vec::with_capacity(scenario.flows.len());
        let mut first = 0;
        for flow in 0..scenario.flows.len() {
            let count = connections[first..]
                .iter()
                .take_while(|connection| connection.flow == flow)
                .count();
            progress.push(Progress {
                connections: first..first + count,
                started: false,
                incomplete: count,
                open: count,
                awaited: scenario.is_awaited(flow),
            });
            first += count;
        }
        let waiting = progress.iter().filter(|flow| flow.awaited).count();
        Some(Network {
            scenario,
            seed: trial,
            trace: traced.then(|| Trace::new(scenario, &connections)),
            series: (scenario.sample).map(|every| Series::new(every, scenario.flows.len())),
            links,
            connections,
            queue,
            waiting: (waiting > 0).then_some(waiting),
            unstarted: progress.len(),
            progress,
            overlap_start: None,
            overlap_end: None,
            now: Instant::START,
            events: 0,
            hash: 0,
            audit: None,
        })
    }

    /// Plays the trial.
    pub(crate) fn play(mut self, stop: &AtomicBool) -> Result<(Outcome, Option<Trace>), Ended> {
        let limit = Instant::START + self.scenario.time_limit;
        while self.waiting != Some(0) {
            let Some((time, element)) = self.queue.peek() else {
                if self.waiting.is_none() {
                    self.now = limit;
                }
                break;
            };
            if time > limit {
                self.now = limit;
                break;
            }
            if self.audit.is_some() {
                self.audit_call(element, time)?;
            }
            // In release builds too: a trial in which time falls means nothing.
            assert!(
                time >= self.now,
                "element {element} wants {time:?} at {:?}: time must not fall",
                self.now
            );
            self.now = time;
            self.events += 1;
            // At every event: some take a millisecond. The load is of a line that nobody writes to.
            if stop.load(Ordering::Relaxed) {
                return Err(Ended::Stopped);
            }
            if element < self.links.len() {
                self.deliver(element);
            } else {
                self.wake(element - self.links.len());
            }
        }
        self.audit_end()?;
        self.finish(stop).ok_or(Ended::Stopped)
    }

    /// Packets come out of a link.
    fn deliver(&mut self, link: usize) {
        let side = if link % 2 == DOWN {
            Side::Client
        } else {
            Side::Server
        };
        let next = loop {
            let arrived = self.hand_on(link, side);
            let next = self.links[link].next().unwrap_or(Instant::NEVER);
            // Seldom do two arrive together.
            if !arrived || next > self.now {
                break next;
            }
        };
        self.queue.set(link, next);
        if self.audit.is_some() {
            self.audit_link(link);
        }
        if let Some(trace) = &mut self.trace {
            trace.sample_link(self.now, link, &mut self.links[link]);
        }
    }

    /// The packet that comes out of a link enters the next link of its route, or its endpoint, which looks at
    /// it where it lies: to move a packet is to copy it. False if none comes.
    #[inline]
    fn hand_on(&mut self, link: usize, side: Side) -> bool {
        let Some(slot) = self.links[link].arrive(self.now) else {
            return false;
        };
        let Some(carried) = slot else {
            return false;
        };
        let index = carried.connection as usize;
        self.hash = seed::fold(self.hash, self.now.as_nanos());
        let what = carried.packet.number() << 20 ^ u64::from(carried.connection) << 2 ^ link as u64;
        self.hash = seed::fold(self.hash, what << 16 ^ u64::from(carried.size));
        let number = match &mut self.audit {
            Some(audit) => audit.leave(self.now, link, carried.tag),
            None => None,
        };
        let connection = &mut self.connections[index];
        carried.crossed += 1;
        let route = &connection.routes[if side == Side::Client { DOWN } else { UP }];
        if let Some(&next) = route.get(usize::from(carried.crossed)) {
            if let Some(carried) = slot.take() {
                self.forward(usize::from(next), carried, number);
            }
            return true;
        }
        if let Some(series) = &mut self.series
            && side != connection.sending_side()
        {
            let size = Bytes::new(u64::from(carried.size));
            series.on_received(self.now, connection.flow, size);
        }
        let endpoint = connection.endpoint(side);
        if let Some(audit) = &mut self.audit {
            let taken = endpoint.path().established;
            audit.arrive(index, side, number, carried.size, taken);
        }
        endpoint.receive(self.now, &mut carried.packet);
        self.pump(index, side, "received");
        true
    }

    /// A packet enters a link that is not the first of its route.
    #[inline(never)] // so that arrivals at an endpoint, the usual case, are short
    fn forward(&mut self, link: usize, mut carried: Carried, number: Option<u64>) {
        if let Some(audit) = &mut self.audit {
            let what = (carried.size, carried.packet.ecn());
            carried.tag = audit.enter(self.now, link, carried.connection as usize, what, number);
        }
        self.links[link].push(self.now, carried);
        let next = self.links[link].next().unwrap_or(Instant::NEVER);
        self.queue.set(link, next);
        if self.audit.is_some() {
            self.audit_link(link);
        }
        if let Some(trace) = &mut self.trace {
            trace.sample_link(self.now, link, &mut self.links[link]);
        }
    }

    /// The element of one side of a connection; that of the applications follows the two sides.
    fn element(&self, connection: usize, place: usize) -> usize {
        self.links.len() + PER_CONNECTION * connection + place
    }

    /// The time of an endpoint or of the applications of a connection has come.
    fn wake(&mut self, element: usize) {
        let index = element / PER_CONNECTION;
        let connection = &mut self.connections[index];
        match element % PER_CONNECTION {
            APPLICATIONS => {
                connection.tick_app(self.now);
                debug_assert!(connection.next_app() > self.now, "time would stand still");
                self.pump(index, Side::Client, "timer");
                self.pump(index, Side::Server, "timer");
            }
            0 if !connection.started => {
                connection.begin();
                self.note_start(index);
                self.pump(index, Side::Client, "timer");
            }
            side => {
                let side = if side == 0 {
                    Side::Client
                } else {
                    Side::Server
                };
                connection.endpoint(side).expire(self.now);
                self.pump(index, side, "timer");
            }
        }
    }

    /// The flow of a connection has started; when the last flow does, all are active.
    fn note_start(&mut self, index: usize) {
        let flow = &mut self.progress[self.connections[index].flow];
        if flow.started {
            return;
        }
        flow.started = true;
        self.unstarted -= 1;
        if self.unstarted == 0 {
            self.overlap_start = Some((self.now, self.delivered()));
        }
    }

    /// What each flow has got so far.
    pub(crate) fn delivered(&self) -> Vec<Bytes> {
        let mut delivered = vec![Bytes::ZERO; self.scenario.flows.len()];
        for connection in &self.connections {
            delivered[connection.flow] += connection.delivered();
        }
        delivered
    }

    /// Lets the application of one side act, sends all that may leave, and notes when the side wants to
    /// be called again.
    fn pump(&mut self, index: usize, side: Side, event: &'static str) {
        let element = self.element(index, side as usize);
        let mut connection = &mut self.connections[index];
        if connection.endpoint(side).has_events() {
            self.serve(index, side);
            connection = &mut self.connections[index];
        }
        let data_of =
            (self.series.is_some() && side == connection.sending_side()).then_some(connection.flow);
        let place = usize::from(connection.first_links[side as usize]);
        let link = &mut self.links[place];
        let endpoint = connection.endpoint(side);
        let mut first_link = FirstLink {
            now: self.now,
            overhead: self.scenario.overhead,
            link,
            place,
            sender: (index, side),
            series: self.series.as_mut().zip(data_of),
            audit: self.audit.as_deref_mut(),
            sent: false,
        };
        endpoint.transmit(self.now, &mut first_link);
        let sent = first_link.sent;
        let has_events = endpoint.has_events();
        // A timer that is set to a time that has passed fires now (RFC 9002 sections A.6 and A.8).
        self.queue.set(element, endpoint.next().max(self.now));
        if sent {
            let next = link.next().unwrap_or(Instant::NEVER);
            self.queue.set(place, next);
        }
        let has_call = connection.call.is_some();
        if has_events {
            self.serve(index, side);
        }
        if has_call {
            let next = self.connections[index].next_app();
            self.queue.set(self.element(index, APPLICATIONS), next);
        }
        if self.audit.is_some() {
            self.audit_endpoint(index, side, place, sent);
        }
        if self.trace.is_some() {
            self.sample(index, side, place, sent, event);
        }
    }

    /// The application of one side takes in what happened.
    fn serve(&mut self, index: usize, side: Side) {
        let connection = &mut self.connections[index];
        let (running, open) = (connection.completion.is_none(), connection.closed.is_none());
        connection.serve(self.now, side);
        let completed = running && connection.completion.is_some();
        let closed = open && connection.closed.is_some();
        let flow = &mut self.progress[connection.flow];
        if closed {
            flow.open -= 1;
            if flow.open == 0 && flow.awaited {
                self.waiting = self.waiting.map(|waiting| waiting - 1);
            }
        }
        if completed {
            flow.incomplete -= 1;
            if flow.incomplete == 0 && self.unstarted == 0 && self.overlap_end.is_none() {
                self.overlap_end = Some((self.now, self.delivered()));
            }
        }
    }

    fn sample(&mut self, index: usize, side: Side, link: usize, sent: bool, event: &'static str) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let connection = &mut self.connections[index];
        if side == connection.sending_side() {
            let event = if sent && event == "timer" {
                "sent"
            } else {
                event
            };
            trace.sample_flow(self.now, index, event, connection.endpoint(side));
        }
        if sent {
            trace.sample_link(self.now, link, &mut self.links[link]);
        }
    }
}
