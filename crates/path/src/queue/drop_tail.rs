//! Drop-tail: first in, first out; a packet that does not fit is dropped (RFC 7567 section 2).

use super::discipline::Discipline;
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use std::collections::VecDeque;

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
    #[inline(always)] // nearly every packet of nearly every link
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        if port.fits(newest.size) {
            self.packets.push_back(newest);
        } else {
            port.drop(newest, DropCause::Full);
        }
    }

    #[inline]
    fn dequeue(&mut self, _: &mut Port) -> Option<Queued> {
        self.packets.pop_front()
    }

    fn shed(&mut self, port: &mut Port) {
        while self
            .packets
            .back()
            .is_some_and(|youngest| !port.fits(youngest.size))
        {
            if let Some(youngest) = self.packets.pop_back() {
                port.drop(youngest, DropCause::Shrunk);
            }
        }
    }

    fn drain(&mut self, _: &Port) -> Vec<Queued> {
        self.packets.drain(..).collect()
    }

    fn adopt(&mut self, waiting: Queued) {
        self.packets.push_back(waiting);
    }
}
