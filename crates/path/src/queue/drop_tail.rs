//! Drop-tail: first in, first out; a packet that does not fit is dropped (RFC 7567 section 1).

use super::Discipline;
use crate::buffer::{Buffer, Queued};
use crate::{DropCause, Packet};
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct DropTail<P> {
    packets: VecDeque<Queued<P>>,
}

impl<P> DropTail<P> {
    pub(super) fn new() -> Self {
        DropTail {
            packets: VecDeque::new(),
        }
    }
}

impl<P: Packet> Discipline<P> for DropTail<P> {
    #[inline]
    fn enqueue(&mut self, newest: Queued<P>, buffer: &mut Buffer) {
        if buffer.fits(newest.size()) {
            self.packets.push_back(newest);
        } else {
            buffer.drop(newest, DropCause::Full);
        }
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Buffer) -> Option<Queued<P>> {
        self.packets.pop_front()
    }

    fn shed(&mut self, buffer: &mut Buffer) {
        while self
            .packets
            .back()
            .is_some_and(|youngest| !buffer.fits(youngest.size()))
        {
            if let Some(youngest) = self.packets.pop_back() {
                buffer.drop(youngest, DropCause::Shrunk);
            }
        }
    }
}
