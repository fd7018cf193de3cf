//! Flows between the first left host (clients) and the first right host (servers): over the kernel's TCP, or over
//! the QUIC stack and UDP.
//!
//! # Model
//! One process drives all connections; it enters a host to make a socket there. A flow has one connection,
//! or as many as it has requests: each begins at its time, whatever becomes of those before it (an open
//! loop). What happens on a connection stands in `tcp_ends.rs` and `quic_ends.rs`. Applications read and write as
//! fast as the sockets let them.
//!
//! The clock starts when everything is ready that has to be there before. A connection is made when its time has
//! come, so that thousands of them hold up nobody, and how late it began then is told.
//!
//! TCP: the congestion control is set on the socket that sends the data (`TCP_CONGESTION`), and its state is
//! read from there (`TCP_INFO`) every 5 ms. Connections learn nothing from those before them
//! (`net.ipv4.tcp_no_metrics_save`), as in the simulator. The servers of a flow listen on one port.
//!
//! QUIC: each end has a socket of its own, and the sender is looked at as it acts, at most once in a millisecond.
//!
//! Each client has a port of its own, by which its server and the emulator know it.
//!
//! # Limits
//! `TCP_INFO` has the smoothed RTT and no single samples: means and maxima of the RTT are of what was
//! smoothed. Losses are retransmissions, spurious losses the duplicates that the receiver reported. The QUIC stack
//! counts RTT samples and losses as in the simulator.

use crate::connection::{Connection, ConnectionResult, Ends};
use crate::flow_trace::FlowTrace;
use crate::host::Host;
use crate::quic_ends::QuicEnds;
use crate::scenario::{Carrier, LiveScenario};
use crate::socket::Socket;
use crate::sys::clock::Clock;
use crate::sys::events::{Epoll, Interest, Timer};
use crate::sys::tcp;
use crate::tcp_ends::TcpEnds;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4, TcpListener};
use thalweg_sim::{RealConnection, Transfer};
use thalweg_units::{Bytes, Duration, Instant};

/// The port at which the servers of flow 0 listen; those of the other flows follow.
const SERVER_PORT: u16 = 5201;
/// The port of the client of connection 0; those of the other connections follow.
pub(crate) const FIRST_PORT: u16 = 16384;
/// Most flows: their ports stay below those of clients.
pub(crate) const MOST_FLOWS: usize = 10_000;
/// Most connections: so many ports there are.
pub(crate) const MOST_CONNECTIONS: usize = (u16::MAX - FIRST_PORT) as usize;
/// How often the state of the connections is read.
pub(crate) const SAMPLE: Duration = Duration::from_millis(5);
/// What is read and written at once.
const CHUNK: usize = 256 * 1024;
/// The largest socket buffers that the kernel may grow to: they must not be what limits a flow.
const LARGEST_BUFFER: &str = "67108864";

/// One flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowPlan {
    /// What its connections move, and when each begins.
    pub(crate) transfers: Vec<(Duration, Transfer)>,
    /// What carries it.
    pub(crate) carrier: Carrier,
    /// Whether the end waits for it.
    pub(crate) awaited: bool,
}

/// What all flows experienced.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct TrafficResult {
    /// Flow by flow, in the order in which they begin.
    pub(crate) connections: Vec<ConnectionResult>,
    /// If it was asked for.
    pub(crate) trace: Option<FlowTrace>,
    /// Datagrams that came down, and up, and that the host dropped for want of room.
    pub(crate) host_dropped: [u64; 2],
    /// For each flow, bytes delivered while all flows were active.
    pub(crate) shared: Vec<u64>,
    /// Time during which all flows were active.
    pub(crate) overlap: u64,
    /// When it all ended.
    pub(crate) end: u64,
}

/// What can be ready of a connection.
const CLIENT: u64 = 0;
const SERVER: u64 = 1;
const PLACES: u64 = 2;
/// Listeners, by flow, are numbered from here on.
const LISTENERS: u64 = 1 << 32;
const TIMER: u64 = u64::MAX;

/// How flows are to be driven.
pub(crate) struct Drive<'a> {
    pub(crate) live: &'a LiveScenario,
    /// Of all flows.
    pub(crate) plans: &'a [FlowPlan],
    /// Of the trial.
    pub(crate) seed: u64,
    /// When it ends at the latest.
    pub(crate) limit: Duration,
    /// Whether to record a trace.
    pub(crate) record: bool,
}

/// Drives all flows until those that are awaited have closed, or until the time limit. Their clock starts when all
/// is ready, and `started` is told of it.
///
/// # Errors
/// What the kernel refuses: a congestion control that this user may not choose, for example.
pub(crate) fn drive(
    asked: &Drive<'_>,
    hosts: [&Host; 2],
    started: impl FnOnce(Clock) -> io::Result<()>,
) -> Result<TrafficResult, String> {
    let refused = |error: io::Error| format!("the kernel refuses: {error}");
    for host in hosts {
        host.enter().map_err(refused)?;
        // Best effort: without them, long fat paths are limited by the buffers of the host, and later
        // connections begin with what earlier ones learned.
        for (key, value) in [
            ("rmem", format!("4096 131072 {LARGEST_BUFFER}")),
            ("wmem", format!("4096 16384 {LARGEST_BUFFER}")),
            ("no_metrics_save", "1".to_owned()),
        ] {
            let _ = fs::write(format!("/proc/sys/net/ipv4/tcp_{key}"), value);
        }
    }
    let [left, right] = hosts;
    let mut flows = Vec::new();
    let mut connections = Vec::new();
    for ((index, plan), port) in asked.plans.iter().enumerate().zip(SERVER_PORT..) {
        let carrying = match &plan.carrier {
            Carrier::Kernel(congestion) => {
                let address = SocketAddrV4::new(right.v4, port);
                let listener = TcpListener::bind(address).map_err(refused)?;
                listener.set_nonblocking(true).map_err(refused)?;
                tcp::set_congestion(&listener, congestion).map_err(|error| {
                    format!("the kernel refuses the congestion control \"{congestion}\": {error}")
                })?;
                Carrying::Kernel(TcpServer {
                    listener,
                    address,
                    congestion: congestion.clone(),
                })
            }
            Carrier::Quic => {
                let flow = &asked.live.scenario.flows[index];
                Carrying::Quic(Box::new(flow.real_connections(index, asked.seed)))
            }
        };
        let own = plan.transfers.iter();
        connections.extend(own.map(|&(start, transfer)| Connection::new(index, start, transfer)));
        flows.push(Flow {
            carrying,
            awaited: plan.awaited,
            unfinished: plan.transfers.len(),
            incomplete: plan.transfers.len(),
        });
    }
    left.enter().map_err(refused)?;
    // The first connection of each flow is made before the clock starts: flows may begin together.
    for index in 0..connections.len() {
        if is_first_of_flow(&connections, index)
            && let Carrying::Quic(following) = &mut flows[connections[index].flow].carrying
            && let Some(first) = following.next()
        {
            let ends = QuicEnds::new(index, first, hosts, asked.record).map_err(refused)?;
            connections[index].ends = Ends::Quic(Box::new(ends));
        }
    }
    let mut upcoming: Vec<usize> = (0..connections.len()).collect();
    upcoming.sort_by_key(|index| Reverse((connections[*index].begins, *index)));
    let epoll = Epoll::new().map_err(refused)?;
    let timer = Timer::new().map_err(refused)?;
    let clock = Clock::start();
    started(clock).map_err(refused)?;
    let mut traffic = Traffic {
        live: asked.live,
        epoll,
        timer,
        clock,
        hosts,
        unstarted: flows.len(),
        flows,
        connections,
        upcoming,
        active: Vec::new(),
        next_sample: Instant::START,
        trace: asked.record.then(FlowTrace::default),
        host_dropped: [0; 2],
        overlap: [None, None],
    };
    traffic.run(Instant::START + asked.limit).map_err(refused)?;
    Ok(traffic.finish())
}

/// Whether connection `index` is the first of its flow: those of a flow stand together.
fn is_first_of_flow(connections: &[Connection], index: usize) -> bool {
    let before = connections[..index].last();
    before.is_none_or(|before| before.flow != connections[index].flow)
}

/// The port of the client of a connection; with QUIC that of its server, too.
pub(crate) fn port_of(connection: usize) -> u16 {
    FIRST_PORT + connection as u16
}

/// Where the kernel's TCP serves a flow.
struct TcpServer {
    listener: TcpListener,
    address: SocketAddrV4,
    congestion: String,
}

/// What carries the connections of a flow.
enum Carrying {
    Kernel(TcpServer),
    /// What will be the ends of the next connection that begins, and of those after it. Each has sockets of its own.
    Quic(Box<dyn Iterator<Item = RealConnection>>),
}

/// What the connections of a flow have in common.
struct Flow {
    carrying: Carrying,
    awaited: bool,
    /// Connections that have not ended, and those that are not complete.
    unfinished: usize,
    incomplete: usize,
}

/// All flows at work.
struct Traffic<'a> {
    live: &'a LiveScenario,
    epoll: Epoll,
    timer: Timer,
    clock: Clock,
    /// Of the clients, and of the servers.
    hosts: [&'a Host; 2],
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    /// Connections that have not begun, the next one last.
    upcoming: Vec<usize>,
    /// Connections that have begun and not ended.
    active: Vec<usize>,
    /// Flows that have not begun.
    unstarted: usize,
    next_sample: Instant,
    trace: Option<FlowTrace>,
    host_dropped: [u64; 2],
    /// When all flows had started and when the first was complete, and what each had delivered then.
    overlap: [Option<(Instant, Vec<u64>)>; 2],
}

impl Traffic<'_> {
    fn run(&mut self, limit: Instant) -> io::Result<()> {
        self.epoll.add(&self.timer, TIMER, Interest::Read)?;
        for (index, flow) in self.flows.iter().enumerate() {
            if let Carrying::Kernel(server) = &flow.carrying {
                let number = LISTENERS + index as u64;
                self.epoll.add(&server.listener, number, Interest::Read)?;
            }
        }
        let mut chunk = vec![0; CHUNK];
        let mut ready = Vec::new();
        let awaited = self.flows.iter().any(|flow| flow.awaited);
        loop {
            let now = self.clock.now();
            let waiting = |flow: &Flow| flow.awaited && flow.unfinished > 0;
            if now >= limit || (awaited && !self.flows.iter().any(waiting)) {
                return Ok(());
            }
            self.begin(now, &mut chunk)?;
            self.sample(now);
            self.timer
                .set(Some(self.clock.absolute(self.wakes(limit))))?;
            self.epoll.wait(None)?;
            ready.clear();
            ready.extend(self.epoll.ready().filter(|number| *number != TIMER));
            for number in &mut ready {
                // A server that has just come may have data already.
                *number = match number.checked_sub(LISTENERS) {
                    Some(flow) => self.accept(flow as usize)?.map_or(u64::MAX, |it| it as u64),
                    None => *number / PLACES,
                };
            }
            let now = self.clock.now();
            let is_due = |index: &&usize| self.connections[**index].next() <= now;
            ready.extend(self.active.iter().filter(is_due).map(|index| *index as u64));
            ready.sort_unstable();
            ready.dedup();
            for index in ready.iter().filter(|number| **number != u64::MAX) {
                self.advance(*index as usize, &mut chunk)?;
            }
        }
    }

    /// When there is something to do whatever the sockets do.
    fn wakes(&self, limit: Instant) -> Instant {
        let next = self.upcoming.last();
        let begins = next.map(|index| self.connections[*index].begins);
        let active = self.active.iter();
        let due = active.map(|index| self.connections[*index].next());
        let times = [limit, self.next_sample].into_iter().chain(begins);
        times.chain(due).min().unwrap_or(limit)
    }

    /// Connects the clients whose time has come.
    fn begin(&mut self, now: Instant, chunk: &mut Vec<u8>) -> io::Result<()> {
        while let Some(&index) = self.upcoming.last() {
            let connection = &self.connections[index];
            if connection.begins > now {
                break;
            }
            self.upcoming.pop();
            let is_first = is_first_of_flow(&self.connections, index);
            self.active.push(index);
            if let Err(error) = self.connect(index) {
                self.connections[index].fail(&error);
                self.leave(index);
            }
            // An open loop: it has begun when it was to begin, however busy the client was.
            let late = self.clock.now() - self.connections[index].begins;
            let Connection { begins, result, .. } = &mut self.connections[index];
            result.start = Some(begins.as_nanos());
            result.start_lateness = late.as_nanos();
            if is_first {
                self.unstarted -= 1;
                if self.unstarted == 0 {
                    self.overlap[0] = Some((now, self.delivered()));
                }
            }
            self.advance(index, chunk)?;
        }
        Ok(())
    }

    fn connect(&mut self, index: usize) -> io::Result<()> {
        let numbers = [CLIENT, SERVER].map(|place| PLACES * index as u64 + place);
        let connection = &mut self.connections[index];
        let server = match &mut self.flows[connection.flow].carrying {
            Carrying::Kernel(server) => server,
            Carrying::Quic(following) => {
                if matches!(connection.ends, Ends::None) {
                    let next = following.next().ok_or(ErrorKind::NotFound)?;
                    let is_traced = self.trace.is_some();
                    let ends = QuicEnds::new(index, next, self.hosts, is_traced)?;
                    connection.ends = Ends::Quic(Box::new(ends));
                }
                if let Ends::Quic(quic) = &mut connection.ends {
                    quic.begin();
                    for (end, number) in quic.ends.iter().zip(numbers) {
                        self.epoll.add(&end.udp.socket, number, end.waits_for)?;
                    }
                }
                return Ok(());
            }
        };
        let transfer = connection.transfer;
        let (to_write, to_read, congestion) = match transfer {
            Transfer::Download { bytes, request } => (request, bytes, None),
            Transfer::Upload { bytes } => (bytes, Bytes::ZERO, Some(server.congestion.as_str())),
            Transfer::Call => return Err(ErrorKind::Unsupported.into()),
        };
        let from = SocketAddrV4::new(self.hosts[0].v4, port_of(index));
        let stream = tcp::connect(from, server.address, congestion)?;
        self.epoll.add(&stream, numbers[0], Interest::ReadWrite)?;
        let mut client = Socket::new(stream, to_write.as_u64(), to_read.as_u64());
        client.closes_behind = matches!(transfer, Transfer::Upload { .. });
        connection.ends = Ends::Tcp(TcpEnds {
            number: index,
            transfer,
            client,
            server: None,
        });
        Ok(())
    }

    /// Takes the connection of a client of a flow, and says which one it is.
    fn accept(&mut self, flow: usize) -> io::Result<Option<usize>> {
        let Carrying::Kernel(server) = &self.flows[flow].carrying else {
            return Ok(None);
        };
        let (stream, peer) = match server.listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        let SocketAddr::V4(peer) = peer else {
            return Ok(None);
        };
        let index = usize::from(peer.port().wrapping_sub(FIRST_PORT));
        let Some(connection) = self.connections.get_mut(index) else {
            return Ok(None);
        };
        let Ends::Tcp(ends) = &mut connection.ends else {
            return Ok(None);
        };
        if connection.flow != flow || ends.server.is_some() || connection.ended {
            return Ok(None);
        }
        stream.set_nonblocking(true)?;
        let number = PLACES * index as u64 + SERVER;
        self.epoll.add(&stream, number, Interest::Read)?;
        let to_read = match connection.transfer {
            Transfer::Download { request, .. } => request,
            Transfer::Upload { bytes } => bytes,
            Transfer::Call => Bytes::ZERO,
        };
        let mut socket = Socket::new(stream, 0, to_read.as_u64());
        socket.is_connected = true;
        ends.server = Some(socket);
        Ok(Some(index))
    }

    /// Lets a connection do what it can.
    fn advance(&mut self, index: usize, chunk: &mut Vec<u8>) -> io::Result<()> {
        let now = self.clock.now();
        let connection = &mut self.connections[index];
        if connection.ended {
            return Ok(());
        }
        let was_complete = connection.result.completion.is_some();
        connection.advance(now, chunk, self.trace.as_mut());
        let flow = connection.flow;
        if !was_complete && connection.result.completion.is_some() {
            self.flows[flow].incomplete -= 1;
            let is_over = self.flows[flow].incomplete == 0 && self.unstarted == 0;
            if is_over && self.overlap[1].is_none() {
                self.overlap[1] = Some((now, self.delivered()));
            }
        }
        if self.connections[index].ended {
            self.take_leave(index, now);
            self.leave(index);
        }
        self.follow(index)
    }

    /// Notes what is known at the end of a connection, and closes its sockets.
    fn take_leave(&mut self, index: usize, now: Instant) {
        let connection = &mut self.connections[index];
        connection.observe(now, self.trace.as_mut());
        if let Ends::Quic(ends) = &connection.ends {
            connection.result.media = ends.media(&self.live.scenario, now);
            let [down, up] = ends.dropped();
            self.host_dropped[0] += down;
            self.host_dropped[1] += up;
        }
        connection.ends = Ends::None;
    }

    /// A connection has ended.
    fn leave(&mut self, index: usize) {
        self.active.retain(|active| *active != index);
        self.flows[self.connections[index].flow].unfinished -= 1;
    }

    /// Waits for what the sockets of a connection want next.
    fn follow(&mut self, index: usize) -> io::Result<()> {
        let numbers = [CLIENT, SERVER].map(|place| PLACES * index as u64 + place);
        match &mut self.connections[index].ends {
            Ends::None => {}
            Ends::Tcp(ends) => {
                let sockets = [Some(&mut ends.client), ends.server.as_mut()];
                for (socket, number) in sockets.into_iter().zip(numbers) {
                    let Some(socket) = socket else { continue };
                    let wanted = socket.wanted();
                    if wanted != socket.waits_for {
                        match wanted {
                            Some(interest) => {
                                self.epoll.change(&socket.stream, number, interest)?;
                            }
                            None => self.epoll.remove(&socket.stream)?,
                        }
                        socket.waits_for = wanted;
                    }
                }
            }
            Ends::Quic(ends) => {
                for (end, number) in ends.ends.iter_mut().zip(numbers) {
                    let wanted = end.wanted();
                    if wanted != end.waits_for {
                        self.epoll.change(&end.udp.socket, number, wanted)?;
                        end.waits_for = wanted;
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at the connections of TCP, if it is time to. Those of QUIC are looked at as they act.
    fn sample(&mut self, now: Instant) {
        if now < self.next_sample {
            return;
        }
        let missed = (now - self.next_sample).as_nanos() / SAMPLE.as_nanos();
        self.next_sample += SAMPLE * (missed + 1);
        for index in &self.active {
            let connection = &mut self.connections[*index];
            if matches!(connection.ends, Ends::Tcp(_)) {
                connection.observe(now, self.trace.as_mut());
            }
        }
    }

    /// What each flow has delivered so far.
    fn delivered(&self) -> Vec<u64> {
        let mut delivered = vec![0; self.flows.len()];
        for connection in &self.connections {
            delivered[connection.flow] += connection.result.bytes_delivered;
        }
        delivered
    }

    fn finish(mut self) -> TrafficResult {
        let now = self.clock.now();
        for index in std::mem::take(&mut self.active) {
            self.take_leave(index, now);
        }
        let delivered = self.delivered();
        let [start, end] = self.overlap;
        let (end, after) = end.unwrap_or((now, delivered));
        let (start, before) = start.unwrap_or_else(|| (end, after.clone()));
        let shared = after.iter().zip(&before);
        let connections = self.connections.into_iter();
        TrafficResult {
            connections: connections.map(|connection| connection.result).collect(),
            trace: self.trace.map(FlowTrace::close),
            host_dropped: self.host_dropped,
            shared: shared.map(|(after, before)| after - before).collect(),
            overlap: (end - start).as_nanos(),
            end: now.as_nanos(),
        }
    }
}
