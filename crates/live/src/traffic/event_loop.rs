//! The event loop: starts connections on schedule, and serves each when its sockets or timers are ready.

use super::connection::{Connection, Ends};
use super::flow_trace::FlowRecorder;
use super::program_ends::ProgramEnds;
use crate::host::Host;
use crate::sys::clock::Clock;
use crate::sys::events::{Epoll, Interest};
use std::io;
use std::net::{SocketAddrV4, TcpListener};
use thalweg_sim::{RealConnection, Scenario};
use thalweg_units::{Bytes, Duration, Instant};

/// How often the state of the connections is read.
const SAMPLE: Duration = Duration::from_millis(5);
/// Bytes per read or write.
const CHUNK: usize = 256 * 1024;

/// The descriptors of a connection.
pub(super) const CLIENT: u64 = 0;
pub(super) const SERVER: u64 = 1;
pub(super) const PLACES: u64 = 2;
/// First number of listeners, by flow.
const LISTENERS: u64 = 1 << 32;

/// The address at which the kernel's TCP serves a flow.
pub(super) struct TcpServer {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddrV4,
    pub(super) congestion: String,
}

/// The transport of a flow.
pub(super) enum Transport {
    Kernel(TcpServer),
    /// Endpoints prepared for the next connections to start, each with its own sockets.
    Quic(Box<dyn Iterator<Item = RealConnection>>),
    /// The transport of its programs.
    Program,
}

/// What the connections of a flow have in common.
pub(super) struct Flow {
    pub(super) transport: Transport,
    pub(super) awaited: bool,
    /// Connections not ended, and not complete.
    pub(super) unfinished: usize,
    pub(super) incomplete: usize,
}

/// All running flows.
pub(super) struct Traffic<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) epoll: Epoll,
    pub(super) clock: Clock,
    /// The hosts of the clients and of the servers.
    pub(super) hosts: [&'a Host; 2],
    pub(super) flows: Vec<Flow>,
    pub(super) connections: Vec<Connection>,
    /// Connections to start, the next one last.
    pub(super) upcoming: Vec<usize>,
    /// Active connections.
    pub(super) active: Vec<usize>,
    /// Programs of flows that have ended.
    pub(super) to_stop: Vec<ProgramEnds>,
    /// Flows not started.
    pub(super) unstarted: usize,
    pub(super) next_sample: Instant,
    pub(super) trace: Option<FlowRecorder>,
    pub(super) host_dropped: [u64; 2],
    /// When all flows had started and when the first was complete, and the bytes delivered by each then.
    pub(super) overlap: [Option<(Instant, Vec<Bytes>)>; 2],
}

/// Whether connection `index` is the first of its flow; the connections of a flow are adjacent.
pub(super) fn is_first_of_flow(connections: &[Connection], index: usize) -> bool {
    let before = connections[..index].last();
    before.is_none_or(|before| before.flow != connections[index].flow)
}

impl Traffic<'_> {
    pub(super) fn run(&mut self, limit: Instant) -> io::Result<()> {
        for (index, flow) in self.flows.iter().enumerate() {
            if let Transport::Kernel(server) = &flow.transport {
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
            self.sample(now, &mut chunk)?;
            let wakes = self.wakes(limit);
            self.epoll.wait(Some(wakes - self.clock.now().min(wakes)))?;
            ready.clear();
            ready.extend(self.epoll.ready());
            for number in &mut ready {
                // A newly accepted connection may have data already.
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

    /// The next timer or start.
    fn wakes(&self, limit: Instant) -> Instant {
        let next = self.upcoming.last();
        let begins = next.map(|index| self.connections[*index].begins);
        let active = self.active.iter();
        let due = active.map(|index| self.connections[*index].next());
        let times = [limit, self.next_sample].into_iter().chain(begins);
        times.chain(due).min().unwrap_or(limit)
    }

    /// Connects the clients that are due.
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
            // An open loop: the start is the scheduled time, however busy the client was.
            let late = self.clock.now() - self.connections[index].begins;
            let connection = &mut self.connections[index];
            connection.result.start = Some(connection.begins - Instant::START);
            // A program takes its time, and starts with its first packet.
            connection.result.start_lateness = match connection.ends {
                Ends::Program(_) => Duration::ZERO,
                _ => late,
            };
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

    /// Serves a connection.
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

    /// Updates the events to wait for on the sockets of a connection.
    fn follow(&mut self, index: usize) -> io::Result<()> {
        let numbers = [CLIENT, SERVER].map(|position| PLACES * index as u64 + position);
        match &mut self.connections[index].ends {
            Ends::None | Ends::Program(_) => {}
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

    /// Samples the TCP connections if due, and asks whether programs have ended. QUIC connections are sampled as they
    /// act.
    fn sample(&mut self, now: Instant, chunk: &mut Vec<u8>) -> io::Result<()> {
        if now < self.next_sample {
            return Ok(());
        }
        let missed = (now - self.next_sample).as_nanos() / SAMPLE.as_nanos();
        self.next_sample += SAMPLE * (missed + 1);
        for index in &self.active {
            let connection = &mut self.connections[*index];
            if matches!(connection.ends, Ends::Tcp(_)) {
                connection.observe(now, self.trace.as_mut());
            }
        }
        for index in self.active.clone() {
            if matches!(self.connections[index].ends, Ends::Program(_)) {
                self.advance(index, chunk)?;
            }
        }
        Ok(())
    }
}
