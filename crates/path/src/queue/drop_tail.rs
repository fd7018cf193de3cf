//! Drop-tail: first in, first out; a packet that does not fit is dropped (RFC 7567 section 1).

use super::Discipline;
use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use std::collections::VecDeque;
use thalweg_units::Bytes;

#[derive(Debug)]
pub(crate) struct DropTail {
    packets: VecDeque<Queued>,
}

impl DropTail {
    pub(super) fn new() -> Self {
        DropTail {
            packets: VecDeque::new(),
        }
    }
}

impl Discipline for DropTail {
    #[inline]
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        if buffer.fits(newest.size) {
            self.packets.push_back(newest);
        } else {
            buffer.drop(newest, DropCause::Full);
        }
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Buffer) -> Option<Queued> {
        self.packets.pop_front()
    }

    fn youngest(&self) -> Option<Bytes> {
        self.packets.back().map(|packet| packet.size)
    }

    fn take_youngest(&mut self) -> Option<Queued> {
        self.packets.pop_back()
    }
}
