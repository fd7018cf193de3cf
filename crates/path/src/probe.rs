//! Packets for the tests of queue disciplines and policers.

use crate::buffer::Queued;
use crate::port::Port;
use crate::queue::Discipline;
use crate::store::Store;
use crate::{Dropped, Limit, Link, Packet};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) number: u64,
    pub(crate) size: u64,
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
}
impl Packet for Probe {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn number(&self) -> u64 {
        self.number
    }
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
pub(crate) fn at(n: u64) -> Instant {
    Instant::START + ms(n)
}

/// Pushes packets of 1000 bytes, numbered on from those that the link has been offered.
pub(crate) fn send(link: &mut Link<Probe>, now: Instant, flow: u64, ecn: Ecn, count: u64) {
    for _ in 0..count {
        let number = link.stats().offered.packets;
        link.push(
            now,
            Probe {
                number,
                size: 1000,
                flow,
                ecn,
            },
        );
    }
}

/// Everything that arrives, with the time of its arrival.
pub(crate) fn drain(link: &mut Link<Probe>) -> Vec<(Probe, Instant)> {
    let mut all = Vec::new();
    while let Some(now) = link.next() {
        if let Some(probe) = link.pop(now) {
            all.push((probe, now));
        }
    }
    all
}

/// A queue discipline without a link: tests enqueue and dequeue packets.
pub(crate) struct Bench<D> {
    pub(crate) discipline: D,
    pub(crate) port: Port,
}

impl<D: Discipline> Bench<D> {
    /// With room for `limit`, on a link of 8 Mbps: 1000 bytes per millisecond.
    pub(crate) fn new(discipline: D, limit: Limit) -> Self {
        let rate = Rate::from_bits_per_sec(8_000_000);
        let mut port = Port::new(rate, rate, limit, 8);
        port.counters.record_drops(true);
        Bench { discipline, port }
    }

    pub(crate) fn put(&mut self, now: Instant, flow: u64, size: u64, ecn: Ecn) {
        let slot = Store::new().put((), None);
        let size = Bytes::new(size);
        self.port.transmitter.now = now;
        self.port.arrive(flow, size);
        let queued = Queued {
            slot,
            arrived: now,
            size,
            flow,
            ecn,
        };
        self.discipline.enqueue(queued, &mut self.port);
    }

    pub(crate) fn take(&mut self, now: Instant) -> Option<Queued> {
        self.port.transmitter.now = now;
        let queued = self.discipline.dequeue(&mut self.port)?;
        self.port.depart(&queued);
        Some(queued)
    }

    pub(crate) fn drops(&mut self) -> Vec<Dropped> {
        self.port.counters.take_drops()
    }

    pub(crate) fn marks(&self) -> u64 {
        self.port.counters.totals().marked.packets
    }
}
