//! What drives a queue discipline in its tests.

use crate::buffer::Queued;
use crate::port::Port;
use crate::queue::Discipline;
use crate::store::Store;
use crate::{Dropped, Limit};
use thalweg_units::{Bytes, Ecn, Instant, Rate};

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
        self.push(now, flow, size, ecn, false);
    }

    /// A packet that is only an acknowledgement, or not.
    pub(crate) fn put_ack(&mut self, now: Instant, flow: u64, size: u64, is_ack: bool) {
        self.push(now, flow, size, Ecn::NotEct, is_ack);
    }

    fn push(&mut self, now: Instant, flow: u64, size: u64, ecn: Ecn, is_ack: bool) {
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
            is_ack,
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
