//! Flows over the kernel's TCP, between the first left host (clients) and the first right host (servers).
//!
//! # Model
//! One process drives all connections; it enters a host to make a socket there. A flow has one connection,
//! or as many as it has requests: each begins at its time, whatever becomes of those before it (an open
//! loop). What happens on a connection stands in `connection.rs`. Applications read and write as fast as the
//! sockets let them.
//!
//! The congestion control is set on the socket that sends the data (`TCP_CONGESTION`), and its state is
//! read from there (`TCP_INFO`) every 5 ms. Connections learn nothing from those before them
//! (`net.ipv4.tcp_no_metrics_save`), as in the simulator.
//!
//! The servers of a flow listen on one port. Each client has a port of its own, by which its server and the
//! emulator know it.
//!
//! # Limits
//! `TCP_INFO` has the smoothed RTT and no single samples: means and maxima of the RTT are of what was
//! smoothed. Losses are retransmissions, spurious losses the duplicates that the receiver reported.

use crate::connection::{Connection, ConnectionResult};
use crate::host::Host;
use crate::socket::Socket;
use crate::sys::clock::Clock;
use crate::sys::events::{Epoll, Interest, Timer};
use crate::sys::tcp::{self, TcpInfo};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use thalweg_sim::Transfer;
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
    /// The kernel's name of its congestion control.
    pub(crate) congestion: String,
    /// Whether the end waits for it.
    pub(crate) awaited: bool,
}

/// One look at one connection, in the columns of a trace.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct FlowSample {
    pub(crate) time_s: f64,
    pub(crate) flow: usize,
    pub(crate) window_bytes: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) smoothed_rtt_s: f64,
    pub(crate) pacing_bps: Option<f64>,
    pub(crate) delivery_bps: f64,
    pub(crate) delivered_bytes: u64,
    pub(crate) ssthresh_bytes: Option<u64>,
    pub(crate) state: u8,
}

/// What all flows experienced.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct TrafficResult {
    /// Flow by flow, in the order in which they begin.
    pub(crate) connections: Vec<ConnectionResult>,
    pub(crate) samples: Vec<FlowSample>,
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

/// Drives all flows until those that are awaited have closed, or until the time limit.
///
/// # Errors
/// What the kernel refuses: a congestion control that it does not have, for example.
pub(crate) fn drive(
    plans: Vec<FlowPlan>,
    [left, right]: [&Host; 2],
    clock: Clock,
    limit: Duration,
    record: bool,
) -> Result<TrafficResult, String> {
    let refused = |error: io::Error| format!("the kernel refuses: {error}");
    for host in [left, right] {
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
    let mut flows = Vec::new();
    let mut connections = Vec::new();
    for ((index, plan), port) in plans.into_iter().enumerate().zip(SERVER_PORT..) {
        let listener = TcpListener::bind(SocketAddrV4::new(right.v4, port)).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        tcp::set_congestion(&listener, &plan.congestion)
            .map_err(|error| unknown_congestion(&plan.congestion, &error))?;
        let own = plan.transfers.iter();
        connections.extend(own.map(|&(start, transfer)| Connection::new(index, start, transfer)));
        flows.push(Flow {
            listener,
            address: SocketAddrV4::new(right.v4, port),
            congestion: plan.congestion,
            awaited: plan.awaited,
            unfinished: plan.transfers.len(),
            incomplete: plan.transfers.len(),
        });
    }
    left.enter().map_err(refused)?;
    let mut upcoming: Vec<usize> = (0..connections.len()).collect();
    upcoming.sort_by_key(|index| std::cmp::Reverse(connections[*index].begins));
    let mut traffic = Traffic {
        epoll: Epoll::new().map_err(refused)?,
        timer: Timer::new().map_err(refused)?,
        clock,
        left: left.v4,
        unstarted: flows.len(),
        flows,
        connections,
        upcoming,
        active: Vec::new(),
        next_sample: Instant::START,
        samples: record.then(Vec::new),
        overlap: [None, None],
    };
    traffic.run(Instant::START + limit).map_err(refused)?;
    Ok(traffic.finish())
}

fn unknown_congestion(name: &str, error: &io::Error) -> String {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names: Vec<String> = known
        .unwrap_or_default()
        .split_whitespace()
        .map(|name| format!("kernel:{name}"))
        .collect();
    format!(
        "the kernel has no congestion control \"{name}\" ({error}); accepted: {}",
        names.join(", ")
    )
}

/// What the connections of a flow have in common.
struct Flow {
    listener: TcpListener,
    address: SocketAddrV4,
    congestion: String,
    awaited: bool,
    /// Connections that have not ended, and those that are not complete.
    unfinished: usize,
    incomplete: usize,
}

/// All flows at work.
struct Traffic {
    epoll: Epoll,
    timer: Timer,
    clock: Clock,
    /// The address of the clients.
    left: Ipv4Addr,
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    /// Connections that have not begun, the next one last.
    upcoming: Vec<usize>,
    /// Connections that have begun and not ended.
    active: Vec<usize>,
    /// Flows that have not begun.
    unstarted: usize,
    next_sample: Instant,
    samples: Option<Vec<FlowSample>>,
    /// When all flows had started and when the first was complete, and what each had delivered then.
    overlap: [Option<(Instant, Vec<u64>)>; 2],
}

impl Traffic {
    fn run(&mut self, limit: Instant) -> io::Result<()> {
        self.epoll.add(&self.timer, TIMER, Interest::Read)?;
        for (index, flow) in self.flows.iter().enumerate() {
            let number = LISTENERS + index as u64;
            self.epoll.add(&flow.listener, number, Interest::Read)?;
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
            self.begin(now);
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
        let next = next.map(|index| self.connections[*index].begins);
        let times = [limit, self.next_sample].into_iter().chain(next);
        times.min().unwrap_or(limit)
    }

    /// Connects the clients whose time has come.
    fn begin(&mut self, now: Instant) {
        while let Some(&index) = self.upcoming.last() {
            let connection = &self.connections[index];
            if connection.begins > now {
                return;
            }
            self.upcoming.pop();
            let flow = connection.flow;
            let siblings = &self.connections[..index];
            let is_first = siblings.last().is_none_or(|before| before.flow != flow);
            self.active.push(index);
            if let Err(error) = self.connect(index) {
                self.connections[index].fail(&error);
                self.leave(index);
            }
            // An open loop: it has begun when it was to begin, however busy the client was.
            let begins = self.connections[index].begins;
            self.connections[index].result.start = Some(begins.as_nanos());
            if is_first {
                self.unstarted -= 1;
                if self.unstarted == 0 {
                    self.overlap[0] = Some((now, self.delivered()));
                }
            }
        }
    }

    fn connect(&mut self, index: usize) -> io::Result<()> {
        let connection = &mut self.connections[index];
        let flow = &self.flows[connection.flow];
        let (to_write, to_read, congestion) = match connection.transfer {
            Transfer::Download { bytes, request } => (request, bytes, None),
            Transfer::Upload { bytes } => (bytes, Bytes::ZERO, Some(flow.congestion.as_str())),
        };
        let from = SocketAddrV4::new(self.left, FIRST_PORT + index as u16);
        let stream = tcp::connect(from, flow.address, congestion)?;
        let number = PLACES * index as u64 + CLIENT;
        self.epoll.add(&stream, number, Interest::ReadWrite)?;
        let mut socket = Socket::new(stream, to_write.as_u64(), to_read.as_u64());
        socket.closes_behind = !connection.is_download();
        connection.client = Some(socket);
        Ok(())
    }

    /// Takes the connection of a client of a flow, and says which one it is.
    fn accept(&mut self, flow: usize) -> io::Result<Option<usize>> {
        let (stream, peer) = match self.flows[flow].listener.accept() {
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
        if connection.flow != flow || connection.server.is_some() || connection.ended {
            return Ok(None);
        }
        stream.set_nonblocking(true)?;
        let number = PLACES * index as u64 + SERVER;
        self.epoll.add(&stream, number, Interest::Read)?;
        let to_read = match connection.transfer {
            Transfer::Download { request, .. } => request,
            Transfer::Upload { bytes } => bytes,
        };
        let mut socket = Socket::new(stream, 0, to_read.as_u64());
        socket.is_connected = true;
        connection.server = Some(socket);
        Ok(Some(index))
    }

    /// Lets a connection do what it can.
    fn advance(&mut self, index: usize, chunk: &mut [u8]) -> io::Result<()> {
        let now = self.clock.now();
        let connection = &mut self.connections[index];
        if connection.ended {
            return Ok(());
        }
        let was_complete = connection.result.completion.is_some();
        connection.advance(now, chunk);
        let flow = connection.flow;
        if !was_complete && connection.result.completion.is_some() {
            self.flows[flow].incomplete -= 1;
            let is_over = self.flows[flow].incomplete == 0 && self.unstarted == 0;
            if is_over && self.overlap[1].is_none() {
                self.overlap[1] = Some((now, self.delivered()));
            }
        }
        if self.connections[index].ended {
            self.leave(index);
        }
        self.follow(index)
    }

    /// A connection has ended.
    fn leave(&mut self, index: usize) {
        self.active.retain(|active| *active != index);
        self.flows[self.connections[index].flow].unfinished -= 1;
    }

    /// Waits for what the sockets of a connection want next.
    fn follow(&mut self, index: usize) -> io::Result<()> {
        let connection = &mut self.connections[index];
        let sockets = [
            (CLIENT, &mut connection.client),
            (SERVER, &mut connection.server),
        ];
        for (place, socket) in sockets {
            let Some(socket) = socket else { continue };
            let wanted = if socket.is_done() {
                None
            } else if socket.to_write > 0 || !socket.is_connected {
                Some(Interest::ReadWrite)
            } else {
                Some(Interest::Read)
            };
            let number = PLACES * index as u64 + place;
            if wanted != socket.waits_for {
                match wanted {
                    Some(interest) => self.epoll.change(&socket.stream, number, interest)?,
                    None => self.epoll.remove(&socket.stream)?,
                }
                socket.waits_for = wanted;
            }
        }
        Ok(())
    }

    /// Looks at the connections, if it is time to.
    fn sample(&mut self, now: Instant) {
        if now < self.next_sample {
            return;
        }
        let missed = (now - self.next_sample).as_nanos() / SAMPLE.as_nanos();
        self.next_sample += SAMPLE * (missed + 1);
        for index in &self.active {
            let connection = &mut self.connections[*index];
            if let Some(info) = connection.observe()
                && let Some(samples) = &mut self.samples
            {
                let (flow, data) = (connection.flow, connection.bytes());
                samples.push(FlowSample::of(now, flow, &info, data));
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
        for index in &self.active {
            self.connections[*index].observe();
        }
        let delivered = self.delivered();
        let [start, end] = self.overlap;
        let (end, after) = end.unwrap_or((now, delivered));
        let (start, before) = start.unwrap_or_else(|| (end, after.clone()));
        let shared = after.iter().zip(&before);
        let connections = self.connections.into_iter();
        TrafficResult {
            connections: connections.map(|connection| connection.result).collect(),
            samples: self.samples.unwrap_or_default(),
            shared: shared.map(|(after, before)| after - before).collect(),
            overlap: (end - start).as_nanos(),
            end: now.as_nanos(),
        }
    }
}

impl FlowSample {
    fn of(now: Instant, flow: usize, info: &TcpInfo, data: Bytes) -> FlowSample {
        let segment = u64::from(info.snd_mss);
        // What is in the network: tcp_packets_in_flight() of the kernel.
        let out = info.unacked.saturating_sub(info.sacked + info.lost) + info.retrans;
        // "No threshold yet" is the largest value of a signed number.
        let has_threshold = info.snd_ssthresh < i32::MAX as u32;
        let per_second = |bytes: u64| (bytes != u64::MAX).then_some(8.0 * bytes as f64);
        FlowSample {
            time_s: now.as_secs_f64(),
            flow,
            window_bytes: u64::from(info.snd_cwnd) * segment,
            in_flight_bytes: u64::from(out) * segment,
            smoothed_rtt_s: f64::from(info.rtt) / 1e6,
            pacing_bps: per_second(info.pacing_rate),
            delivery_bps: 8.0 * info.delivery_rate as f64,
            // The kernel counts the start and the end of the stream as a byte each (RFC 9293 section 3.4).
            delivered_bytes: info.bytes_acked.min(data.as_u64()),
            ssthresh_bytes: has_threshold.then(|| u64::from(info.snd_ssthresh) * segment),
            state: info.ca_state,
        }
    }
}
