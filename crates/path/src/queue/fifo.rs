//! Waiting packets in order of arrival, and their bytes.

use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Queued>,
    bytes: Bytes,
}

impl Fifo {
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(super) fn oldest(&self) -> Option<&Queued> {
        self.packets.front()
    }

    pub(super) fn youngest(&self) -> Option<&Queued> {
        self.packets.back()
    }

    /// How long the oldest packet has waited at `now`; zero if there is none.
    pub(super) fn age(&self, now: Instant) -> Duration {
        self.oldest()
            .map_or(Duration::ZERO, |oldest| now - oldest.arrived)
    }

    /// The packets, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.packets.iter()
    }

    /// Takes the packet out that has `place` packets before it.
    pub(super) fn remove(&mut self, place: usize) -> Option<Queued> {
        let removed = self.packets.remove(place)?;
        self.bytes -= removed.size;
        Some(removed)
    }

    pub(super) fn push(&mut self, newest: Queued) {
        self.bytes += newest.size;
        self.packets.push_back(newest);
    }

    pub(super) fn pop(&mut self) -> Option<Queued> {
        let oldest = self.packets.pop_front()?;
        self.bytes -= oldest.size;
        Some(oldest)
    }

    pub(super) fn pop_youngest(&mut self) -> Option<Queued> {
        let youngest = self.packets.pop_back()?;
        self.bytes -= youngest.size;
        Some(youngest)
    }

    /// Gives away all packets, the oldest first.
    pub(super) fn drain(&mut self) -> Vec<Queued> {
        self.bytes = Bytes::ZERO;
        self.packets.drain(..).collect()
    }

    /// Drops from the youngest packet on what no longer fits.
    pub(super) fn shed(&mut self, port: &mut Port) {
        while self
            .youngest()
            .is_some_and(|youngest| !port.fits(youngest.size))
        {
            if let Some(youngest) = self.pop_youngest() {
                port.drop(youngest, DropCause::Shrunk);
            }
        }
    }

    /// Drops the oldest packet if the youngest no longer fits, and returns whether it did.
    pub(super) fn shed_oldest(&mut self, port: &mut Port) -> bool {
        let youngest = self.youngest();
        let is_over = youngest.is_some_and(|youngest| !port.fits(youngest.size));
        if is_over && let Some(oldest) = self.pop() {
            port.drop(oldest, DropCause::Shrunk);
        }
        is_over
    }
}

/// The number of the one with the most bytes, the first of several; none if all are empty.
pub(super) fn longest<'a>(fifos: impl Iterator<Item = (usize, &'a Fifo)>) -> Option<usize> {
    let mut longest = None;
    let mut most = Bytes::ZERO;
    for (number, fifo) in fifos {
        if fifo.bytes > most {
            (longest, most) = (Some(number), fifo.bytes);
        }
    }
    longest
}

/// All packets of several in the order of arrival; those that came at the same time keep their order.
pub(super) fn by_arrival(packets: impl Iterator<Item = Queued>) -> Vec<Queued> {
    let mut packets: Vec<Queued> = packets.collect();
    packets.sort_by_key(|packet| packet.arrived);
    packets
}
