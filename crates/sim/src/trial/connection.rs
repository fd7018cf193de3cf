//! One connection of a flow: two endpoints and the applications on them.
//!
//! A flow is one connection, except that each of many requests has its own.

use crate::scenario::hop::{Direction, LinkId, PerDirection};
use crate::scenario::library::FlowStack;
use crate::scenario::supply::Supply;
use crate::scenario::{FlowSpec, Scenario, StartNoise, Workload};
use crate::trial::breaker::{Breaker, Rule};
use crate::trial::hosts::Hosts;
use crate::trial::media::Call;
use crate::trial::seed;
use crate::trial::stack::{End, Endpoint, Hears};
use crate::trial::supply::Supplier;
use thalweg_transport::packet::full_packet_payload;
use thalweg_transport::{AppEvent, Reading, Role};
use thalweg_units::{Bytes, Duration, Instant};

/// Priority of bulk data: the default of the reference.
pub(crate) const BULK: u8 = 9;

/// Bytes that a packet of the real stack may carry less than one of the model: connection ID, packet number and offset are
/// longer.
const LONGER_HEADERS: Bytes = Bytes::new(32);

/// Fields used for every packet come first, see [`thalweg_transport::Endpoint`].
#[repr(C)]
pub(crate) struct Connection {
    /// Index of the flow that it belongs to.
    pub(crate) flow: usize,
    /// The links into which client and server send.
    pub(crate) first_links: [LinkId; 2],
    /// Whether its applications act at times of their own, and not only at events of the endpoints.
    pub(crate) has_timers: bool,
    /// Whether its ends read all that has arrived by an instant before they answer.
    pub(crate) reads_all: bool,
    pub(crate) call: Option<Box<Call>>,
    /// Its hosts, if they change times or packets.
    pub(crate) hosts: Option<Box<Hosts>>,
    /// Links that packets cross.
    pub(crate) routes: PerDirection<Box<[LinkId]>>,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    supplier: Option<Box<Supplier>>,
    pub(crate) breaker: Option<Box<Breaker>>,
    /// When a circuit breaker ended it, its own or the breaker of its tunnel, and by which rule.
    pub(crate) tripped: Option<(Instant, Rule)>,
    pub(crate) workload: Workload,
    /// Whether client and server send data or media.
    sends: [bool; 2],
    /// Its actual start.
    /// [`Instant::NEVER`] while another connection has to end before.
    pub(crate) start: Instant,
    pub(crate) started: bool,
    pub(crate) completion: Option<Instant>,
    pub(crate) closed: Option<Instant>,
    /// Streams still to arrive.
    open_streams: u32,
    handshake_excess: Bytes,
}

/// A planned connection.
pub(crate) struct Plan {
    /// The name of its flow, or "web/17" for a request.
    name: String,
    workload: Workload,
    start: Instant,
    /// Bytes that its handshake has more.
    handshake_excess: Bytes,
}

/// The planned connections of a flow, in the order of their starts.
pub(crate) fn plans(spec: &FlowSpec, trial: u64, noise: StartNoise) -> Vec<Plan> {
    // Each draw has a stream of its own: one that is switched on leaves the others as they were.
    let upto = |most: u64, stream: &str| seed::of(trial, stream) % (most + 1);
    let time_upto =
        |most: Duration, stream: &str| Duration::from_nanos(upto(most.as_nanos(), stream));
    let name = &spec.name;
    let start = Instant::START
        + spec.start
        + time_upto(noise.flow, &format!("flow/{name}/start"))
        + time_upto(noise.phase, "phase");
    let excess = |name: &str| match noise.handshake.as_u64() {
        0 => Bytes::ZERO, // there may be a hundred thousand names
        most => Bytes::new(upto(most, &format!("flow/{name}/handshake"))),
    };
    let Workload::Requests(arrivals) = &spec.workload else {
        return vec![Plan {
            name: name.clone(),
            workload: spec.workload.clone(),
            start,
            handshake_excess: excess(name),
        }];
    };
    let drawn = arrivals.draw(trial, name).into_iter().enumerate();
    drawn
        .map(|(number, arrival)| (format!("{name}/{number}"), arrival))
        .map(|(name, arrival)| Plan {
            handshake_excess: excess(&name),
            name,
            start: (arrival.after).map_or(Instant::NEVER, |after| start + after),
            workload: Workload::Download {
                bytes: arrival.bytes(),
                request: arrivals.request,
                streams: 1,
                supply: (arrivals.objects > 1)
                    .then(|| Supply::of_chunks(arrival.objects, Duration::ZERO)),
            },
        })
        .collect()
}

impl Connection {
    /// A connection of the flow with index `flow`.
    pub(crate) fn new(spec: &FlowSpec, flow: usize, trial: u64, plan: Plan) -> Connection {
        let Plan {
            name,
            workload,
            start,
            handshake_excess,
        } = plan;
        let endpoint = |role: Role, side: &str| {
            let (mut config, controller) = (spec.transport.clone(), &spec.controller);
            config.handshake_excess = handshake_excess;
            let sends = workload.is_sent_by(role);
            if !sends {
                config.ack_conduct = spec.ack_conduct;
            }
            let name = format!("flow/{name}/{side}");
            let hears = Hears {
                ignores_loss: spec.ignores_loss,
                reports: spec.reports,
            };
            let mtu = config.initial_mtu;
            let header = mtu - full_packet_payload(mtu);
            let target = spec.probe.map(|probe| probe.target);
            let end = End {
                role,
                sends,
                hears,
                media: workload.media_rates(role, header, target),
            };
            Endpoint::new(&spec.stack, end, config, start, controller, trial, &name)
        };
        let supplier = match &workload {
            Workload::Download {
                request,
                supply: Some(supply),
                ..
            } => {
                let full = full_packet_payload(spec.transport.max_mtu);
                let piece = match spec.stack {
                    FlowStack::Model => full,
                    FlowStack::Quic | FlowStack::Library(_) => full - LONGER_HEADERS,
                };
                Some(Box::new(Supplier::new(supply, *request, piece, start)))
            }
            _ => None,
        };
        let open_streams = match &workload {
            Workload::Download { streams, .. } | Workload::Upload { streams, .. } => {
                (supplier.as_ref()).map_or(*streams, |supplier| supplier.chunks())
            }
            Workload::Call(_) | Workload::Requests(_) => 0,
        };
        let call = match &workload {
            Workload::Call(media) => Some(Box::new(Call::new(media, spec.probe, trial, &name))),
            _ => None,
        };
        let hops = spec.route.iter().copied();
        let routes: PerDirection<Box<[LinkId]>> = PerDirection {
            down: (hops.clone())
                .map(|hop| LinkId::new(hop, Direction::Down))
                .collect(),
            up: (hops.rev())
                .map(|hop| LinkId::new(hop, Direction::Up))
                .collect(),
        };
        let (mut client, mut server) = (
            endpoint(Role::Client, "client"),
            endpoint(Role::Server, "server"),
        );
        client.pair(&mut server);
        client.learn_arrivals(&mut server);
        server.learn_arrivals(&mut client);
        Connection {
            flow,
            sends: Role::BOTH.map(|role| workload.is_sent_by(role)),
            has_timers: call.is_some() || supplier.is_some() || spec.breaker.is_some(),
            first_links: Role::BOTH.map(|sender| routes[Direction::from(sender)][0]),
            reads_all: spec.transport.host.reading == Reading::All,
            hosts: Hosts::new(spec.transport.host),
            routes,
            client,
            server,
            supplier,
            breaker: spec.breaker.map(Breaker::new).map(Box::new),
            tripped: None,
            workload,
            start,
            started: false,
            completion: None,
            closed: None,
            open_streams,
            handshake_excess,
            call,
        }
    }

    /// The same connection, as yet unused, with a start: `number` is its own in a flow of requests.
    pub(crate) fn starting_at(&self, spec: &FlowSpec, seeds: (u64, usize), start: Instant) -> Self {
        let (trial, number) = seeds;
        let plan = Plan {
            name: format!("{}/{number}", spec.name),
            workload: self.workload.clone(),
            start,
            handshake_excess: self.handshake_excess,
        };
        Connection::new(spec, self.flow, trial, plan)
    }

    pub(crate) fn endpoint(&mut self, side: Role) -> &mut Endpoint {
        match side {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }

    /// One end, to look at.
    pub(crate) fn end(&self, side: Role) -> &Endpoint {
        match side {
            Role::Client => &self.client,
            Role::Server => &self.server,
        }
    }

    /// Whether one side sends data or media.
    #[inline]
    pub(crate) fn sends(&self, side: Role) -> bool {
        self.sends[side.index()]
    }

    /// The sides that do.
    pub(crate) fn senders(&self) -> impl Iterator<Item = Role> + use<> {
        let sends = self.sends;
        (Role::BOTH.into_iter()).filter(move |side| sends[side.index()])
    }

    /// The links that its data or media cross, direction by direction; the first one of each with `true`.
    pub(crate) fn data_links(&self) -> impl Iterator<Item = (LinkId, bool)> {
        let routes = (self.senders()).map(|side| &self.routes[Direction::from(side)]);
        routes.flat_map(|route| {
            route
                .iter()
                .enumerate()
                .map(|(place, link)| (*link, place == 0))
        })
    }

    /// Bytes of the workload delivered so far, in streams and datagrams.
    pub(crate) fn delivered(&self) -> Bytes {
        let received = |sender: Role| self.end(sender.peer()).counters().stream_bytes_received;
        let all: u64 = self.senders().map(received).sum();
        // The server receives requests for its own media as well.
        let requests = match &self.call {
            Some(call) if self.sends(Role::Client) => call.requested(),
            _ => 0,
        };
        let datagrams = self.call.as_ref().map_or(0, |call| call.datagram_bytes());
        Bytes::new(all - requests + datagrams)
    }

    /// Whether its transfer is not complete, and whether it is not closed.
    pub(crate) fn is_in_progress(&self) -> (bool, bool) {
        (self.completion.is_none(), self.closed.is_none())
    }

    pub(crate) fn begin(&mut self) {
        self.started = true;
        if let Some(breaker) = &mut self.breaker {
            breaker.begin(self.start);
        }
        self.client.connect(self.start);
        // With 0-RTT the client may send immediately.
        self.serve(self.start, Role::Client);
    }

    /// Lets the application of one side process the events of its endpoint.
    pub(crate) fn serve(&mut self, now: Instant, side: Role) {
        while let Some(event) = self.endpoint(side).poll_event() {
            if self.is_tripped() && event != AppEvent::Closed {
                continue;
            }
            if self.call.is_some() && event != AppEvent::Closed {
                self.serve_call(now, side, event);
                continue;
            }
            match (side, event) {
                (Role::Client, AppEvent::Connected) => self.ask(),
                (
                    Role::Server,
                    AppEvent::StreamData {
                        id, complete: true, ..
                    },
                ) => {
                    self.answer(now, id);
                }
                (Role::Client, AppEvent::StreamData { complete: true, .. }) => {
                    self.stream_arrived(now);
                }
                (Role::Client, AppEvent::Closed) => self.closed = Some(now),
                _ => {}
            }
        }
    }

    /// Passes an event to the call, and closes the connection when the call has ended.
    fn serve_call(&mut self, now: Instant, side: Role, event: AppEvent) {
        let Some(call) = &mut self.call else { return };
        call.serve(now, side, event, &mut self.client, &mut self.server);
        self.end_call_if_over(now);
    }

    /// All data is there: the flow has ended.
    fn complete(&mut self, now: Instant) {
        self.completion = Some(now);
        self.client.end_limits(now);
        self.server.end_limits(now);
    }

    fn end_call_if_over(&mut self, now: Instant) {
        let is_running = self.completion.is_none() && !self.is_tripped();
        if is_running && self.call.as_ref().is_some_and(|call| call.is_over(now)) {
            self.complete(now);
            self.client.close(now);
        }
    }

    /// The next timer of the applications.
    pub(crate) fn next_app(&self) -> Instant {
        let breaker = self.breaker.as_ref();
        let looks = breaker.map_or(Instant::NEVER, |breaker| breaker.next());
        match (&self.call, &self.supplier) {
            _ if self.completion.is_some() || self.is_tripped() => Instant::NEVER,
            (Some(call), _) => call.next().min(looks),
            (None, Some(supplier)) => supplier.next().min(looks),
            (None, None) => looks,
        }
    }

    /// Whether a circuit breaker has ended it.
    pub(crate) fn is_tripped(&self) -> bool {
        self.tripped.is_some()
    }

    /// A circuit breaker trips: both ends close at once.
    pub(crate) fn trip(&mut self, now: Instant, rule: Rule) {
        self.tripped = Some((now, rule));
        self.client.end_limits(now);
        self.server.end_limits(now);
        if self.started {
            self.client.close(now);
            self.server.close(now);
        }
    }

    /// Handles the timers of the applications.
    pub(crate) fn tick_app(&mut self, now: Instant) {
        if self.is_tripped() {
            return;
        }
        self.client.advance(now);
        self.server.advance(now);
        if let Some(call) = &mut self.call {
            call.tick(now, &mut self.client, &mut self.server);
        }
        if let Some(supplier) = &mut self.supplier {
            supplier.tick(now, &mut self.client, &mut self.server);
        }
        self.end_call_if_over(now);
    }

    /// The client is connected: it sends its requests, or its data.
    fn ask(&mut self) {
        if let Some(supplier) = &mut self.supplier {
            supplier.ask(&mut self.client);
            return;
        }
        match &self.workload {
            &Workload::Download {
                request, streams, ..
            } => {
                for id in 0..streams {
                    self.client
                        .write(id, request.as_u64().max(1), true, BULK, true);
                }
            }
            Workload::Call(_) | Workload::Requests(_) => {}
            &Workload::Upload { bytes, streams } => {
                for id in 0..streams {
                    self.client
                        .write(id, share(bytes, streams, id), true, BULK, true);
                }
            }
        }
    }

    /// A stream from the client is complete: a request, or uploaded data.
    fn answer(&mut self, now: Instant, id: u32) {
        if let Some(supplier) = &mut self.supplier {
            supplier.on_request(now, id, &mut self.server);
            return;
        }
        match &self.workload {
            &Workload::Download { bytes, streams, .. } => {
                self.server
                    .write(id, share(bytes, streams, id), true, BULK, true);
            }
            Workload::Call(_) | Workload::Requests(_) => {}
            Workload::Upload { .. } => {
                // The end of the stream tells the client that all has arrived.
                self.server.write(id, 0, true, BULK, true);
                self.open_streams -= 1;
                if self.open_streams == 0 {
                    self.complete(now);
                }
            }
        }
    }

    /// A stream from the server is complete: data, or the receipt of an upload.
    fn stream_arrived(&mut self, now: Instant) {
        if let Some(supplier) = &mut self.supplier {
            supplier.on_chunk(now, &mut self.client);
        }
        match self.workload {
            Workload::Download { .. } => {
                self.open_streams -= 1;
                if self.open_streams == 0 {
                    self.complete(now);
                    self.client.close(now);
                }
            }
            Workload::Call(_) | Workload::Requests(_) => {}
            Workload::Upload { .. } => {
                if self.open_streams == 0 {
                    self.client.close(now);
                }
            }
        }
    }
}

/// The part of stream `id` of `bytes` split evenly.
fn share(bytes: Bytes, streams: u32, id: u32) -> u64 {
    let (total, streams) = (bytes.as_u64(), u64::from(streams));
    total / streams + u64::from(u64::from(id) < total % streams)
}

/// Names of connections: the name of their flow, or, in a flow of requests, "web/17"; then the names of sources of cross traffic.
pub(crate) fn names(scenario: &Scenario, connections: &[Connection]) -> Vec<String> {
    let mut counts = vec![0; scenario.flows.len()];
    for connection in connections {
        counts[connection.flow] += 1;
    }
    let mut names = Vec::new();
    for (spec, count) in scenario.flows.iter().zip(counts) {
        match &spec.workload {
            Workload::Requests(_) => {
                names.extend((0..count).map(|number| format!("{}/{number}", spec.name)));
            }
            _ => names.push(spec.name.clone()),
        }
    }
    names.extend(scenario.traffic.iter().map(|source| source.name.clone()));
    names
}
