//! The discipline of a link over time: changes to another one, and the flows that it cannot tell apart.

use super::Link;
use crate::Packet;
use crate::buffer::Queued;
use crate::queue::{Discipline, OuterFlows, Queue};
use crate::random::{key, mixed};
use std::sync::Arc;

impl<P: Packet> Link<P> {
    /// Puts flows into tunnels, before the first packet: `outer` has for each flow, by its index, the one that stands for its
    /// tunnel, or itself. Flows beyond its end are in none. Disciplines that tell flows apart see the outer ones, also those
    /// that a change brings; counters have the flows themselves.
    pub fn enter_tunnels(&mut self, outer: &Arc<[u64]>) {
        self.outer = OuterFlows::new(outer);
        self.queue.enter_tunnels(&self.outer);
    }

    /// Passes a packet to active queue management, with what that wants to know of it.
    #[inline(never)]
    pub(super) fn enqueue_actively(&mut self, mut queued: Queued) {
        if self.queue.filters_acks() {
            let packet = self.store.get_mut(queued.slot);
            queued.is_ack = packet.is_some_and(|packet| packet.is_ack());
        }
        self.queue.enqueue(queued, &mut self.port);
    }

    /// Puts the discipline of the schedule in the place of another, which hands over what waits.
    pub(super) fn change_queue(&mut self) {
        let reign = (self.schedule).reign(self.position.index(), self.position.cycle());
        if reign.number == self.reign {
            return;
        }
        self.reign = reign.number;
        let seed = mixed(key(self.seed, "discipline"), reign.number);
        let mut next = Queue::new(reign.queue, seed, reign.since);
        next.enter_tunnels(&self.outer);
        for waiting in std::mem::replace(&mut self.queue, next).drain(&self.port) {
            self.queue.adopt(waiting);
        }
    }
}
