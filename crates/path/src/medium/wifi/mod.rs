//! A medium for which stations contend, from first principles: the medium access control of IEEE 802.11.
//!
//! # Model
//! Stations are the access point, which sends what waits in the first link of a hop, the client, which sends what waits in the
//! second, and virtual neighbours. Each senses for itself ([`graph`]): the frames of those that it hears, with their
//! acknowledgements, and the acknowledgements of receivers that it hears.
//!
//! A station with a frame waits until it has sensed nothing for the space of its access category, counts its slots, and sends
//! (IEEE 802.11-2020, 10.23.2). It counts on from where it was when it senses something meanwhile; a slot that has begun
//! counts. Who starts within a slot of another has not sensed it yet. After each frame a station draws slots, up to its window,
//! and counts them even if it has no other frame; who then finds the medium free sends at once, and who finds it busy draws.
//!
//! A frame fails if anything that its receiver hears is in the air at any time of it. A frame that arrives is acknowledged after
//! a short space, and those that hear it wait for that. One that fails doubles the window up to its largest (10.3.3), and is sent
//! again; after [`WifiConfig::attempts`] its packets are lost.
//!
//! A frame of an end is an aggregate of what waits when the station first sends it, as [`WifiConfig::packets`] and
//! [`WifiConfig::airtime`] allow; all of it arrives at the end of the frame, or none. It takes preamble and whole symbols
//! ([`airtime`]), at the capacity of the link when it begins, or less after failures.
//!
//! # Units
//! Integer nanoseconds. Only accesses are computed, no slots, and while neither end has a packet nothing is: what the neighbours
//! have done is made up for later.
//!
//! # Limits
//! No OFDMA, TWT, power save, MU-MIMO, RTS, roaming; no frames of management. An end has one category, so none of its frames
//! collide with each other. A frame arrives as a whole or fails: no bit errors (`loss` has them), no capture of the stronger of two,
//! no part of an aggregate. Acknowledgements are never lost. After a failure all contend at once, as in Bianchi's model: a sender does
//! not wait for the end of its timeout, nor do others for the longer space after a frame that they cannot read (EIFS), which
//! takes as long to 15 us. Rates fall by failures of a frame and are not learned. Signals take no time.

mod airtime;
mod config;
mod graph;
mod log;
mod station;

use crate::buffer::Queued;
use crate::random::stream;
use crate::{Link, Packet};
use airtime::Airtime;
pub use config::{
    Category, Contention, Heard, NeighbourConfig, Phy, ScanConfig, Timing, WifiConfig, WifiPreset,
};
pub use graph::Graph;
use graph::{CLIENT, Stations};
pub use log::{AccessEvent, AccessStep};
use rand_pcg::Pcg64Mcg;
pub use station::StationCounters;
use station::{Phase, Source, Station};
use std::collections::VecDeque;
use thalweg_random::below;
use thalweg_units::{Duration, Instant, Rate};

/// The medium of two links and of virtual neighbours.
#[derive(Clone, Debug)]
pub struct Wifi {
    airtime: Airtime,
    attempts: u32,
    packets: u32,
    stations: Vec<Station>,
    /// The frames of both ends, from their first attempt on.
    frames: [Frame; 2],
    /// Stations that occupy the medium for those that hear them: senders until the end of the acknowledgement, and receivers
    /// during it.
    occupied: Stations,
    /// Those of them whose signal is in the air.
    in_air: Stations,
    scan: Option<(ScanConfig, Instant)>,
    rng: Pcg64Mcg,
    due: Instant,
    log: Option<VecDeque<AccessEvent>>,
}

/// What an end sends in an access.
#[derive(Clone, Debug, Default)]
struct Frame {
    packets: Vec<Queued>,
    bits: u64,
    /// Its first attempt.
    begun: Instant,
}

impl Wifi {
    pub(super) fn new(config: &WifiConfig, seed: u64) -> Self {
        let mut rng = stream(seed, "medium");
        let graph = Graph::new(config);
        let stations = Station::all(config, &graph, &mut rng);
        let scan = config.scan.map(|scan| {
            let first = Duration::from_nanos(below(&mut rng, scan.every.as_nanos()));
            (scan, Instant::START + first)
        });
        Wifi {
            airtime: Airtime::new(config),
            attempts: config.attempts,
            packets: config.packets,
            stations,
            frames: Default::default(),
            occupied: 0,
            in_air: 0,
            scan,
            rng,
            due: Instant::NEVER,
            log: None,
        }
    }

    pub(super) fn next(&self) -> Instant {
        self.due
    }

    pub(super) fn record_accesses(&mut self, on: bool) {
        self.log = on.then(VecDeque::new);
    }

    pub(super) fn take_access(&mut self) -> Option<AccessEvent> {
        self.log.as_mut()?.pop_front()
    }

    /// What each station has done up to `now`: access point, client, neighbours.
    pub fn counters<P: Packet>(
        &mut self,
        now: Instant,
        links: &mut [Link<P>; 2],
    ) -> Vec<StationCounters> {
        self.call(now, links);
        self.stations.iter().map(|one| one.counters).collect()
    }

    pub(super) fn pushed<P: Packet>(
        &mut self,
        now: Instant,
        side: usize,
        links: &mut [Link<P>; 2],
    ) -> bool {
        if self.stations[side].phase != Phase::Idle {
            return false;
        }
        self.catch_up(now, links);
        // It may have had something to send all the time, and no capacity.
        if self.stations[side].phase == Phase::Idle {
            self.look_for_frame(side, now, links);
        }
        self.note_due();
        true
    }

    pub(super) fn call<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) {
        self.catch_up(now, links);
        self.note_due();
    }

    fn note_due(&mut self) {
        let [access_point, client, ..] = &self.stations[..] else {
            return;
        };
        let ends = [access_point, client];
        let is_quiet = ends.iter().all(|end| end.phase == Phase::Idle);
        let all = &self.stations[..if is_quiet {
            ends.len()
        } else {
            self.stations.len()
        }];
        let due = all.iter().map(|station| station.due).min();
        self.due = due.unwrap_or(Instant::NEVER);
    }

    /// Everything that happens until `now`, in order of time; what ends comes before what begins, and then by number.
    fn catch_up<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) {
        loop {
            let (mut first, mut key) = (0, (Instant::NEVER, true));
            for (number, station) in self.stations.iter().enumerate() {
                let begins = matches!(station.phase, Phase::Contends | Phase::Idle);
                if (station.due, begins) < key {
                    (first, key) = (number, (station.due, begins));
                }
            }
            let (time, _) = key;
            if time > now || time == Instant::NEVER {
                return links.iter_mut().for_each(|link| link.advance(now));
            }
            match self.stations[first].phase {
                Phase::Idle => self.look_for_frame(first, time, links),
                Phase::Contends => self.begin(first, time, links),
                Phase::Sends if self.stations[first].hit => self.fail(first, time, links),
                Phase::Sends => self.receive(first, time, links),
                Phase::Acknowledged => self.end(first, time, links),
            }
        }
    }

    /// A station without a frame may have one, or will have one later.
    fn look_for_frame<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &mut self.stations[number];
        let next = match station.source {
            Source::Link(side) => {
                links[side].advance(now);
                links[side].resumes().unwrap_or(Instant::NEVER)
            }
            Source::Neighbour { .. } => station.next_frame(now, &mut self.rng),
        };
        if next <= now {
            station.contend(now, &self.airtime.timing, &mut self.rng);
        } else {
            station.phase = Phase::Idle;
            station.due = next;
        }
    }

    /// The slots of a station have passed.
    fn begin<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let absence = (number <= CLIENT).then(|| self.absence(now)).flatten();
        if let Some(back) = absence {
            self.stations[number].resumes = back;
            return self.hold_back(number, now);
        }
        let Some(airtime) = self.frame(number, now, links) else {
            self.hold_back(number, now);
            return self.look_for_frame(number, now, links);
        };
        let bit = 1 << number;
        let timing = &self.airtime.timing;
        let station = &mut self.stations[number];
        station.phase = Phase::Sends;
        (station.began, station.due) = (now, now + airtime);
        station.free = Instant::NEVER;
        station.hit = self.in_air & station.destroyers != 0;
        station.counters.attempts += 1;
        self.occupied |= bit;
        self.in_air |= bit;
        for other in &mut self.stations {
            other.hit |= other.destroyers & bit != 0;
            if other.hears & bit != 0 {
                other.freeze(now, timing);
            }
        }
        self.note(number, now, AccessStep::Begins { airtime });
    }

    /// A station does not begin after all. Somebody else may have begun within this slot.
    fn hold_back(&mut self, number: usize, now: Instant) {
        let station = &mut self.stations[number];
        (station.free, station.due) = (Instant::NEVER, Instant::NEVER);
        if self.occupied & (station.hears | 1 << number) == 0 {
            station.thaw(now, &self.airtime.timing);
        }
    }

    /// The frame that a station sends at `now`: how long it takes. None if it has none.
    fn frame<P: Packet>(
        &mut self,
        number: usize,
        now: Instant,
        links: &mut [Link<P>; 2],
    ) -> Option<Duration> {
        let station = &mut self.stations[number];
        let side = match station.source {
            Source::Neighbour { airtime, .. } => {
                // At the highest basic rate.
                let (is_aggregate, rate) = (self.packets > 1, Rate::from_bits_per_sec(u64::MAX));
                station.acknowledgement = self.airtime.acknowledgement(is_aggregate, rate);
                return Some(airtime);
            }
            Source::Link(side) => side,
        };
        let (link, frame) = (&mut links[side], &mut self.frames[side]);
        link.advance(now);
        let rate = link.rate();
        if rate.is_zero() {
            return None;
        }
        let rate = self.airtime.rate(rate, station.failures);
        if frame.packets.is_empty() {
            let room = self.airtime.room(rate);
            (frame.bits, frame.begun) = (0, now);
            while frame.packets.len() < self.packets as usize
                && (frame.packets.is_empty() || frame.bits < room)
                && let Some(queued) = link.take()
            {
                frame.bits = frame.bits.saturating_add(self.airtime.bits(queued.size));
                frame.packets.push(queued);
            }
            if frame.packets.is_empty() {
                return None;
            }
        }
        let is_aggregate = frame.packets.len() > 1;
        station.acknowledgement = self.airtime.acknowledgement(is_aggregate, rate);
        Some(self.airtime.frame(frame.bits, rate))
    }

    /// The frame of a station ends, and nothing has destroyed it: its receiver acknowledges it.
    fn receive<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &mut self.stations[number];
        let receiver = 1 << station.receiver;
        station.phase = Phase::Acknowledged;
        station.due = now + station.acknowledgement;
        station.counters.received += 1;
        station.counters.useful += station.due - station.began;
        self.occupied |= receiver;
        self.in_air = self.in_air & !(1 << number) | receiver;
        for other in &mut self.stations {
            let sends = other.phase == Phase::Sends;
            other.hit |= sends && other.destroyers & receiver != 0;
            if other.hears & receiver != 0 {
                other.freeze(now, &self.airtime.timing);
            }
        }
        self.occupy(number, now, links);
        self.land(number, now, true, links);
        self.note(number, now, AccessStep::Received);
    }

    /// The frame of a station ends and has not arrived.
    fn fail<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &mut self.stations[number];
        station.counters.wasted += now - station.began;
        station.widen();
        let gives_up = station.failures >= self.attempts;
        self.occupy(number, now, links);
        if gives_up {
            let station = &mut self.stations[number];
            station.reset();
            station.counters.dropped += 1;
            self.land(number, now, false, links);
        }
        self.note(number, now, AccessStep::Fails { gives_up });
        self.leave(number, 1 << number, now);
        if gives_up {
            self.look_for_frame(number, now, links);
        } else {
            let station = &mut self.stations[number];
            station.contend(now, &self.airtime.timing, &mut self.rng);
        }
    }

    /// An acknowledgement ends.
    fn end<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &mut self.stations[number];
        station.reset();
        let gone = 1 << number | 1 << station.receiver;
        self.note(number, now, AccessStep::Ends);
        self.leave(number, gone, now);
        self.look_for_frame(number, now, links);
    }

    /// The stations `gone` no longer occupy the medium; `number` was the sender, and draws slots.
    fn leave(&mut self, number: usize, gone: Stations, now: Instant) {
        self.occupied &= !gone;
        self.in_air &= !gone;
        self.stations[number].draw(&mut self.rng);
        for (other, station) in self.stations.iter_mut().enumerate() {
            let is_concerned = (station.hears | 1 << other) & gone != 0;
            let is_free = self.occupied & (station.hears | 1 << other) == 0;
            if is_concerned && is_free && station.free == Instant::NEVER {
                station.thaw(now, &self.airtime.timing);
            }
        }
    }

    /// A frame has ended at `now`.
    fn occupy<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &self.stations[number];
        if let Source::Link(side) = station.source {
            links[side].occupy(now - station.began);
        }
    }

    /// The packets of a frame have arrived at `now`, or are given up.
    fn land<P: Packet>(
        &mut self,
        number: usize,
        now: Instant,
        is_received: bool,
        links: &mut [Link<P>; 2],
    ) {
        let Source::Link(side) = self.stations[number].source else {
            return;
        };
        links[side].advance(now);
        let frame = &mut self.frames[side];
        for queued in frame.packets.drain(..) {
            links[side].land(&queued, frame.begun, now, is_received);
        }
    }

    /// When the client is back, if it is away at `now`.
    fn absence(&self, now: Instant) -> Option<Instant> {
        let (ScanConfig { every, length }, first) = self.scan?;
        if now < first {
            return None;
        }
        let since = (now - first).as_nanos() % every.as_nanos();
        (since < length.as_nanos()).then(|| now + (length - Duration::from_nanos(since)))
    }

    fn note(&mut self, station: usize, at: Instant, step: AccessStep) {
        if let Some(log) = &mut self.log {
            let packets = match self.stations[station].source {
                Source::Link(side) => self.frames[side].packets.len(),
                Source::Neighbour { .. } => 0,
            };
            log.push_back(AccessEvent {
                at,
                station,
                packets,
                step,
            });
        }
    }
}
