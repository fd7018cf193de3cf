//! Flows over the kernel's TCP, between the first left host (clients) and the first right host (servers).
//!
//! # Model
//! One process drives all connections; it enters a host to make a socket there. A download begins with a
//! request, as in the simulator, and the server answers with its data; an upload begins with data. Who
//! sends the data closes its direction behind it, and the other side follows. Completion is the moment at
//! which the receiving application has read the last byte, closed the moment at which the sender hears that
//! the other side has closed too. Applications read and write as fast as the sockets let them.
//!
//! The congestion control is set on the socket that sends the data (`TCP_CONGESTION`), and its state is
//! read from there (`TCP_INFO`) every 5 ms.
//!
//! # Limits
//! `TCP_INFO` has the smoothed RTT and no single samples: means and maxima of the RTT are of what was
//! smoothed. Losses are retransmissions, spurious losses the duplicates that the receiver reported.

use crate::host::Host;
use crate::socket::Socket;
use crate::sys::clock::Clock;
use crate::sys::events::{Epoll, Interest, Timer};
use crate::sys::tcp::{self, TcpInfo};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use thalweg_sim::Transfer;
use thalweg_units::{Bytes, Duration, Instant};

/// The port of flow 0; those of the other flows follow.
pub(crate) const FIRST_PORT: u16 = 5201;
/// How often the state of the connections is read.
pub(crate) const SAMPLE: Duration = Duration::from_millis(5);
/// What is read and written at once.
const CHUNK: usize = 256 * 1024;
/// The largest socket buffers that the kernel may grow to: they must not be what limits a flow.
const LARGEST_BUFFER: &str = "67108864";

/// One flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowPlan {
    pub(crate) transfer: Transfer,
    /// The kernel's name of its congestion control.
    pub(crate) congestion: String,
    pub(crate) start: Duration,
    /// Whether the end waits for it.
    pub(crate) awaited: bool,
}

impl FlowPlan {
    /// The data that it moves.
    fn bytes(&self) -> Bytes {
        match self.transfer {
            Transfer::Download { bytes, .. } | Transfer::Upload { bytes } => bytes,
        }
    }
}

/// What one flow experienced. Times are nanoseconds since the start.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct FlowResult {
    pub(crate) start: Option<u64>,
    pub(crate) completion: Option<u64>,
    pub(crate) closed: Option<u64>,
    pub(crate) bytes_delivered: u64,
    /// Bytes delivered while all flows were active.
    pub(crate) shared_bytes: u64,
    pub(crate) packets_sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    /// Of the smoothed RTT, in microseconds.
    pub(crate) rtt_sum: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_max: u64,
    /// As the kernel counts it, in microseconds.
    pub(crate) rtt_min: Option<u64>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
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
    pub(crate) flows: Vec<FlowResult>,
    pub(crate) samples: Vec<FlowSample>,
    /// Time during which all flows were active.
    pub(crate) overlap: u64,
    /// When it all ended.
    pub(crate) end: u64,
}

/// One flow at work.
struct Flow {
    plan: FlowPlan,
    listener: TcpListener,
    client: Option<Socket>,
    server: Option<Socket>,
    ended: bool,
    result: FlowResult,
}

/// What can be ready of a flow.
const LISTENER: u64 = 0;
const CLIENT: u64 = 1;
const SERVER: u64 = 2;
const PLACES: u64 = 3;
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
        for (key, least) in [("rmem", "4096 131072"), ("wmem", "4096 16384")] {
            // Best effort: without it, long fat paths are limited by the buffers of the host.
            let _ = fs::write(
                format!("/proc/sys/net/ipv4/tcp_{key}"),
                format!("{least} {LARGEST_BUFFER}"),
            );
        }
    }
    let mut flows = Vec::new();
    for (plan, port) in plans.into_iter().zip(FIRST_PORT..) {
        let listener = TcpListener::bind(SocketAddrV4::new(right.v4, port)).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        tcp::set_congestion(&listener, &plan.congestion)
            .map_err(|error| unknown_congestion(&plan.congestion, &error))?;
        flows.push(Flow {
            plan,
            listener,
            client: None,
            server: None,
            ended: false,
            result: FlowResult::default(),
        });
    }
    left.enter().map_err(refused)?;
    let mut traffic = Traffic {
        epoll: Epoll::new().map_err(refused)?,
        timer: Timer::new().map_err(refused)?,
        clock,
        right: right.v4,
        flows,
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

impl Flow {
    fn is_download(&self) -> bool {
        matches!(self.plan.transfer, Transfer::Download { .. })
    }

    fn sender(&self) -> Option<&Socket> {
        if self.is_download() {
            self.server.as_ref()
        } else {
            self.client.as_ref()
        }
    }

    /// Moves what can be moved, and follows the exchange of request, data and close.
    fn advance(&mut self, now: Instant, chunk: &mut [u8]) -> io::Result<()> {
        let is_download = self.is_download();
        let Flow { client, server, .. } = self;
        for socket in [client.as_mut(), server.as_mut()].into_iter().flatten() {
            socket.pump(chunk)?;
        }
        if let Transfer::Download { bytes, .. } = self.plan.transfer
            && let Some(server) = server
            && server.to_read == 0
            && !server.closes_behind
        {
            server.to_write = bytes.as_u64();
            server.closes_behind = true;
            server.pump(chunk)?;
        }
        let (sender, receiver) = if is_download {
            (server, client)
        } else {
            (client, server)
        };
        let Some(receiver) = receiver else {
            return Ok(());
        };
        self.result.bytes_delivered = receiver.read;
        if receiver.to_read == 0 && receiver.is_connected {
            self.result.completion.get_or_insert(now.as_nanos());
        }
        if receiver.heard_close && !receiver.closes_behind {
            receiver.closes_behind = true;
            receiver.pump(chunk)?;
        }
        if sender.as_ref().is_some_and(|sender| sender.heard_close) {
            self.result.closed = Some(now.as_nanos());
            self.ended = true;
        }
        Ok(())
    }

    /// Notes what the kernel knows of the sender.
    fn observe(&mut self) -> Option<TcpInfo> {
        let sender = self.sender()?;
        if !sender.is_connected {
            return None;
        }
        let info = tcp::info(&sender.stream).ok()?;
        let result = &mut self.result;
        result.packets_sent = u64::from(info.data_segs_out);
        result.retransmitted = u64::from(info.total_retrans);
        result.spurious = u64::from(info.dsack_dups);
        result.timeouts = u64::from(info.total_rto);
        if info.rtt > 0 {
            result.rtt_sum += u64::from(info.rtt);
            result.rtt_samples += 1;
            result.rtt_max = result.rtt_max.max(u64::from(info.rtt));
        }
        if info.min_rtt != u32::MAX {
            result.rtt_min = Some(u64::from(info.min_rtt));
        }
        Some(info)
    }
}

/// All flows at work.
struct Traffic {
    epoll: Epoll,
    timer: Timer,
    clock: Clock,
    right: Ipv4Addr,
    flows: Vec<Flow>,
    next_sample: Instant,
    samples: Option<Vec<FlowSample>>,
    /// When all flows had started and when the first was complete, and what each had delivered then.
    overlap: [Option<(Instant, Vec<u64>)>; 2],
}

impl Traffic {
    fn run(&mut self, limit: Instant) -> io::Result<()> {
        self.epoll.add(&self.timer, TIMER, Interest::Read)?;
        for (index, flow) in self.flows.iter().enumerate() {
            let number = PLACES * index as u64 + LISTENER;
            self.epoll.add(&flow.listener, number, Interest::Read)?;
        }
        let mut chunk = vec![0; CHUNK];
        let awaited = self.flows.iter().any(|flow| flow.plan.awaited);
        loop {
            let now = self.clock.now();
            let waiting = |flow: &Flow| flow.plan.awaited && !flow.ended;
            if now >= limit || (awaited && !self.flows.iter().any(waiting)) {
                return Ok(());
            }
            self.begin(now);
            self.sample(now);
            self.note_overlap(now);
            self.timer
                .set(Some(self.clock.absolute(self.wakes(limit))))?;
            self.epoll.wait(None)?;
            let mut touched = vec![false; self.flows.len()];
            for number in self.epoll.ready().filter(|number| *number != TIMER) {
                touched[(number / PLACES) as usize] = true;
            }
            for (index, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
                self.accept(index)?;
                let now = self.clock.now();
                let flow = &mut self.flows[index];
                if flow.ended {
                    continue;
                }
                if let Err(error) = flow.advance(now, &mut chunk) {
                    flow.result.error = Some(error.to_string());
                    flow.ended = true;
                }
                if flow.ended {
                    flow.observe();
                    flow.client = None;
                    flow.server = None;
                }
                self.follow(index)?;
            }
        }
    }

    /// When there is something to do whatever the sockets do.
    fn wakes(&self, limit: Instant) -> Instant {
        let unstarted = self.flows.iter().filter(|flow| flow.result.start.is_none());
        let starts = unstarted.map(|flow| Instant::START + flow.plan.start);
        starts
            .chain([limit, self.next_sample])
            .min()
            .unwrap_or(limit)
    }

    /// Connects the clients whose time has come.
    fn begin(&mut self, now: Instant) {
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if flow.result.start.is_some() || Instant::START + flow.plan.start > now {
                continue;
            }
            flow.result.start = Some(now.as_nanos());
            let (to_write, to_read, congestion) = match flow.plan.transfer {
                Transfer::Download { bytes, request } => (request, bytes, None),
                Transfer::Upload { bytes } => (bytes, Bytes::ZERO, Some(&flow.plan.congestion)),
            };
            let to = SocketAddrV4::new(self.right, FIRST_PORT + index as u16);
            let number = PLACES * index as u64 + CLIENT;
            let connected = tcp::connect(to, congestion.map(String::as_str)).and_then(|stream| {
                self.epoll.add(&stream, number, Interest::ReadWrite)?;
                Ok(stream)
            });
            match connected {
                Ok(stream) => {
                    let mut socket = Socket::new(stream, to_write.as_u64(), to_read.as_u64());
                    socket.closes_behind = !flow.is_download();
                    flow.client = Some(socket);
                }
                Err(error) => {
                    flow.result.error = Some(error.to_string());
                    flow.ended = true;
                }
            }
        }
    }

    /// Takes the connection of a client.
    fn accept(&mut self, index: usize) -> io::Result<()> {
        let flow = &mut self.flows[index];
        if flow.server.is_some() || flow.ended {
            return Ok(());
        }
        let stream = match flow.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        stream.set_nonblocking(true)?;
        let number = PLACES * index as u64 + SERVER;
        self.epoll.add(&stream, number, Interest::Read)?;
        let to_read = match flow.plan.transfer {
            Transfer::Download { request, .. } => request,
            Transfer::Upload { bytes } => bytes,
        };
        let mut socket = Socket::new(stream, 0, to_read.as_u64());
        socket.is_connected = true;
        flow.server = Some(socket);
        Ok(())
    }

    /// Waits for what the sockets of a flow want next.
    fn follow(&mut self, index: usize) -> io::Result<()> {
        let flow = &mut self.flows[index];
        let sockets = [(CLIENT, &mut flow.client), (SERVER, &mut flow.server)];
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
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if flow.ended {
                continue;
            }
            if let Some(info) = flow.observe()
                && let Some(samples) = &mut self.samples
            {
                let data = flow.plan.bytes();
                samples.push(FlowSample::of(now, index, &info, data));
            }
        }
    }

    fn note_overlap(&mut self, now: Instant) {
        let delivered = || self.flows.iter().map(|flow| flow.result.bytes_delivered);
        let all_started = self.flows.iter().all(|flow| flow.result.start.is_some());
        if all_started && self.overlap[0].is_none() {
            self.overlap[0] = Some((now, delivered().collect()));
        }
        let one_complete = self
            .flows
            .iter()
            .any(|flow| flow.result.completion.is_some());
        if one_complete && self.overlap[1].is_none() {
            self.overlap[1] = Some((now, delivered().collect()));
        }
    }

    fn finish(mut self) -> TrafficResult {
        let now = self.clock.now();
        for flow in self.flows.iter_mut().filter(|flow| !flow.ended) {
            flow.observe();
        }
        self.note_overlap(now);
        let mut result = TrafficResult {
            samples: self.samples.unwrap_or_default(),
            end: now.as_nanos(),
            ..TrafficResult::default()
        };
        let delivered = self.flows.iter().map(|flow| flow.result.bytes_delivered);
        let [start, end] = self.overlap;
        let (end, after) = end.unwrap_or_else(|| (now, delivered.collect()));
        let (start, before) = start.unwrap_or_else(|| (end, after.clone()));
        result.overlap = (end - start).as_nanos();
        for (index, mut flow) in self.flows.into_iter().enumerate() {
            flow.result.shared_bytes = after[index].saturating_sub(before[index]);
            result.flows.push(flow.result);
        }
        result
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
