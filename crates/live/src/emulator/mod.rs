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
//! when it has arrived at the end of the link. The links are those of the simulator: a late call
//! replays what should have happened before, so a late thread delays packets but loses no capacity
//! and does not change which packets are dropped.
//!
//! # Units
//! Nanoseconds of the monotonic clock since the start of the emulator; bytes of whole IP packets.
//!
//! # Limits
//! A packet counts as offered when it is read: earlier waits in the host are visible only as time without
//! a core and as packets that the host dropped. Packets to multicast and link-local addresses are ignored.

pub(crate) mod frame;
pub(crate) mod histogram;
pub(crate) mod samples;
pub(crate) mod series;
#[cfg(test)]
mod tests;

use crate::sys::clock::Clock;
use crate::sys::events::{Epoll, Interest, Timer};
use frame::{Frame, Headers, Pool};
use histogram::Histogram;
use samples::Samples;
use series::Binned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsFd;
use thalweg_path::{FlowLinkStats, Link, LinkConfig, LinkStats, Packet};
use thalweg_sim::Series;
use thalweg_units::{Duration, Instant};

/// Packets handled before the next device is served.
const BATCH: usize = 64;
/// How early a long sleep ends: more than hosts take to wake a thread.
const EARLY: Duration = Duration::from_micros(80);
/// A sleep is long from this multiple of [`EARLY`] on, which bounds the share of time spent spinning.
const LONG: u64 = 10;
/// The timer's number in the wait set; ports and descriptors of the caller have others.
const TIMER: u64 = u64::MAX;
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

/// A device of one host. Each read returns a packet, each write takes one; neither blocks.
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
    /// Ports of transport protocols that identify connections: the first is that of connection 0. All
    /// other packets are identified by the hash of their 5-tuple.
    pub(crate) flows: Range<u16>,
    /// How often the links are sampled.
    pub(crate) sample: Option<Duration>,
}

/// The emulator of one path.
#[derive(Debug)]
pub(crate) struct Emulator {
    clock: Clock,
    epoll: Epoll,
    timer: Timer,
    /// The time of the timer; `None` if it has fired or was never set.
    armed: Option<Instant>,
    /// The deadline for which it was set to fire early, and the one for which it did.
    early_for: Option<Instant>,
    awake_for: Option<Instant>,
    ports: Vec<Port>,
    /// The host of each address.
    hosts: BTreeMap<IpAddr, usize>,
    pub(crate) directions: [Direction; 2],
    pool: Pool,
    bound: Duration,
    flows: Range<u16>,
    read: u64,
    pub(crate) samples: Option<Samples>,
    series: Option<Binned>,
    #[cfg(test)]
    log: tests::Log,
}

impl Emulator {
    /// An emulator at time zero. It does nothing yet.
    pub(crate) fn new(clock: Clock, setup: &Setup<'_>, ports: Vec<Port>) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        let timer = Timer::new()?;
        epoll.add(&timer, TIMER, Interest::Read)?;
        let mut hosts = BTreeMap::new();
        for (index, port) in ports.iter().enumerate() {
            epoll.add(&port.device, index as u64, Interest::Read)?;
            hosts.extend(port.addresses.iter().map(|address| (*address, index)));
        }
        let direction = |index: usize| {
            let mut link = Link::new(setup.links[index], setup.seeds[index], setup.flows.len());
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
            timer,
            armed: None,
            early_for: None,
            awake_for: None,
            ports,
            hosts,
            directions: [direction(DOWN), direction(UP)],
            pool: Pool::default(),
            bound: setup.bound,
            flows: setup.flows.clone(),
            read: 0,
            samples: setup.sample.map(Samples::every),
            series: None,
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
    }

    /// Forwards packets until `hear`, which gets the ready descriptors of the caller, returns stop.
    pub(crate) fn run<T>(
        &mut self,
        mut hear: impl FnMut(u32) -> io::Result<ControlFlow<T>>,
    ) -> io::Result<T> {
        loop {
            self.release(DOWN)?;
            self.release(UP)?;
            self.sample();
            self.wait()?;
            let ready: Ready = self.epoll.ready().collect();
            for number in ready.numbers() {
                if number == TIMER {
                    self.armed = None;
                    self.awake_for = self.early_for;
                } else if let Some(number) = number.checked_sub(CALLER) {
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
    /// late. So the timer of a long sleep fires [`EARLY`], and the thread spins for the rest.
    fn wait(&mut self) -> io::Result<()> {
        let links = self
            .directions
            .iter()
            .map(|direction| direction.link.next());
        let sample = self.samples.as_ref().map(|samples| samples.next);
        let Some(next) = links.chain([sample]).flatten().min() else {
            self.arm(None)?;
            return self.epoll.wait(None);
        };
        if self.awake_for == Some(next) {
            loop {
                self.epoll.wait(Some(0))?;
                let is_called = self.epoll.ready().any(|number| number != TIMER);
                if is_called || self.clock.now() >= next {
                    return Ok(());
                }
            }
        }
        let sleep = next.max(self.clock.now()) - self.clock.now();
        let is_long = sleep >= EARLY * LONG;
        self.early_for = is_long.then_some(next);
        self.arm(Some(if is_long { next - EARLY } else { next }))?;
        self.epoll.wait(None)
    }

    /// Sets the timer.
    fn arm(&mut self, at: Option<Instant>) -> io::Result<()> {
        if at != self.armed || at.is_none() {
            self.timer.set(at.map(|at| self.clock.absolute(at)))?;
            self.armed = at;
        }
        Ok(())
    }

    /// Reads packets from a device and pushes them into its link.
    fn read(&mut self, index: usize) -> io::Result<()> {
        for _ in 0..BATCH {
            let mut buffer = self.pool.take();
            let port = &mut self.ports[index];
            let length = match port.device.read(buffer.room()) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            let side = port.side;
            let Some(headers) = Headers::read(&buffer.room()[..length]) else {
                continue;
            };
            if !is_carried(headers.destination) {
                continue;
            }
            let to = self.to(side, headers.destination);
            let flow = match headers.port_within(&self.flows) {
                Some(port) => u64::from(port - self.flows.start),
                None => headers.hash(),
            };
            let mut frame = Frame::new(buffer, length, headers.ecn, flow, to);
            if self.ports[to].side == side {
                // A refused packet is lost between neighbours, not on the path.
                let _ = self.ports[to].device.write(frame.bytes());
                continue;
            }
            frame.number = self.read;
            self.read += 1;
            let now = self.clock.now();
            #[cfg(test)]
            self.log.pushed(now, side.outbound(), &frame);
            if let Some(series) = &mut self.series {
                series.on_sent(now, side.outbound(), frame.flow(), frame.size());
            }
            self.directions[side.outbound()].link.push(now, frame);
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

    /// Writes the packets that have arrived.
    fn release(&mut self, index: usize) -> io::Result<()> {
        let Direction {
            link,
            lateness,
            missed,
            refused,
        } = &mut self.directions[index];
        let mut now = self.clock.now();
        link.advance(now);
        for _ in 0..BATCH {
            let Some(due) = link.next().filter(|due| *due <= now) else {
                break;
            };
            let Some(frame) = link.pop(now) else { break };
            let written = self.ports[frame.to].device.write(frame.bytes());
            now = self.clock.now();
            #[cfg(test)]
            self.log.released(now, due, index, &frame, written.is_ok());
            match written {
                Ok(_) => {
                    if let Some(series) = &mut self.series {
                        series.on_received(now, index, frame.flow(), frame.size());
                    }
                    let late = now - due;
                    lateness.add(late);
                    *missed += u64::from(late > self.bound);
                }
                Err(error) if is_passing(&error) => *refused += 1,
                Err(error) => return Err(error),
            }
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

    /// Records series from now on.
    pub(crate) fn record_series(&mut self, series: Binned) {
        self.series = Some(series);
    }

    /// The series recorded so far.
    pub(crate) fn take_series(&mut self) -> Option<Series> {
        let now = self.clock.now();
        let series = self.series.take()?;
        let links = &self.directions;
        Some(series.close(now, links.len(), |link, from, to| {
            links[link].link.capacity_between(from, to)
        }))
    }

    /// The clock of packets and schedules.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
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
    numbers: [u64; 32],
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
            numbers: [0; 32],
            count: 0,
        };
        for (slot, number) in ready.numbers.iter_mut().zip(from) {
            *slot = number;
            ready.count += 1;
        }
        ready
    }
}
