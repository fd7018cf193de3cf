//! A medium that both links of a hop share. One of two: [`half_duplex`], in which the links take turns, and [`wifi`], in which
//! stations contend for it as the stations of IEEE 802.11 do.

mod half_duplex;
pub mod wifi;

use crate::{Link, Packet};
pub use half_duplex::{HalfDuplex, HalfDuplexConfig};
use thalweg_units::Instant;
use wifi::{AccessEvent, MediumUse, Wifi, WifiConfig};

/// How links get access to a medium.
#[derive(Clone, Debug, PartialEq)]
pub enum MediumConfig {
    /// In turn.
    HalfDuplex(HalfDuplexConfig),
    /// By contention, among neighbours.
    Wifi(Box<WifiConfig>),
}

/// The medium of two links: the first leads from the access point to the client, or from the server, and the second back. Its
/// driver calls it when it is due, and tells it what it has pushed into them.
#[derive(Clone, Debug)]
pub enum Medium {
    /// In turn.
    HalfDuplex(HalfDuplex),
    /// By contention, among neighbours.
    Wifi(Box<Wifi>),
}

impl Medium {
    /// The medium of two links at the start of a trial, with the stream `medium` of `seed`. The links send nothing without it
    /// from now on.
    pub fn new<P: Packet>(config: &MediumConfig, seed: u64, links: &mut [Link<P>; 2]) -> Self {
        match config {
            MediumConfig::HalfDuplex(config) => Medium::HalfDuplex(HalfDuplex::new(*config)),
            MediumConfig::Wifi(config) => {
                links.iter_mut().for_each(|link| link.hold(true));
                Medium::Wifi(Box::new(Wifi::new(config, seed)))
            }
        }
    }

    /// Draws from the stream of another seed from now on.
    pub fn reseed(&mut self, seed: u64) {
        if let Medium::Wifi(medium) = self {
            medium.reseed(seed);
        }
    }

    /// When it must be called; [`Instant::NEVER`] if nothing happens on it until a packet is pushed.
    pub fn next(&self) -> Instant {
        match self {
            Medium::HalfDuplex(medium) => medium.next(),
            Medium::Wifi(medium) => medium.next(),
        }
    }

    /// By when it is to be called even if nothing of the ends is due, so that no call has much to make up for.
    pub fn call_by(&self) -> Instant {
        match self {
            Medium::HalfDuplex(medium) => medium.next(),
            Medium::Wifi(medium) => medium.call_by(),
        }
    }

    /// Packets have been pushed into the link `side` of `links` at `now`. Whether that matters to the medium.
    pub fn pushed<P: Packet>(
        &mut self,
        now: Instant,
        side: usize,
        links: &mut [Link<P>; 2],
    ) -> bool {
        match self {
            Medium::HalfDuplex(medium) => medium.pushed(now, side, links),
            Medium::Wifi(medium) => medium.pushed(now, side, links),
        }
    }

    /// What is due at `now`. Whether that concerns the links, which have then been moved to `now`.
    pub fn call<P: Packet>(&mut self, now: Instant, links: &mut [Link<P>; 2]) -> bool {
        match self {
            Medium::HalfDuplex(medium) => {
                medium.call(now, links);
                true
            }
            Medium::Wifi(medium) => medium.call(now, links),
        }
    }

    /// What it was used for up to `now`, once everything that is due before has been called; a medium without contention has no
    /// account.
    pub fn use_until<P: Packet>(
        &mut self,
        now: Instant,
        links: &mut [Link<P>; 2],
    ) -> Option<MediumUse> {
        match self {
            Medium::HalfDuplex(_) => None,
            Medium::Wifi(medium) => Some(medium.use_until(now, links)),
        }
    }

    /// Switches the log of accesses on or off. It is off at first and then costs nothing; a medium without contention has none.
    pub fn record_accesses(&mut self, on: bool) {
        if let Medium::Wifi(medium) = self {
            medium.record_accesses(on);
        }
    }

    /// Takes the oldest entry out of the log of accesses.
    pub fn take_access(&mut self) -> Option<AccessEvent> {
        match self {
            Medium::HalfDuplex(_) => None,
            Medium::Wifi(medium) => medium.take_access(),
        }
    }
}
