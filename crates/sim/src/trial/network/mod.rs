//! The event loop: endpoints and links, and the packets between them.

use crate::audit::{AuditError, Auditor};
use crate::outcome::Outcome;
use crate::outcome::series::Series;
use crate::outcome::summary::Moment;
use crate::outcome::trace::{Record, Recorder, Trace};
use crate::scenario::Scenario;
use crate::scenario::hop::{Direction, LinkId};
use crate::trial::connection::{Connection, plans};
use crate::trial::element::{Element, Elements};
use crate::trial::event_queue::EventQueue;
use crate::trial::seed;
use crate::trial::stack::Payload;
use crate::trial::traffic::{self, Source};
use first_link::{FirstLink, InTransit};
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_path::{Link, Medium};
use thalweg_transport::{Counters, Role};
use thalweg_units::{Bytes, Instant};

mod ahead;
mod audited;
mod breaker;
mod bundler;
mod cross_traffic;
mod end;
mod first_link;
mod hosts;
mod links;
mod medium;
mod progress;
mod rounds;
mod steered;
mod tape;
#[cfg(test)]
mod tests;
mod wake;
mod watched;

use ahead::Ahead;
use breaker::Aggregate;
use hosts::HostWork;
use progress::FlowProgress;
use steered::Pause;
pub(crate) use steered::Progressed;
use tape::RunningTape;

pub(crate) struct Network {
    seed: u64,
    overhead: u32,
    limit: Instant,
    /// Two for each hop of the scenario: down and up.
    links: Vec<Link<InTransit>>,
    /// The connections of all flows, flow by flow.
    connections: Vec<Connection>,
    sources: Vec<Source>,
    /// The medium of each hop; empty if no links share one.
    media: Vec<Option<Medium>>,
    /// Circuit breakers of sources and of tunnels.
    breakers: Vec<Aggregate>,
    /// The tape that it follows.
    tape: Option<Box<RunningTape>>,
    /// Whether one connection has the links for itself, none of which keeps packets apart or shares a medium.
    is_alone: bool,
    elements: Elements,
    /// When each element is due.
    queue: EventQueue,
    progress: Vec<FlowProgress>,
    /// Flows that the end of the trial waits for; `None` if it ends with the time limit.
    waiting: Option<usize>,
    /// Flows that have not started yet; when there were none left, and when one was complete after that.
    unstarted: usize,
    /// When the first one started, and the work that links had done by then.
    begun: Option<(Instant, Vec<u128>)>,
    overlap_start: Option<Moment>,
    overlap_end: Option<Moment>,
    now: Instant,
    events: u64,
    hash: u64,
    recorder: Option<Box<Recorder>>,
    series: Option<Series>,
    /// With series, the counters of client and server of each connection when they were last called.
    noted: Vec<[Counters; 2]>,
    audit: Option<Box<Auditor>>,
    /// Whether flows are steered from outside, and the decision that the trial waits for.
    is_steered: bool,
    paused: Option<Pause>,
    host_work: HostWork,
    /// The sender that has acted ahead of the event loop.
    ahead: Option<Ahead>,
    #[cfg(test)]
    steps_ahead: u64,
}

/// Why a trial has no outcome.
pub(crate) enum Ended {
    /// It was stopped.
    Stopped,
    /// The auditor has found something.
    Audit(AuditError),
}

impl Network {
    /// A trial at its start; `None` if it was stopped.
    pub(crate) fn new(
        scenario: &Scenario,
        trial: u64,
        record: Record,
        stop: &AtomicBool,
    ) -> Option<Self> {
        let tape = RunningTape::of(scenario, trial).map(Box::new);
        let start = tape.as_deref().map_or(trial, RunningTape::seed);
        let mut connections = Vec::new();
        for (index, spec) in scenario.flows.iter().enumerate() {
            for plan in plans(spec, start, scenario.start_noise) {
                // There may be a hundred thousand.
                if stop.load(Ordering::Relaxed) {
                    return None;
                }
                connections.push(Connection::new(spec, index, start, plan));
            }
        }
        if record == Record::Series {
            for connection in &mut connections {
                for side in connection.senders() {
                    connection.endpoint(side).record_packets();
                }
                if let Some(call) = &mut connection.call {
                    call.record_rates();
                }
            }
        }
        let sources = traffic::sources(scenario, start);
        let own = (&connections[..], sources.len());
        let mut links = links::of_hops(scenario, start, own, record);
        if let Some(tape) = &tape {
            tape.guide(&mut links);
        }
        let media = medium::of_hops(scenario, start, &mut links);
        let breakers = breaker::of_aggregates(scenario, &connections, &sources);
        let elements = Elements {
            links: links.len(),
            connections: connections.len(),
            sources: sources.len(),
            media: media.len(),
            breakers: breakers.len(),
            tapes: tape.iter().len(),
        };
        let mut queue = EventQueue::new(elements.count());
        for (index, connection) in connections.iter().enumerate() {
            let client = Element::Endpoint(index, Role::Client);
            queue.set(elements.number(client), connection.start);
        }
        for (index, source) in sources.iter().enumerate() {
            queue.set(elements.number(Element::Source(index)), source.next());
        }
        for (index, aggregate) in breakers.iter().enumerate() {
            queue.set(elements.number(Element::Breaker(index)), aggregate.next());
        }
        for (hop, medium) in media.iter().enumerate() {
            let due = medium.as_ref().map_or(Instant::NEVER, Medium::call_by);
            queue.set(elements.number(Element::Medium(hop)), due);
        }
        if let Some(tape) = &tape {
            queue.set(elements.number(Element::Tape), tape.next());
        }
        let progress = progress::of_flows(scenario, start, &connections);
        let waiting = progress.iter().filter(|flow| flow.awaited).count();
        Some(Network {
            seed: trial,
            overhead: scenario.overhead,
            limit: Instant::START + scenario.time_limit,
            recorder: Recorder::new(record, scenario, &connections).map(Box::new),
            series: (scenario.bins())
                .map(|every| Series::new(every, scenario.flows.len()).with_senders()),
            noted: vec![Default::default(); scenario.bins().map_or(0, |_| connections.len())],
            is_alone: connections.len() == 1
                && sources.is_empty()
                && media.is_empty()
                && breakers.is_empty()
                && !links.iter().any(Link::keeps_apart),
            links,
            connections,
            sources,
            media,
            breakers,
            tape,
            elements,
            queue,
            waiting: (waiting > 0).then_some(waiting),
            unstarted: progress.len(),
            progress,
            begun: None,
            overlap_start: None,
            overlap_end: None,
            now: Instant::START,
            events: 0,
            hash: 0,
            audit: None,
            is_steered: false,
            paused: None,
            host_work: HostWork::new(scenario),
            ahead: None,
            #[cfg(test)]
            steps_ahead: 0,
        })
    }

    /// Runs the trial.
    pub(crate) fn run(
        mut self,
        scenario: &Scenario,
        stop: &AtomicBool,
    ) -> Result<(Outcome, Option<Trace>), Ended> {
        self.advance(u64::MAX, stop)?;
        self.audit_end(scenario)?;
        self.finish(scenario, stop).ok_or(Ended::Stopped)
    }

    /// Calls the elements that are due, one after the other, until the end of the trial, until a controller is to decide, or
    /// until this many events have been handled.
    pub(crate) fn advance(&mut self, events: u64, stop: &AtomicBool) -> Result<Progressed, Ended> {
        for _ in 0..events {
            if let Some(pause) = &self.paused {
                return Ok(Progressed::Paused(pause.connection));
            }
            if self.waiting == Some(0) {
                return Ok(Progressed::Ended);
            }
            // A trial that waits for a flow on which nothing can happen any more lasts as long as one in which something is due
            // later.
            let Some((time, number)) = (self.queue.peek()).filter(|(time, _)| *time <= self.limit)
            else {
                self.now = self.limit;
                return Ok(Progressed::Ended);
            };
            let element = self.elements.numbered(number);
            if self.audit.is_some() {
                self.audit_call(element, time)?;
            }
            self.begin_event(element, time);
            // At every event: some take a millisecond. The load is cheap, since the cache line is rarely written.
            if stop.load(Ordering::Relaxed) {
                return Err(Ended::Stopped);
            }
            match element {
                Element::Link(link) => self.deliver(link),
                Element::Endpoint(index, side) => self.wake(index, side),
                Element::Applications(index) => self.wake_applications(index),
                Element::Source(index) => self.wake_source(index),
                Element::Medium(hop) => self.call_medium(hop),
                Element::Breaker(index) => self.look_at_aggregate(index),
                Element::Tape => self.begin_block(),
            }
        }
        Ok(Progressed::Unfinished)
    }

    /// Simulated time goes on to the next event of an element.
    #[inline(always)] // in every event
    fn begin_event(&mut self, element: Element, time: Instant) {
        // In release builds too: a trial in which time decreases is meaningless.
        assert!(
            time >= self.now,
            "{element:?} wants {time:?} at {:?}: time must not fall",
            self.now
        );
        self.now = time;
        self.events += 1;
    }

    /// Packets leave a link, at this time and at later ones as long as one does and nothing else is due before. A link that
    /// is called for another reason, such as noise on its rate, returns to the event loop, which looks whether to stop.
    fn deliver(&mut self, link: LinkId) {
        let side = link.direction().receiver();
        loop {
            let arrived = self.hand_on(link, side);
            if self.paused.is_some() {
                return; // `resume` goes on
            }
            self.answer_what_is_read(link, arrived);
            let next = self.links[link.index()].next().unwrap_or(Instant::NEVER);
            // Two rarely arrive together.
            if arrived && next <= self.now {
                continue;
            }
            if !arrived || !self.goes_on(link, next) {
                self.note_delivered(link, next);
                return;
            }
            self.begin_event(Element::Link(link), next);
        }
    }

    /// Whether somebody looks at each event at its time.
    #[inline(always)] // in every delivery
    fn is_watched(&self) -> bool {
        self.audit.is_some() || self.recorder.is_some() || self.is_steered
    }

    /// Whether the event loop would call this link again at `next`, and nobody looks at the queue of events meanwhile.
    #[inline(always)] // in every delivery
    fn goes_on(&self, link: LinkId, next: Instant) -> bool {
        !self.is_watched()
            && next <= self.limit
            && self.waiting != Some(0)
            && self.queue.is_before_others(link.index(), next)
    }

    /// All packets that come out of a link now have; the next one will at `next`.
    #[inline(always)] // in every delivery
    fn note_delivered(&mut self, link: LinkId, next: Instant) {
        self.queue.set(link.index(), next);
        if self.audit.is_some() {
            self.audit_link(link);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.sample_link(self.now, link.index(), &mut self.links[link.index()]);
        }
    }

    /// The packet that comes out of a link enters the next link of its route, or its endpoint, which looks at
    /// it where it lies: to move a packet is to copy it. False if none comes.
    #[inline]
    fn hand_on(&mut self, link: LinkId, side: Role) -> bool {
        if let Some(recorder) = &mut self.recorder {
            recorder.note_arrival(self.now, link.index(), &mut self.links[link.index()]);
        }
        let Some(carried) = self.links[link.index()].arrive(self.now) else {
            return false;
        };
        let index = carried.connection as usize;
        self.hash = seed::fold(self.hash, self.now.as_nanos());
        let what = carried.packet.number() << 20
            ^ u64::from(carried.connection) << 2
            ^ link.index() as u64;
        self.hash = seed::fold(self.hash, what << 16 ^ u64::from(carried.size));
        let number = match &mut self.audit {
            Some(audit) => audit.leave(self.now, link, carried.tag),
            None => None,
        };
        carried.crossed += 1;
        let Some(connection) = self.connections.get_mut(index) else {
            self.pass_cross_traffic(link, index);
            return true;
        };
        let route = &connection.routes[Direction::to(side)];
        if let Some(&next) = route.get(usize::from(carried.crossed)) {
            match self.links[link.index()].take_arrived() {
                Some(carried) if matches!(carried.packet, Payload::Bundle(_)) => {
                    self.forward_bundle(next, carried);
                }
                Some(carried) => self.forward(next, carried, number),
                None => {}
            }
            return true;
        }
        if let Some(series) = &mut self.series
            && connection.sends(side.peer())
        {
            let size = Bytes::new(u64::from(carried.size));
            series.on_received(self.now, connection.flow, size);
        }
        if let Some(hosts) = &connection.hosts
            && (hosts.waits().is_some() || matches!(carried.packet, Payload::Bundle(_)))
        {
            self.arrive_at_host(link, side, index, number);
            return true;
        }
        let endpoint = connection.endpoint(side);
        if let Some(audit) = &mut self.audit {
            let taken = endpoint.path().established;
            audit.arrive(index, side, number, carried.size, taken);
        }
        let is_unmoved = endpoint.receive(self.now, &mut carried.packet);
        self.note_sender(index, side);
        if (!self.is_steered || !self.pauses(index, side, Some(link)))
            && !self.answers_later(link, index, side)
        {
            self.react(index, side, is_unmoved);
        }
        true
    }

    /// One side of a connection has received a packet, which has certainly left the time of its next event as it was, or
    /// perhaps not.
    #[inline(always)] // in every arrival
    fn react(&mut self, index: usize, side: Role, is_unmoved: bool) {
        let connection = &mut self.connections[index];
        // A receiver of bulk data has nothing to send between two ACK frames, and is often not traced.
        let is_silent = self.audit.is_none()
            && !connection.has_timers
            && (self.recorder.is_none() || !connection.sends(side))
            && connection.endpoint(side).is_silent(self.now);
        if is_silent && is_unmoved {
            debug_assert_eq!(
                self.queue.due(self.number(index, side)),
                self.due(Element::Endpoint(index, side))
            );
        } else if is_silent {
            let next = connection.next(side);
            self.queue.set(self.number(index, side), next);
        } else {
            self.pump(index, side, "received");
        }
    }

    /// The number of one side of a connection in the queue.
    #[inline(always)] // in every event
    fn number(&self, connection: usize, side: Role) -> usize {
        self.elements.number(Element::Endpoint(connection, side))
    }

    /// Lets the application of one side act, sends all that may leave, and notes when the side wants to
    /// be called again.
    fn pump(&mut self, index: usize, side: Role, event: &'static str) {
        // In release builds too, as in `begin_event`.
        assert!(
            self.ahead.is_none_or(|ahead| ahead.sender != (index, side)),
            "the {side:?} of connection {index} is called at {:?}, a time that it has passed",
            self.now
        );
        let number = self.number(index, side);
        let mut connection = &mut self.connections[index];
        let mut client_closes = false;
        if connection.endpoint(side).has_events() {
            let completed = self.serve(index, side);
            connection = &mut self.connections[index];
            client_closes = completed && side == Role::Server && connection.call.is_some();
        }
        let data_of = (self.series.is_some() && connection.sends(side)).then_some(connection.flow);
        let link_id = connection.first_links[side.index()];
        let bundles = self.makes_bundles(index, link_id);
        connection = &mut self.connections[index];
        let link = &mut self.links[link_id.index()];
        let mut first_link = FirstLink {
            now: self.now,
            overhead: self.overhead,
            link,
            link_id,
            sender: (index, side),
            series: self.series.as_mut().zip(data_of),
            audit: self.audit.as_deref_mut(),
            sent: false,
        };
        if bundles {
            hosts::transmit_bundles(
                connection,
                side,
                &mut self.host_work,
                &mut first_link,
                self.now,
            );
        } else {
            connection
                .endpoint(side)
                .transmit(self.now, &mut first_link);
        }
        let sent = first_link.sent;
        let has_events = connection.endpoint(side).has_events();
        // A timer set to a time in the past fires now (RFC 9002 sections A.6 and A.8).
        self.queue.set(number, connection.next(side).max(self.now));
        if sent {
            let next = link.next().unwrap_or(Instant::NEVER);
            self.queue.set(link_id.index(), next);
        }
        if connection.has_timers {
            let next = self.connections[index].next_app();
            let applications = Element::Applications(index);
            self.queue.set(self.elements.number(applications), next);
        }
        if sent && !self.media.is_empty() {
            self.note_pushed(link_id);
        }
        if self.audit.is_some() {
            self.audit_endpoint(index, side, link_id, sent);
        }
        if self.recorder.is_some() {
            self.sample(index, side, link_id, sent, event);
        }
        if has_events {
            self.pump(index, side, event);
        }
        // The last frame of a call that the client sends has arrived.
        if client_closes {
            self.pump(index, Role::Client, "timer");
        }
    }

    /// The application of one side takes in what happened. Tells whether that has completed the connection's
    /// transfer.
    fn serve(&mut self, index: usize, side: Role) -> bool {
        let connection = &mut self.connections[index];
        let (running, open) = connection.is_in_progress();
        connection.serve(self.now, side);
        self.note_end(index, running, open)
    }
}
