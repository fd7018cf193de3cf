//! A cell: two links, their medium, and a driver that calls them in the order of time.

use thalweg_path::test_packet::TestPacket;
use thalweg_path::wifi::{MediumUse, StationCounters, Wifi, WifiConfig};
use thalweg_path::{Link, LinkConfig, Medium, MediumConfig};
use thalweg_units::{Duration, Instant, Rate};

pub(crate) struct Cell {
    pub(crate) links: [Link<TestPacket>; 2],
    pub(crate) medium: Medium,
    number: u64,
}

/// A packet that has arrived: when it was sent and when it came, over which link, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) sent: Instant,
    pub(crate) at: Instant,
    pub(crate) side: usize,
    pub(crate) number: u64,
}

impl Arrival {
    pub(crate) fn delay(&self) -> Duration {
        self.at - self.sent
    }
}

pub(crate) fn mbps(rate: f64) -> Rate {
    Rate::from_bits_per_sec((rate * 1e6).round() as u64)
}

pub(crate) fn us(micros: f64) -> Duration {
    Duration::from_nanos((micros * 1000.0).round() as u64)
}

pub(crate) fn seconds(seconds: f64) -> Instant {
    Instant::START + Duration::from_nanos((seconds * 1e9).round() as u64)
}

impl Cell {
    /// Both directions at this rate, without propagation.
    pub(crate) fn new(config: &WifiConfig, rate: Rate, seed: u64) -> Self {
        Cell::over(config, &LinkConfig::new(rate, Duration::ZERO), seed)
    }

    pub(crate) fn over(config: &WifiConfig, link: &LinkConfig, seed: u64) -> Self {
        let mut links = [(); 2].map(|()| Link::new(link, seed, 0));
        let config = MediumConfig::Wifi(Box::new(config.clone()));
        Cell {
            medium: Medium::new(&config, seed, &mut links),
            links,
            number: 0,
        }
    }

    /// Everything until `end`, and what arrives.
    pub(crate) fn run(&mut self, end: Instant) -> Vec<Arrival> {
        let mut seen = Vec::new();
        loop {
            let arrival = self.links.iter().filter_map(Link::next).min();
            let now = arrival.unwrap_or(Instant::NEVER).min(self.medium.next());
            if now > end || now == Instant::NEVER {
                return seen;
            }
            if self.medium.next() == now {
                self.medium.call(now, &mut self.links);
            }
            for (side, link) in self.links.iter_mut().enumerate() {
                while let Some(packet) = link.pop(now) {
                    seen.push(Arrival {
                        sent: packet.sent,
                        at: now,
                        side,
                        number: packet.number,
                    });
                }
            }
        }
    }

    /// A packet of so many bytes into a link.
    pub(crate) fn push(&mut self, now: Instant, side: usize, size: u64) {
        let packet = TestPacket {
            sent: now,
            ..TestPacket::new(self.number, size)
        };
        self.number += 1;
        self.links[side].push(now, packet);
        self.medium.pushed(now, side, &mut self.links);
    }

    /// What each station has done until `now`.
    pub(crate) fn counters(&mut self, now: Instant) -> Vec<StationCounters> {
        self.wifi(|wifi, links| wifi.counters(now, links))
    }

    /// What the medium was used for until `now`.
    pub(crate) fn used(&mut self, now: Instant) -> MediumUse {
        self.run(now);
        self.medium.use_until(now, &mut self.links).unwrap()
    }

    fn wifi<T>(&mut self, look: impl FnOnce(&mut Wifi, &mut [Link<TestPacket>; 2]) -> T) -> T {
        let Medium::Wifi(wifi) = &mut self.medium else {
            panic!("a medium with contention")
        };
        look(wifi, &mut self.links)
    }
}
