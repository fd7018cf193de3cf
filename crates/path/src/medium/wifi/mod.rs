//! A medium for which stations contend, from first principles: the medium access control of IEEE 802.11.
//!
//! # Model
//! Stations are the access point, which sends what waits in the first link of a hop, the client, which sends what waits in the
//! second, and virtual neighbours. Each senses for itself ([`graph`]): the frames of those that it hears, with their
//! acknowledgements, and the acknowledgements of receivers that it hears.
//!
//! A station with a frame waits until it has sensed nothing for the space of its access category, counts its slots, and sends
//! (IEEE 802.11-2020, 10.23.2). It counts on from where it was when it senses something meanwhile; with a category, a slot that
//! has begun counts. It senses a frame that has been in the air for aCCATime, and until then may begin itself. After each frame
//! a station draws slots, up to its window, and counts them even if it has no other frame; who then finds the medium free
//! sends at once, and who finds it busy draws.
//!
//! A frame fails if anything that its receiver hears is in the air at any time of it. A frame that arrives is acknowledged after
//! a short space, and those that hear it wait for that. One that fails doubles the window up to its largest (10.3.3), and is sent
//! again; after [`WifiConfig::attempts`] its packets are lost. Its sender waits for the acknowledgement before the space
//! (10.3.2.11). So does who can read the frame (10.3.2.4); who saw it begin, alone in the air, and cannot read it waits for
//! EIFS (10.3.2.3.7). Of frames that begin together nobody sees the beginning, so nobody waits longer for them.
//!
//! A frame of an end is an aggregate of what waits when the station first sends it, as [`WifiConfig::packets`] and
//! [`WifiConfig::airtime`] allow; all of it arrives at the end of the frame, or none. It takes preamble and whole symbols
//! ([`airtime`]), at the capacity of the link when it begins, or less after failures.
//!
//! # Units
//! Integer nanoseconds. Only accesses are computed, no slots, and while neither end has a packet nothing is: what the neighbours
//! have done is made up for later, in parts.
//!
//! # Limits
//! No OFDMA, TWT, power save, MU-MIMO, RTS, roaming; no frames of management. An end has one category, so none of its frames
//! collide with each other. A frame arrives as a whole or fails: no bit errors (`loss` has them), no capture of the stronger of two,
//! no part of an aggregate. Acknowledgements are never lost. EIFS begins with the end of the frame that could not be read, even if
//! another is still in the air. Rates fall by failures of a frame and are not learned. Signals take no time.

mod airtime;
mod config;
mod frame;
mod graph;
mod log;
mod occupancy;
mod sensing;
mod station;

use crate::random::stream;
use crate::{Link, Packet};
use airtime::Airtime;
pub use config::{
    Category, Contention, Heard, NeighbourConfig, Phy, ScanConfig, Timing, WifiConfig, WifiPreset,
};
use frame::Frame;
pub use graph::Graph;
use graph::{CLIENT, Stations};
pub use log::{AccessEvent, AccessStep};
use occupancy::Account;
pub use occupancy::{MediumUse, Occupancy};
use rand_pcg::Pcg64Mcg;
pub use station::StationCounters;
use station::{Phase, Source, Station};
use std::collections::VecDeque;
use thalweg_random::below;
use thalweg_units::{Duration, Instant};

/// The medium of two links and of virtual neighbours.
#[derive(Clone, Debug)]
pub struct Wifi {
    airtime: Airtime,
    attempts: u32,
    packets: u32,
    stations: Vec<Station>,
    /// The frames of both ends, from their first attempt on.
    frames: [Frame; 2],
    /// Stations whose frame is in the air.
    sending: Stations,
    /// Stations that acknowledge a frame, or have: [`Station::answers`] says.
    answering: Stations,
    /// Stations that count slots. What the others sense is found out when they have a frame.
    counting: Stations,
    /// Stations with a frame.
    live: Stations,
    /// When the first of the others has one.
    wakes: Instant,
    /// What happens next: when, and which station does it.
    event: (Instant, usize),
    scan: Option<(ScanConfig, Instant)>,
    rng: Pcg64Mcg,
    due: Instant,
    account: Account,
    log: Option<VecDeque<AccessEvent>>,
}

/// Access point and client.
const ENDS: Stations = 1 | 1 << CLIENT;

/// How long neighbours are left to themselves while neither end has a packet, so that no call has more than some
/// 60 000 accesses to make up for: 62 stations that do not hear each other, each with some ten accesses in a millisecond.
const PATIENCE: Duration = Duration::from_millis(100);

/// The numbers of the stations in a set.
fn members(mut set: Stations) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (first < Stations::BITS).then_some(first as usize)
    })
}

impl Wifi {
    pub(super) fn reseed(&mut self, seed: u64) {
        self.rng = stream(seed, "medium");
    }

    pub(super) fn new(config: &WifiConfig, seed: u64) -> Self {
        let mut rng = stream(seed, "medium");
        let graph = Graph::new(config);
        let stations = Station::all(config, &graph, &mut rng);
        let those = |is: fn(&Station) -> bool| graph.those(|number| is(&stations[number]));
        let (counting, live) = (those(Station::counts), those(Station::is_live));
        let scan = config.scan.map(|scan| {
            let first = Duration::from_nanos(below(&mut rng, scan.every.as_nanos()));
            (scan, Instant::START + first)
        });
        let mut medium = Wifi {
            airtime: Airtime::new(config),
            attempts: config.attempts,
            packets: config.packets,
            stations,
            frames: Default::default(),
            sending: 0,
            answering: 0,
            counting,
            live,
            wakes: Instant::START,
            event: (Instant::START, 0),
            scan,
            rng,
            due: Instant::NEVER,
            account: Account::new(),
            log: None,
        };
        medium.note_sleepers();
        medium.note_next();
        medium
    }

    pub(super) fn next(&self) -> Instant {
        self.due
    }

    pub(super) fn call_by(&self) -> Instant {
        self.due.min(self.event.0 + PATIENCE)
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

    /// Whose the time was up to `now`, before which everything has happened that is of an end, and what each end has done.
    pub(super) fn use_until<P: Packet>(
        &mut self,
        now: Instant,
        links: &mut [Link<P>; 2],
    ) -> MediumUse {
        let before = now.as_nanos().saturating_sub(1);
        self.catch_up(Instant::START + Duration::from_nanos(before), links);
        let ended = [0, CLIENT].map(|end| {
            let in_air = u64::from(self.sending >> end & 1 == 1);
            self.stations[end].counters.attempts - in_air
        });
        MediumUse {
            occupancy: self.account.up_to(now),
            attempts: ended,
            failed: [0, CLIENT].map(|end| ended[end] - self.stations[end].counters.received),
        }
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
        let station = &self.stations[side];
        if station.phase == Phase::Idle {
            let sleeps = station.due != Instant::NEVER;
            self.look_for_frame(side, now, links);
            if sleeps {
                self.note_sleepers();
            }
            self.note_next();
            // It may begin at once.
            self.catch_up(now, links);
            links.iter_mut().for_each(|link| link.advance(now));
        }
        true
    }

    pub(super) fn call<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) -> bool {
        let is_of_ends = self.catch_up(now, links);
        if is_of_ends {
            links.iter_mut().for_each(|link| link.advance(now));
        }
        is_of_ends
    }

    /// Everything that happens until `now`, in order of time; what ends comes before what begins, and then by number. Whether
    /// an end does any of it.
    fn catch_up<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) -> bool {
        let mut is_of_ends = false;
        loop {
            let (time, number) = self.event;
            if time > now || time == Instant::NEVER {
                return is_of_ends;
            }
            is_of_ends |= number <= CLIENT;
            match self.stations[number].phase {
                Phase::Idle => self.wake(number, time, links),
                Phase::Contends => self.begin(number, time, links),
                Phase::Sends if self.stations[number].is_hit() => self.fail(number, time, links),
                Phase::Sends => self.receive(number, time, links),
            }
            self.note_next();
        }
    }

    /// Notes what happens next, and when that must be known outside: while neither end has a frame, nothing must.
    fn note_next(&mut self) {
        let (mut time, mut number, mut begins) = (self.wakes, 0, true);
        for one in members(self.live) {
            let station = &self.stations[one];
            let key = (station.due, station.phase != Phase::Sends);
            if key < (time, begins) {
                (time, number, begins) = (key.0, one, key.1);
            }
        }
        if begins && time == self.wakes {
            let sleepers = self
                .stations
                .iter()
                .position(|station| station.phase == Phase::Idle && station.due == time);
            number = sleepers.unwrap_or(number);
        }
        self.event = (time, number);
        self.due = match self.live & ENDS {
            0 => self.stations[0].due.min(self.stations[CLIENT].due),
            _ => time,
        };
    }

    /// Notes when the first station without a frame has one.
    fn note_sleepers(&mut self) {
        let idle = self.stations.iter().filter(|one| one.phase == Phase::Idle);
        self.wakes = idle.map(|one| one.due).min().unwrap_or(Instant::NEVER);
    }

    /// A station that had no frame may have one.
    fn wake<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        self.look_for_frame(number, now, links);
        self.note_sleepers();
    }

    /// Notes what the phase and the slots of a station mean to the others.
    fn file(&mut self, number: usize) {
        let (station, bit) = (&self.stations[number], 1 << number);
        let into = |set: Stations, is_in: bool| if is_in { set | bit } else { set & !bit };
        self.counting = into(self.counting, station.counts());
        self.live = into(self.live, station.is_live());
    }

    /// A station without a frame may have one, or will have one later.
    fn look_for_frame<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let next = match self.stations[number].source {
            Source::Link(side) => {
                links[side].advance(now);
                links[side].resumes().unwrap_or(Instant::NEVER)
            }
            Source::Neighbour { .. } => self.stations[number].next_frame(now, &mut self.rng),
        };
        self.sense(number);
        if next <= now {
            let station = &mut self.stations[number];
            station.contend(now, &self.airtime.timing, &mut self.rng);
        } else {
            let station = &mut self.stations[number];
            (station.phase, station.due) = (Phase::Idle, next);
            self.wakes = self.wakes.min(next);
        }
        self.file(number);
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
            self.stations[number].backoff = 0;
            return self.look_for_frame(number, now, links);
        };
        let bit = 1 << number;
        let timing = &self.airtime.timing;
        let station = &mut self.stations[number];
        station.phase = Phase::Sends;
        (station.began, station.due) = (now, now + airtime);
        station.free = Instant::NEVER;
        station.counters.attempts += 1;
        self.account.enter(number, now);
        let hears = self.stations[number].hears;
        let answers = members(self.answering)
            .filter(|receiver| self.stations[*receiver].answers.1 > now)
            .fold(0, |set, receiver| set | 1 << receiver);
        self.answering = answers;
        let station = &mut self.stations[number];
        station.overlaps = answers & !bit | self.sending;
        station.hides = station.overlaps;
        for other in members(self.sending) {
            let other = &mut self.stations[other];
            other.overlaps |= bit;
            if now < other.began + timing.sensing {
                other.hides |= bit;
            }
        }
        self.sending |= bit;
        for other in members(self.counting & hears) {
            self.stations[other].freeze(now, timing);
            if !self.stations[other].counts() {
                self.counting &= !(1 << other);
            }
        }
        self.file(number);
        self.note(number, now, AccessStep::Begins { airtime });
    }

    /// A station does not begin after all. Somebody else may have begun within this slot.
    fn hold_back(&mut self, number: usize, now: Instant) {
        let station = &mut self.stations[number];
        (station.free, station.due) = (Instant::NEVER, Instant::NEVER);
        if self.sending & station.hears == 0 {
            station.thaw(now, &self.airtime.timing);
        }
    }

    /// The frame of a station ends, and nothing has destroyed it: its receiver acknowledges it.
    fn receive<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &mut self.stations[number];
        let until = now + station.acknowledgement;
        station.counters.received += 1;
        station.counters.useful += until - station.began;
        station.reset();
        (station.left, station.quiet) = (until, until);
        let (hears, receiver) = (station.hears, station.receiver);
        self.account.leave(number, now, until);
        let answers = 1 << receiver;
        self.stations[receiver].left = until;
        // Somebody next to a neighbour, who stands for itself, answers in its place.
        let from = now + self.airtime.timing.sifs;
        self.stations[receiver].answers = (if receiver == number { until } else { from }, until);
        self.sending &= !(1 << number);
        self.answering |= answers;
        let concerned = hears | self.stations[receiver].hears | answers;
        for one in members(self.sending) {
            let other = &mut self.stations[one];
            other.overlaps |= answers;
            if concerned & 1 << one != 0 {
                other.quiet = other.quiet.max(until);
            }
        }
        self.read(number, now, until);
        if self.stations[number].overlaps != 0 {
            // An acknowledgement that can be read ends the longer space.
            for other in members(self.stations[receiver].hears) {
                if self.sending & self.stations[other].garbles == 0 {
                    let other = &mut self.stations[other];
                    other.late = other.late.min(now);
                }
            }
        }
        for other in members(self.counting & concerned) {
            let senses = self.sending & self.stations[other].hears != 0;
            let other = &mut self.stations[other];
            other.freeze(now, &self.airtime.timing);
            if other.free == Instant::NEVER {
                other.quiet = other.quiet.max(until);
                if !senses {
                    other.thaw(now, &self.airtime.timing);
                }
            }
        }
        self.occupy(number, now, links);
        self.land(number, now, true, links);
        self.note(number, now, AccessStep::Received { until });
        self.go_on(number, now, links);
    }

    /// The frame of a station ends and has not arrived.
    fn fail<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        let station = &mut self.stations[number];
        station.counters.wasted += now - station.began;
        station.widen();
        station.left = now;
        station.late = now + self.airtime.timeout;
        let until = now + station.acknowledgement;
        let (hears, gives_up) = (station.hears, station.failures >= self.attempts);
        self.account.leave(number, now, now);
        self.sending &= !(1 << number);
        self.read(number, now, until);
        for other in members(self.counting & hears) {
            let other = &mut self.stations[other];
            if other.free == Instant::NEVER && self.sending & other.hears == 0 {
                other.thaw(now, &self.airtime.timing);
            }
        }
        self.occupy(number, now, links);
        if gives_up {
            let station = &mut self.stations[number];
            station.reset();
            station.counters.dropped += 1;
            self.land(number, now, false, links);
        }
        self.note(number, now, AccessStep::Fails { gives_up });
        if gives_up {
            return self.go_on(number, now, links);
        }
        let station = &mut self.stations[number];
        station.draw(&mut self.rng);
        self.sense(number);
        let station = &mut self.stations[number];
        station.contend(now, &self.airtime.timing, &mut self.rng);
        self.file(number);
    }

    /// A station has done with a frame: it draws slots, whether it has another frame or not.
    fn go_on<P: Packet>(&mut self, number: usize, now: Instant, links: &mut [Link<P>; 2]) {
        self.stations[number].draw(&mut self.rng);
        self.look_for_frame(number, now, links);
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
