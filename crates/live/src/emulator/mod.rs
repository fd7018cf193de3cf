//! The links of `thalweg-path` on a real clock, between devices whose packets a program reads and writes.
//!
//! # Model
//! ```text
//! left hosts  -- read -->  link up    -- write -->  right hosts
//! left hosts  <-- write -- link down  <-- read --   right hosts
//! ```
//! The left hosts are the clients of a scenario, the right hosts its servers.
//! All hosts of a side share the two links. Hosts of the same side reach each other without delay. One thread
//! reads packets, pushes them into their link with the time of the read, and writes each
//! when it has arrived at the end of the link. The links come from the simulator: a late call
//! replays what should have happened before, so a late thread delays packets but loses no capacity
//! and does not change which packets are dropped.
//!
//! Hosts on fast links hand over several segments at once (`super_packet.rs`, `burst.rs`). Links get them one by one;
//! what has arrived by the time of a write leaves at once again, so the busier the thread, the fewer its calls.
//!
//! # Units
//! Nanoseconds of the monotonic clock since the start of the emulator; bytes of whole IP packets.
//!
//! # Limits
//! A packet counts as offered when it is read: earlier waits in the host are visible only as time without
//! a core and as packets that the host dropped. Packets to multicast and link-local addresses are ignored.

pub(crate) mod burst;
pub(crate) mod capture;
pub(crate) mod frame;
mod headers;
pub(crate) mod histogram;
mod observers;
pub(crate) mod outside;
pub(crate) mod programs;
pub(crate) mod samples;
pub(crate) mod series;
mod super_packet;
#[cfg(test)]
mod tests;

use crate::sys::clock::Clock;
use crate::sys::events::{self, Epoll, Interest};
use frame::{Frame, Memory};
use histogram::Histogram;
use observers::Observers;
use programs::Programs;
use samples::Samples;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::net::IpAddr;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsFd;
use super_packet::{MOST, SuperPacket};
use thalweg_path::{FlowLinkStats, Link, LinkConfig, LinkStats};
use thalweg_sim::Series;
use thalweg_units::{Duration, Instant};

/// Packets handled before the next device is served.
const BATCH: u64 = 64;
/// After packets have left, those that follow closely wait for so long and then leave together: each write wakes a
/// host, which costs more than a packet does. (Network interfaces moderate their interrupts for this reason.) A quarter
/// of the longest burst: waking up and writing take the rest.
const REST: Duration = Duration::from_nanos(burst::LONGEST.as_nanos() / 4);
/// How early a long sleep ends: more than hosts take to wake a thread.
const EARLY: Duration = Duration::from_micros(80);
/// A sleep is long from this multiple of [`EARLY`] on, which bounds the share of time spent spinning.
const LONG: u64 = 10;
/// A wait may end late by a thousandth (`sys/events.rs`): a long sleep ends early by more than that.
const SLACK: u64 = 512;
/// First number of the descriptors of the caller; ports have lower ones.
const CALLER: u64 = 1 << 32;

/// A side of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Where the clients are.
    Left,
    /// Where the servers are.
    Right,
}

/// Link from the right side to the left, as in [`thalweg_sim`]: towards the clients.
pub(crate) const DOWN: usize = 0;
/// Link from the left side to the right.
pub(crate) const UP: usize = 1;

impl Side {
    /// The link that packets from this side take.
    pub(crate) fn outbound(self) -> usize {
        match self {
            Side::Left => UP,
            Side::Right => DOWN,
        }
    }
}

/// Whether the data of a connection crosses the link down, and whether it crosses the link up.
pub(crate) type DataLinks = [bool; 2];

/// A device of one host. Each read returns a packet or a super packet after its offload header, each write takes one;
/// neither blocks.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) device: File,
    pub(crate) side: Side,
    pub(crate) addresses: Vec<IpAddr>,
}

/// One link of the path, and how well it kept time.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) link: Link<Frame>,
    /// Time from the arrival of each packet to its write.
    pub(crate) lateness: Histogram,
    /// Packets that were later than the bound.
    pub(crate) missed: u64,
    /// Packets that the device refused.
    pub(crate) refused: u64,
}

/// The parts of an emulator.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// Down and up.
    pub(crate) links: [&'a LinkConfig; 2],
    /// Seeds of their random streams.
    pub(crate) seeds: [u64; 2],
    /// Lateness up to which a packet does not count as missed.
    pub(crate) bound: Duration,
    /// Ports of transport protocols that identify connections: the first belongs to connection 0. All
    /// other packets are identified by the hash of their 5-tuple.
    pub(crate) flows: Range<u16>,
    /// Further connections, which `programs` numbers.
    pub(crate) of_programs: usize,
    /// How often the links are sampled.
    pub(crate) sample: Option<Duration>,
}

/// The emulator of one path.
#[derive(Debug)]
pub(crate) struct Emulator {
    clock: Clock,
    epoll: Epoll,
    /// Before, nothing is written.
    rests_until: Instant,
    /// The deadline of the last long sleep.
    slept_for: Option<Instant>,
    ports: Vec<Port>,
    /// The host of each address.
    hosts: BTreeMap<IpAddr, usize>,
    pub(crate) directions: [Direction; 2],
    memory: Memory,
    /// Packets that leave together, each with the time at which it was due, and the headers to write.
    leaving: Vec<(Instant, Frame)>,
    head: Vec<u8>,
    bound: Duration,
    flows: Range<u16>,
    read: u64,
    pub(crate) samples: Option<Samples>,
    /// Which connections of programs there are, if there are programs.
    pub(crate) programs: Option<Programs>,
    pub(crate) observers: Observers,
    #[cfg(test)]
    log: tests::Log,
}

impl Emulator {
    /// An emulator at time zero. It does nothing yet.
    pub(crate) fn new(clock: Clock, setup: &Setup<'_>, ports: Vec<Port>) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        let mut hosts = BTreeMap::new();
        for (index, port) in ports.iter().enumerate() {
            epoll.add(&port.device, index as u64, Interest::Read)?;
            hosts.extend(port.addresses.iter().map(|address| (*address, index)));
        }
        let direction = |index: usize| {
            let connections = setup.flows.len() + setup.of_programs;
            let mut link = Link::new(setup.links[index], setup.seeds[index], connections);
            link.record_drops(setup.sample.is_some() || cfg!(test));
            Direction {
                link,
                lateness: Histogram::new(),
                missed: 0,
                refused: 0,
            }
        };
        Ok(Emulator {
            clock,
            epoll,
            rests_until: Instant::START,
            slept_for: None,
            ports,
            hosts,
            directions: [direction(DOWN), direction(UP)],
            memory: Memory::default(),
            leaving: Vec::new(),
            head: Vec::new(),
            bound: setup.bound,
            flows: setup.flows.clone(),
            read: 0,
            samples: setup.sample.map(Samples::every),
            programs: None,
            observers: Observers::default(),
            #[cfg(test)]
            log: tests::Log::default(),
        })
    }

    /// Also waits for `fd`: when it is readable, [`Emulator::run`] passes on `number`.
    pub(crate) fn also_wait_for(&self, fd: impl AsFd, number: u32) -> io::Result<()> {
        let number = CALLER + u64::from(number);
        self.epoll.add(fd, number, Interest::Read)
    }

    /// Uses this clock from now on. Nothing may have happened by the previous one.
    pub(crate) fn start_anew(&mut self, clock: Clock) {
        self.clock = clock;
        self.rests_until = Instant::START;
        if let Some(capture) = &mut self.observers.capture {
            capture.start_at(self.clock.now());
        }
    }

    /// Forwards packets until `hear`, which gets the ready descriptors of the caller, returns stop.
    pub(crate) fn run<T>(
        &mut self,
        mut hear: impl FnMut(u32) -> io::Result<ControlFlow<T>>,
    ) -> io::Result<T> {
        loop {
            let now = self.clock.now();
            if now >= self.rests_until {
                let counts = [self.release(DOWN, now)?, self.release(UP, now)?];
                // After a full batch there may be more that is overdue.
                if counts.iter().any(|count| *count > 0) && !counts.contains(&BATCH) {
                    self.rests_until = now + REST;
                }
            }
            self.sample();
            self.wait()?;
            let ready: Ready = self.epoll.ready().collect();
            for number in ready.numbers() {
                if let Some(number) = number.checked_sub(CALLER) {
                    if let ControlFlow::Break(end) = hear(number as u32)? {
                        return Ok(end);
                    }
                } else {
                    self.read(number as usize)?;
                }
            }
        }
    }

    /// Waits for the next arrival, the next sample, or something to read.
    ///
    /// A host is slow to wake a thread from a long sleep, which would make the first packet after a pause
    /// late. So a long sleep ends [`EARLY`], and the thread spins for the rest.
    fn wait(&mut self) -> io::Result<()> {
        let links = self
            .directions
            .iter()
            .filter_map(|direction| Some(direction.link.next()?.max(self.rests_until)));
        let sample = self.samples.as_ref().map(|samples| samples.next);
        let Some(next) = links.chain(sample).min() else {
            return self.epoll.wait(None);
        };
        let now = self.clock.now();
        let sleep = next.max(now) - now;
        let has_slept = self.slept_for == Some(next);
        if sleep >= EARLY * LONG || (has_slept && sleep > EARLY) {
            self.slept_for = Some(next);
            return self.epoll.wait(Some(sleep - EARLY.max(sleep / SLACK)));
        }
        if !has_slept {
            return self.epoll.wait(Some(sleep));
        }
        loop {
            self.epoll.wait(Some(Duration::ZERO))?;
            if self.epoll.ready().next().is_some() || self.clock.now() >= next {
                return Ok(());
            }
        }
    }

    /// Reads packets from a device and pushes them into its link.
    fn read(&mut self, index: usize) -> io::Result<()> {
        let end = self.read + BATCH;
        for _ in 0..BATCH {
            if self.read >= end {
                break;
            }
            let port = &mut self.ports[index];
            let length = match port.device.read(self.memory.room(MOST)) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            let side = port.side;
            let Some(packet) = SuperPacket::read(self.memory.take(length)) else {
                continue;
            };
            let headers = &packet.headers;
            if !is_carried(headers.destination) {
                continue;
            }
            let to = self.to(side, headers.destination);
            if self.ports[to].side == side {
                // A refused packet is lost between neighbours, not on the path.
                let _ = self.ports[to].device.write(packet.as_read());
                continue;
            }
            let programs = self.programs.as_mut();
            let of_program = programs.and_then(|programs| programs.number(index, headers));
            let flow = of_program.unwrap_or_else(|| match headers.port_within(&self.flows) {
                Some(port) => u64::from(port - self.flows.start),
                None => headers.hash(),
            });
            let now = self.clock.now();
            let link = side.outbound();
            for frame in Frame::all_of(packet, flow, to, self.read) {
                self.read += 1;
                #[cfg(test)]
                self.log.pushed(now, link, &frame);
                self.observers.on_sent(now, link, &frame)?;
                self.directions[link].link.push(now, frame);
            }
        }
        Ok(())
    }

    /// The host with this address, otherwise the first of the other side: the default route.
    fn to(&self, from: Side, destination: IpAddr) -> usize {
        if let Some(index) = self.hosts.get(&destination) {
            return *index;
        }
        let other = |port: &Port| port.side != from;
        self.ports.iter().position(other).unwrap_or(0)
    }

    /// Writes the packets that have arrived by `now`, at most [`BATCH`], and returns how many.
    fn release(&mut self, index: usize, now: Instant) -> io::Result<u64> {
        self.directions[index].link.advance(now);
        let mut taken = 0;
        while taken < BATCH {
            let link = &mut self.directions[index].link;
            let Some(due) = link.next().filter(|due| *due <= now) else {
                break;
            };
            let Some(frame) = link.pop(now) else { break };
            taken += 1;
            if let Some((_, before)) = self.leaving.last()
                && !frame.continues(before)
            {
                self.leave(index)?;
            }
            self.leaving.push((due, frame));
        }
        self.leave(index)?;
        Ok(taken)
    }

    /// Writes the packets that leave a link together, if any.
    fn leave(&mut self, index: usize) -> io::Result<()> {
        let count = self.leaving.len();
        let Some((_, first)) = self.leaving.first() else {
            return Ok(());
        };
        let rest = first.write_with(count, &mut self.head);
        let parts = [IoSlice::new(&self.head), IoSlice::new(rest)];
        let written = self.ports[first.to].device.write_vectored(&parts);
        let now = self.clock.now();
        let direction = &mut self.directions[index];
        let is_taken = match written {
            Ok(_) => true,
            Err(error) if is_passing(&error) => false,
            Err(error) => return Err(error),
        };
        direction.refused += if is_taken { 0 } else { count as u64 };
        for (due, frame) in self.leaving.drain(..) {
            #[cfg(test)]
            self.log.released(now, due, index, &frame, is_taken);
            if !is_taken {
                continue;
            }
            self.observers.on_received(now, index, &frame)?;
            let late = now - due;
            direction.lateness.add(late);
            direction.missed += u64::from(late > self.bound);
        }
        Ok(())
    }

    fn sample(&mut self) {
        let now = self.clock.now();
        if let Some(samples) = &mut self.samples
            && samples.next <= now
        {
            let [down, up] = &mut self.directions;
            samples.take(now, [&mut down.link, &mut up.link]);
        }
    }

    /// The series recorded so far.
    pub(crate) fn take_series(&mut self) -> Option<Series> {
        let now = self.clock.now();
        let series = self.observers.series.take()?;
        let links = &self.directions;
        Some(series.close(now, links.len(), |link, from, to| {
            links[link].link.capacity_between(from, to)
        }))
    }

    /// The clock of packets and schedules.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Counts how long packets of data wait in queues, by flow: `connections` are each with its flow.
    pub(crate) fn count_waits(&mut self, connections: &[(usize, DataLinks)]) {
        for (index, direction) in self.directions.iter_mut().enumerate() {
            let groups = connections.iter();
            let groups = groups.map(|(flow, data)| data[index].then_some(*flow as u32));
            direction.link.count_waits(groups);
        }
    }

    /// One of the links.
    pub(crate) fn link(&self, index: usize) -> &Link<Frame> {
        &self.directions[index].link
    }

    /// Totals of a link.
    pub(crate) fn link_stats(&self, index: usize) -> LinkStats {
        self.directions[index].link.stats()
    }

    /// Totals of a flow with its own port.
    pub(crate) fn flow_stats(&self, index: usize, flow: u64) -> &FlowLinkStats {
        self.directions[index].link.flow_stats(flow)
    }
}

/// Whether a device that refuses this packet may accept the next: its host lacks memory or buffer space,
/// or its interface is down.
fn is_passing(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    let full = [libc::EAGAIN, libc::ENOBUFS, libc::ENOMEM, libc::EIO];
    code.is_some_and(|code| full.contains(&code) || code == libc::EINVAL)
}

/// Multicast and link-local packets stay on their side.
fn is_carried(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(address) => {
            !address.is_multicast() && !address.is_broadcast() && !address.is_link_local()
        }
        IpAddr::V6(address) => !address.is_multicast() && !address.is_unicast_link_local(),
    }
}

/// The numbers of one wait, copied from the set before it is reused.
struct Ready {
    numbers: [u64; events::MOST],
    count: usize,
}

impl Ready {
    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.numbers[..self.count].iter().copied()
    }
}

impl FromIterator<u64> for Ready {
    fn from_iter<I: IntoIterator<Item = u64>>(from: I) -> Self {
        let mut ready = Ready {
            numbers: [0; events::MOST],
            count: 0,
        };
        for (slot, number) in ready.numbers.iter_mut().zip(from) {
            *slot = number;
            ready.count += 1;
        }
        ready
    }
}
