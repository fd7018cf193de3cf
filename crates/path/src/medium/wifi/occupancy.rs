//! Whose the time of the medium was: every nanosecond belongs to one station, to several at once, or to none.
//!
//! A station has the medium from the start of its frame to its end; if the frame arrives, to the end of the acknowledgement, with
//! the short space before it (IEEE 802.11-2020, 10.3.2.11). Spaces and backoff before a frame are nobody's.

use super::graph::{CLIENT, Stations};
use thalweg_units::{Duration, Instant};

/// How long the medium was whose. The sum is the time since the start of the trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// The access point's and the client's, with nobody else in the air.
    pub ends: [Duration; 2],
    /// A neighbour's, with nobody else in the air.
    pub neighbours: Duration,
    /// Two stations' or more at the same time: collisions, and stations that do not hear each other.
    pub several: Duration,
    /// Nobody's.
    pub idle: Duration,
}

/// What a medium was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumUse {
    /// Whose its time was.
    pub occupancy: Occupancy,
    /// Frames of the access point and of the client that have ended, each attempt counted.
    pub attempts: [u64; 2],
    /// The frames that did not arrive.
    pub failed: [u64; 2],
}

/// The account of a medium.
#[derive(Clone, Debug)]
pub(super) struct Account {
    /// Up to when it is complete.
    at: Instant,
    in_air: Stations,
    /// When acknowledgements end, and whose frames they acknowledge.
    ends: Vec<(Instant, usize)>,
    spent: Occupancy,
}

impl Account {
    pub(super) fn new() -> Self {
        Account {
            at: Instant::START,
            in_air: 0,
            ends: Vec::new(),
            spent: Occupancy::default(),
        }
    }

    /// A frame begins at `now`.
    pub(super) fn enter(&mut self, number: usize, now: Instant) {
        self.advance(now);
        self.in_air |= 1 << number;
    }

    /// The station leaves the medium at `until`, which may be later than `now`.
    pub(super) fn leave(&mut self, number: usize, now: Instant, until: Instant) {
        self.advance(now);
        if until > now {
            self.ends.push((until, number));
        } else {
            self.in_air &= !(1 << number);
        }
    }

    /// The account up to `now`.
    pub(super) fn up_to(&mut self, now: Instant) -> Occupancy {
        self.advance(now);
        self.spent
    }

    fn advance(&mut self, now: Instant) {
        while let Some(place) = self.first_end(now) {
            let (end, number) = self.ends.swap_remove(place);
            self.pass(end);
            self.in_air &= !(1 << number);
        }
        self.pass(now);
    }

    /// The place of the acknowledgement that ends first, if it has ended by `now`.
    fn first_end(&self, now: Instant) -> Option<usize> {
        let places = self.ends.iter().enumerate();
        let due = places.filter(|(_, (end, _))| *end <= now);
        due.min_by_key(|(_, (end, _))| *end).map(|(place, _)| place)
    }

    /// Nothing changes until then.
    fn pass(&mut self, until: Instant) {
        let spent = &mut self.spent;
        let whose = match (self.in_air.count_ones(), self.in_air.trailing_zeros()) {
            (0, _) => &mut spent.idle,
            (1, number) if number as usize <= CLIENT => &mut spent.ends[number as usize],
            (1, _) => &mut spent.neighbours,
            _ => &mut spent.several,
        };
        *whose += until - self.at;
        self.at = until;
    }
}
