//! A client and a server, and a pipe between them that a test can make lossy, slow or disorderly.
//!
//! The pipe has a delay and no capacity: packets never wait for each other. Three rules are checked on
//! every packet, whatever the test is about: the anti-amplification limit (RFC 9000 section 8.1), the
//! flow-control limits (section 4.1), and that no datagram is sent twice (RFC 9221 section 5.2).

use rand_core::SeedableRng;
use std::collections::{BTreeMap, BTreeSet};
use thalweg_control::{Controller, Init, Rng};
use thalweg_transport::packet::{Frame, Kind, Packet, StreamId};
use thalweg_transport::{AppEvent, Endpoint, Outlet, Role, TransportConfig};
use thalweg_units::{Duration, Instant};

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) fn at_ms(n: u64) -> Instant {
    Instant::START + ms(n)
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ToServer,
    ToClient,
}

/// What the pipe does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    Drop,
    /// It takes this much longer.
    Late(Duration),
    /// It arrives, and once more this much later.
    Twice(Duration),
}

/// One packet that entered the pipe.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) time: Instant,
    pub(crate) way: Way,
    pub(crate) packet: Packet,
    pub(crate) fate: Fate,
}

impl Sent {
    pub(crate) fn stream(&self) -> Option<StreamId> {
        self.packet.frames.iter().find_map(|frame| match frame {
            Frame::Stream { id, .. } => Some(*id),
            _ => None,
        })
    }
    pub(crate) fn is_data(&self) -> bool {
        self.packet.kind == Kind::Data
    }
}

/// What a client asks for on one stream, and what the server answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) id: StreamId,
    pub(crate) request: u64,
    pub(crate) response: u64,
    pub(crate) priority: u8,
    pub(crate) incremental: bool,
}

impl Exchange {
    pub(crate) fn new(id: StreamId, response: u64) -> Self {
        Exchange {
            id,
            request: 100,
            response,
            priority: 9,
            incremental: true,
        }
    }
}

type Pipe = Box<dyn FnMut(Instant, Way, usize, &mut Packet) -> Fate>;

/// What leaves at one time.
struct Packets(Vec<Packet>);

impl Outlet for Packets {
    fn send(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    /// One way.
    pub(crate) delay: Duration,
    pipe: Pipe,
    /// (arrival, order of entry, way, packet)
    flying: Vec<(Instant, usize, Way, Packet)>,
    entered: usize,
    pub(crate) sent: Vec<Sent>,
    pub(crate) client_events: Vec<(Instant, AppEvent)>,
    pub(crate) server_events: Vec<(Instant, AppEvent)>,
    pub(crate) exchanges: Vec<Exchange>,
    /// Whether the usual packets take the short ways.
    pub(crate) short: bool,
    /// How many arrivals did.
    pub(crate) usual: u64,
    rules: Rules,
}

impl Pair {
    /// A pair with the same configuration on both sides, a round trip of 80 ms, and the given controller at
    /// the server; the client has Reno.
    pub(crate) fn new(config: &TransportConfig, server: Box<dyn Controller>) -> Self {
        let rng = |seed| Rng::seed_from_u64(seed);
        let reno = controller("reno", config);
        Pair {
            now: Instant::START,
            client: Endpoint::new(
                Role::Client,
                config.clone(),
                Instant::START,
                reno,
                rng(1),
                rng(2),
            ),
            server: Endpoint::new(
                Role::Server,
                config.clone(),
                Instant::START,
                server,
                rng(3),
                rng(4),
            ),
            delay: ms(40),
            pipe: Box::new(|_, _, _, _| Fate::Pass),
            flying: Vec::new(),
            entered: 0,
            sent: Vec::new(),
            client_events: Vec::new(),
            server_events: Vec::new(),
            exchanges: Vec::new(),
            short: false,
            usual: 0,
            rules: Rules::new(config),
        }
    }

    /// Sets what the pipe does: it is asked with the time, the way, how many packets entered before, and
    /// the packet.
    pub(crate) fn with_pipe(
        mut self,
        pipe: impl FnMut(Instant, Way, usize, &mut Packet) -> Fate + 'static,
    ) -> Self {
        self.pipe = Box::new(pipe);
        self
    }

    pub(crate) fn asking(mut self, exchanges: &[Exchange]) -> Self {
        self.exchanges = exchanges.to_vec();
        self
    }

    pub(crate) fn connect(mut self) -> Self {
        self.client.connect();
        self.pump(Way::ToServer);
        self
    }

    /// Plays until `until` holds; panics after `limit`.
    pub(crate) fn run_until(&mut self, limit: Instant, until: impl Fn(&Pair) -> bool) {
        let mut still = 0;
        while !until(self) {
            let next = self.next();
            assert!(
                next <= limit,
                "not there at {limit}, next event at {next}; client: {}; server: {}",
                describe(&self.client, &self.client_events),
                describe(&self.server, &self.server_events),
            );
            still = if next > self.now { 0 } else { still + 1 };
            assert!(still < 20_000, "time stands still at {}", self.now);
            self.now = next;
            self.step();
        }
    }

    /// Plays until `end`.
    pub(crate) fn run_to(&mut self, end: Instant) {
        while self.next() <= end {
            self.now = self.next();
            self.step();
        }
        self.now = end;
    }

    fn next(&self) -> Instant {
        let arrival = self.flying.iter().map(|f| f.0).min();
        let ends = self.client.next().min(self.server.next());
        arrival.unwrap_or(Instant::NEVER).min(ends).max(self.now)
    }

    fn step(&mut self) {
        let due = |f: &&(Instant, usize, Way, Packet)| f.0 <= self.now;
        let first = self.flying.iter().filter(due).map(|f| (f.0, f.1)).min();
        if let Some(key) = first {
            let position = self.flying.iter().position(|f| (f.0, f.1) == key).unwrap();
            let (_, _, way, packet) = self.flying.swap_remove(position);
            self.rules.on_arrival(way, &packet);
            let end = match way {
                Way::ToServer => &mut self.server,
                Way::ToClient => &mut self.client,
            };
            let done = self.short && end.receive_next(self.now, &packet);
            self.usual += u64::from(done);
            if !done {
                end.receive(self.now, &packet);
            }
        }
        self.client.expire(self.now);
        self.server.expire(self.now);
        self.pump(Way::ToServer);
        self.pump(Way::ToClient);
    }

    /// Lets the sender of one way hear its events, act, and send. Tests call it after they have told an
    /// endpoint something.
    pub(crate) fn pump(&mut self, way: Way) {
        self.serve(way);
        loop {
            let end = match way {
                Way::ToServer => &mut self.client,
                Way::ToClient => &mut self.server,
            };
            if self.short {
                let mut packets = Packets(Vec::new());
                end.transmit_all(self.now, &mut packets);
                for packet in packets.0 {
                    self.carry(way, packet);
                }
                break;
            }
            let Some(packet) = end.transmit(self.now) else {
                break;
            };
            self.carry(way, packet);
        }
        self.serve(way);
    }

    fn carry(&mut self, way: Way, mut packet: Packet) {
        self.rules.on_sent(way, &packet);
        let fate = (self.pipe)(self.now, way, self.sent.len(), &mut packet);
        let mut fly = |more: Duration, packet: &Packet| {
            let arrival = self.now + self.delay + more;
            self.flying
                .push((arrival, self.entered, way, packet.clone()));
            self.entered += 1;
        };
        match fate {
            Fate::Drop => {}
            Fate::Pass => fly(Duration::ZERO, &packet),
            Fate::Late(more) => fly(more, &packet),
            Fate::Twice(more) => {
                fly(Duration::ZERO, &packet);
                fly(more, &packet);
            }
        }
        let time = self.now;
        self.sent.push(Sent {
            time,
            way,
            packet,
            fate,
        });
    }

    fn serve(&mut self, way: Way) {
        if way == Way::ToServer {
            while let Some(event) = self.client.poll_event() {
                if event == AppEvent::Connected {
                    for ask in &self.exchanges {
                        let (priority, turns) = (ask.priority, ask.incremental);
                        self.client
                            .write(ask.id, ask.request, true, priority, turns);
                    }
                }
                self.client_events.push((self.now, event));
            }
            return;
        }
        while let Some(event) = self.server.poll_event() {
            if let AppEvent::StreamData {
                id, complete: true, ..
            } = event
            {
                for ask in self.exchanges.iter().filter(|ask| ask.id == id) {
                    let (priority, turns) = (ask.priority, ask.incremental);
                    self.server.write(id, ask.response, true, priority, turns);
                }
            }
            self.server_events.push((self.now, event));
        }
    }

    /// Whether every answer has arrived in full.
    pub(crate) fn is_answered(&self) -> bool {
        self.exchanges
            .iter()
            .all(|ask| self.completions(ask.id).count() > 0)
    }

    /// When stream `id` was complete at the client; more than one element would be a defect.
    pub(crate) fn completions(&self, id: StreamId) -> impl Iterator<Item = Instant> {
        self.client_events
            .iter()
            .filter_map(move |(time, event)| match event {
                AppEvent::StreamData {
                    id: of,
                    complete: true,
                    ..
                } if *of == id => Some(*time),
                _ => None,
            })
    }

    pub(crate) fn client_event(&self, wanted: AppEvent) -> Option<Instant> {
        let mut events = self.client_events.iter();
        events.find(|(_, event)| *event == wanted).map(|e| e.0)
    }

    /// Numbered packets of the server that carry stream data, in order.
    pub(crate) fn server_data(&self) -> impl Iterator<Item = &Sent> {
        let data = |sent: &&Sent| sent.way == Way::ToClient && sent.stream().is_some();
        self.sent.iter().filter(data)
    }
}

fn describe(end: &Endpoint, events: &[(Instant, AppEvent)]) -> String {
    let (path, last) = (end.path(), events.last());
    format!(
        "in flight {}, lowest unacknowledged {} of {}, last event {last:?}",
        path.bytes_in_flight, path.lowest_unacked, path.next_packet
    )
}

/// Rules that hold in every test.
struct Rules {
    to_server: u64,
    from_server: u64,
    validated: bool,
    /// For each way: what the sender was allowed, and what it has used.
    max_data: [u64; 2],
    initial_stream: u64,
    max_stream: [BTreeMap<StreamId, u64>; 2],
    used: [BTreeMap<StreamId, u64>; 2],
    tags: BTreeSet<(bool, u64)>,
}

impl Rules {
    fn new(config: &TransportConfig) -> Self {
        Rules {
            to_server: 0,
            from_server: 0,
            validated: false,
            max_data: [config.initial_max_data.as_u64(); 2],
            initial_stream: config.initial_max_stream_data.as_u64(),
            max_stream: Default::default(),
            used: Default::default(),
            tags: BTreeSet::new(),
        }
    }

    fn on_arrival(&mut self, way: Way, packet: &Packet) {
        if way == Way::ToServer {
            self.to_server += u64::from(packet.size);
            self.validated |= packet.kind == Kind::HandshakeAck
                || packet
                    .frames
                    .iter()
                    .any(|f| matches!(f, Frame::ClientFinished { .. }));
        }
        // A limit binds the other direction.
        let other = 1 - way as usize;
        for frame in &packet.frames {
            match *frame {
                Frame::MaxData(limit) => self.max_data[other] = self.max_data[other].max(limit),
                Frame::MaxStreamData { id, limit } => {
                    let known = self.max_stream[other].entry(id).or_insert(limit);
                    *known = (*known).max(limit);
                }
                _ => {}
            }
        }
    }

    fn on_sent(&mut self, way: Way, packet: &Packet) {
        if way == Way::ToClient {
            self.from_server += u64::from(packet.size);
            assert!(
                self.validated || self.from_server <= 3 * self.to_server,
                "RFC 9000 section 8.1: {} bytes sent for {} received, with {:?}",
                self.from_server,
                self.to_server,
                packet.kind
            );
        }
        let way = way as usize;
        for frame in &packet.frames {
            match *frame {
                Frame::Stream {
                    id, offset, len, ..
                } => {
                    let end = offset + u64::from(len);
                    let used = self.used[way].entry(id).or_default();
                    *used = (*used).max(end);
                    let limit = self.max_stream[way].get(&id).copied();
                    let limit = limit.unwrap_or(0).max(self.initial_stream);
                    assert!(
                        end <= limit,
                        "stream {id} at {end} exceeds its limit {limit}"
                    );
                    let total: u64 = self.used[way].values().sum();
                    let limit = self.max_data[way];
                    assert!(total <= limit, "{total} bytes exceed MAX_DATA {limit}");
                }
                Frame::Datagram { tag, .. } => {
                    assert!(self.tags.insert((way == 0, tag)), "datagram {tag} twice");
                }
                _ => {}
            }
        }
    }
}

/// A controller of the registry.
pub(crate) fn controller(name: &str, config: &TransportConfig) -> Box<dyn Controller> {
    let spec = thalweg_c4_history::registry().read(name).unwrap();
    spec.build(&Init {
        now: Instant::START,
        mtu: config.initial_mtu,
        initial_window: config.initial_window,
        media: None,
    })
}
