//! A bench for tests of disciplines: a buffer and a clock, without a link.

use super::Discipline;
use crate::Limit;
use crate::buffer::{Buffer, Queued};
use crate::store::Store;
use thalweg_units::{Bytes, Ecn, Instant, Rate};

pub(super) fn ms(at: u64) -> Instant {
    Instant::from_nanos(at * 1_000_000)
}

pub(super) struct Bench<D> {
    pub(super) discipline: D,
    pub(super) buffer: Buffer,
    store: Store<()>,
    ecn: Ecn,
}

impl<D: Discipline> Bench<D> {
    /// A discipline without a limit on a link of 10 Mbps; its packets carry `ecn`.
    pub(super) fn new(discipline: D, ecn: Ecn) -> Self {
        let rate = Rate::from_bits_per_sec(10_000_000);
        Bench {
            discipline,
            buffer: Buffer::new(rate, Limit::Unlimited, 100),
            store: Store::new(),
            ecn,
        }
    }

    pub(super) fn arrive_as(&mut self, now: Instant, flow: u64, size: u64) {
        let ecn = self.ecn;
        self.arrive_with(now, flow, size, ecn);
    }

    pub(super) fn arrive_with(&mut self, now: Instant, flow: u64, size: u64, ecn: Ecn) {
        let size = Bytes::new(size);
        self.buffer.now = now;
        self.buffer.arrive(flow, size);
        let queued = Queued {
            place: self.store.put((), None),
            arrived: now,
            size,
            flow,
            ecn,
        };
        self.discipline.enqueue(queued, &mut self.buffer);
    }

    pub(super) fn arrive(&mut self, now: Instant) {
        self.arrive_as(now, 0, 1000);
    }

    /// `count` packets of 1000 bytes at the start.
    pub(super) fn fill(&mut self, count: usize) {
        for _ in 0..count {
            self.arrive(ms(0));
        }
    }

    pub(super) fn dequeue(&mut self, now: Instant) -> Option<Queued> {
        self.buffer.now = now;
        let packet = self.discipline.dequeue(&mut self.buffer)?;
        self.buffer.depart(&packet);
        Some(packet)
    }

    pub(super) fn shed(&mut self) {
        self.discipline.shed(&mut self.buffer);
    }

    pub(super) fn dropped(&self) -> u64 {
        self.buffer.counters.totals().dropped.packets
    }

    pub(super) fn marked(&self) -> u64 {
        self.buffer.counters.totals().marked.packets
    }
}
