//! A station: its counter, and what it has to send.

use super::airtime::Airtime;
use super::config::{Category, NeighbourConfig, Timing, WifiConfig};
use super::graph::{CLIENT, Graph, Stations};
use crate::random::Chance;
use libm::log;
use rand_pcg::Pcg64Mcg;
use thalweg_random::{below, open_unit};
use thalweg_units::{Duration, Instant, Rate};

/// What a station is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has nothing to send.
    Idle,
    /// It counts its slots, or waits until it senses nothing.
    Contends,
    /// Its frame is in the air.
    Sends,
}

/// Where its frames come from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The link of that number.
    Link(usize),
    /// A neighbour.
    Neighbour {
        airtime: Duration,
        bursts: Option<(Duration, Duration)>,
        /// When the burst ends.
        until: Instant,
    },
}

/// What a station has done with the medium so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Frames that it has sent, each attempt counted.
    pub attempts: u64,
    /// Those that arrived.
    pub received: u64,
    /// Frames given up after the last attempt.
    pub dropped: u64,
    /// Time in the air of frames that arrived, with their acknowledgements.
    pub useful: Duration,
    /// Time in the air of those that did not.
    pub wasted: Duration,
}

#[derive(Clone, Debug)]
pub(super) struct Station {
    /// The stations that it senses.
    pub(super) hears: Stations,
    /// The stations of which it cannot read a frame that another sends at the same time.
    pub(super) garbles: Stations,
    /// Those that destroy its frames at their receiver.
    pub(super) destroyers: Stations,
    pub(super) receiver: usize,
    pub(super) source: Source,
    /// The space before contention.
    pub(super) space: Duration,
    /// How long the medium stays free after a frame has come while it was, before that is sent: without categories for
    /// the space (10.3.4.2).
    listening: Duration,
    /// How many slots that have begun and are not over count when it senses something.
    begun_slots: u64,
    least: u32,
    most: u32,
    window: u32,
    /// Slots left to count.
    pub(super) backoff: u32,
    /// Failures of its frame in a row.
    pub(super) failures: u32,
    pub(super) phase: Phase,
    /// Since when it has sensed nothing, or will sense nothing; `NEVER` while it senses a frame, or sends. Kept while it counts.
    pub(super) free: Instant,
    /// When the last acknowledgement ends that it hears, or waits for, or that a frame announces which it has read (10.3.2.4).
    pub(super) quiet: Instant,
    /// Until when it waits before the space, though it senses nothing: for an acknowledgement of its own frame that does not
    /// come (10.3.2.11), or after a frame that it could not read (EIFS, 10.3.2.3.7).
    pub(super) late: Instant,
    /// When it leaves the medium, or left it: the end of its last frame and of the acknowledgement, or of one that it sent.
    pub(super) left: Instant,
    /// When the last acknowledgement begins that it sends itself, and when it ends.
    pub(super) answers: (Instant, Instant),
    /// It does not count before: it is away.
    pub(super) resumes: Instant,
    /// When its phase ends: never while it waits for others.
    pub(super) due: Instant,
    /// The stations with a frame or an acknowledgement in the air at any time of its frame.
    pub(super) overlaps: Stations,
    /// The ones that had it when the frame began, or before that could be sensed.
    pub(super) hides: Stations,
    /// When its frame began.
    pub(super) began: Instant,
    /// How long the acknowledgement of its frame takes, with the space before it.
    pub(super) acknowledgement: Duration,
    pub(super) counters: StationCounters,
}

impl Station {
    /// All stations of a medium at the start.
    pub(super) fn all(config: &WifiConfig, graph: &Graph, rng: &mut Pcg64Mcg) -> Vec<Station> {
        let timing = config.phy.timing();
        let ends = [0, CLIENT].map(|side| (config.category, Source::Link(side), Instant::NEVER));
        let mut stations: Vec<Station> = Vec::with_capacity(graph.len());
        let kinds = config.neighbours.iter();
        let neighbours = kinds.flat_map(|kind| (0..kind.count).map(move |_| kind));
        for (category, source, due) in ends {
            let number = stations.len();
            stations.push(Station::new(number, graph, (config, category), source, due));
        }
        for kind in neighbours.take(graph.len() - stations.len()) {
            let (source, due) = neighbour(kind, rng);
            let number = stations.len();
            let mut station = Station::new(number, graph, (config, kind.category), source, due);
            if due == Instant::NEVER {
                // It has a frame from the start on, and others may have had the medium before.
                station.phase = Phase::Contends;
                station.draw(rng);
                station.count(&timing);
            }
            stations.push(station);
        }
        stations
    }

    fn new(
        number: usize,
        graph: &Graph,
        (config, category): (&WifiConfig, Category),
        source: Source,
        due: Instant,
    ) -> Self {
        let timing = config.phy.timing();
        let contention = category.contention(config.phy);
        let highest = Rate::from_bits_per_sec(u64::MAX);
        let at_basic_rate = Airtime::new(config).acknowledgement(config.packets > 1, highest);
        let space = timing.sifs + timing.slot * u64::from(contention.space);
        let (listening, begun_slots) = match category {
            Category::Dcf => (space, 0),
            _ => (Duration::ZERO, 1),
        };
        Station {
            hears: graph.those(|other| other != number && graph.hear(other, number)),
            garbles: graph.those(|other| graph.garbles(other, number)),
            destroyers: graph.those(|other| graph.destroys(other, number)),
            receiver: graph.receiver(number),
            source,
            space,
            listening,
            begun_slots,
            least: contention.least,
            most: contention.most,
            window: contention.least,
            backoff: 0,
            failures: 0,
            phase: Phase::Idle,
            free: Instant::START,
            quiet: Instant::START,
            late: Instant::START,
            left: Instant::START,
            answers: (Instant::START, Instant::START),
            resumes: Instant::START,
            due,
            overlaps: 0,
            hides: 0,
            began: Instant::START,
            acknowledgement: at_basic_rate,
            counters: StationCounters::default(),
        }
    }

    /// Draws slots from its window.
    pub(super) fn draw(&mut self, rng: &mut Pcg64Mcg) {
        self.backoff = below(rng, u64::from(self.window) + 1) as u32;
    }

    /// When its last slot will have passed if it goes on to sense nothing.
    pub(super) fn count(&mut self, timing: &Timing) {
        self.due = match self.free {
            Instant::NEVER => Instant::NEVER,
            _ => self.counts_from() + timing.slot * u64::from(self.backoff),
        };
    }

    /// When its first slot begins, or began, if it senses nothing; before the start it has sensed nothing for long.
    fn counts_from(&self) -> Instant {
        match self.free.max(self.late) {
            Instant::START => Instant::START,
            free => free + self.space,
        }
    }

    /// It senses something from `now` on, unless it sends itself before it can. With a category, a slot that has begun
    /// counts (10.23.2.4); without one, only those that were free to their end (10.3.4.3).
    pub(super) fn freeze(&mut self, now: Instant, timing: &Timing) {
        let contends = self.phase == Phase::Contends;
        if self.free == Instant::NEVER || contends && self.due < now + timing.sensing {
            return;
        }
        let from = self.counts_from();
        if now >= from {
            let slots = (now - from).as_nanos() / timing.slot.as_nanos() + self.begun_slots;
            let left = u64::from(self.backoff).saturating_sub(slots);
            self.backoff = left as u32;
        }
        self.free = Instant::NEVER;
        if contends {
            self.due = Instant::NEVER;
        }
    }

    /// It senses no frame from `now` on, and no acknowledgement when those that it hears have ended.
    pub(super) fn thaw(&mut self, now: Instant, timing: &Timing) {
        self.free = now.max(self.quiet).max(self.resumes);
        if self.phase == Phase::Contends {
            self.count(timing);
        }
    }

    /// Whether it has slots to count, so that what it senses matters to it.
    pub(super) fn counts(&self) -> bool {
        self.phase == Phase::Contends || self.phase == Phase::Idle && self.backoff > 0
    }

    /// Whether it sends an acknowledgement.
    pub(super) fn answers(&self, now: Instant) -> bool {
        let (from, until) = self.answers;
        from <= now && now < until
    }

    /// Whether something destroys its frame.
    pub(super) fn is_hit(&self) -> bool {
        self.overlaps & self.destroyers != 0
    }

    /// Whether it has a frame.
    pub(super) fn is_live(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// It has a frame from `now` on. One that comes while the medium is busy draws slots, if none are left; one that comes
    /// while it is free and no slots are left is sent when the station has listened. If somebody else begins meanwhile, it
    /// is sent after the next space without slots, as ns-3 has it (3.44, `ChannelAccessManager::NeedBackoffUponAccess`).
    pub(super) fn contend(&mut self, now: Instant, timing: &Timing, rng: &mut Pcg64Mcg) {
        let comes = self.phase == Phase::Idle && (now >= self.left || self.answers(now));
        if comes && self.free > now && self.backoff == 0 {
            self.draw(rng);
        }
        self.phase = Phase::Contends;
        self.count(timing);
        if comes && (self.due <= now || self.backoff == 0) {
            self.due = self.due.max(now + self.listening);
        }
        self.due = self.due.max(now);
    }

    /// Its frame has arrived, or is given up.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
        self.window = self.least;
    }

    /// Its frame has failed once more.
    pub(super) fn widen(&mut self) {
        self.failures += 1;
        self.window = (2 * self.window + 1).min(self.most);
    }

    /// When a neighbour has another frame after `now`; `now` if it has one.
    pub(super) fn next_frame(&mut self, now: Instant, rng: &mut Pcg64Mcg) -> Instant {
        let Source::Neighbour {
            bursts: Some((on, off)),
            until,
            ..
        } = &mut self.source
        else {
            return now;
        };
        while *until <= now {
            let next = *until + exponential(*off, rng);
            *until = next + exponential(*on, rng);
            if next > now {
                return next;
            }
        }
        now
    }
}

/// A neighbour at the start: within a burst as often as in the long run. When its next burst begins; never if it is within one.
fn neighbour(kind: &NeighbourConfig, rng: &mut Pcg64Mcg) -> (Source, Instant) {
    let (until, due) = match kind.bursts {
        None => (Instant::NEVER, Instant::NEVER),
        Some((on, off)) => {
            let period = on.as_nanos().saturating_add(off.as_nanos());
            if Chance::ratio(on.as_nanos(), period).happens(rng) {
                (Instant::START + exponential(on, rng), Instant::NEVER)
            } else {
                let due = Instant::START + exponential(off, rng);
                (due + exponential(on, rng), due)
            }
        }
    };
    let source = Source::Neighbour {
        airtime: kind.airtime,
        bursts: kind.bursts,
        until,
    };
    (source, due)
}

/// At least a nanosecond.
fn exponential(mean: Duration, rng: &mut Pcg64Mcg) -> Duration {
    let factor = -log(open_unit(rng));
    Duration::from_nanos((mean.as_nanos() as f64 * factor) as u64 + 1)
}
