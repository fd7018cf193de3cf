//! A plain list of waiting packets, as the disciplines are built of it.

use crate::buffer::Queued;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Queued>,
    bytes: Bytes,
}

impl Fifo {
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

    pub(super) fn youngest(&self) -> Option<&Queued> {
        self.packets.back()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// How long the packet that leaves next has waited; nothing if none waits.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let head = self.packets.front();
        head.map_or(Duration::ZERO, |packet| now - packet.arrived)
    }
}
