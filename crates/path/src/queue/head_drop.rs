//! Head drop: first in, first out; a packet that does not fit displaces the oldest ones (RFC 7567 section 2, "head drop
//! on full"; `pfifo_head_drop` of Linux).
//!
//! # Model
//! The loss shows a queue earlier to the receiver than drop-tail does: the packets behind the gap have waited already
//! (Lakshman, Neidhardt and Ott, "The Drop from Front Strategy in TCP and in TCP over ATM", INFOCOM 1996). The packet in
//! transmission stays. What no longer fits after a change of the limit leaves from the oldest packet on too.
//!
//! # Limits
//! One queue; it neither marks nor controls the delay.

use super::discipline::Discipline;
use super::fifo::Fifo;
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;

/// One queue that drops from its head.
#[derive(Debug, Default)]
pub(crate) struct HeadDrop {
    fifo: Fifo,
}

impl Discipline for HeadDrop {
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        while !port.fits(newest.size) {
            let Some(oldest) = self.fifo.pop() else {
                port.drop(newest, DropCause::Full);
                return;
            };
            port.drop(oldest, DropCause::Full);
        }
        self.fifo.push(newest);
    }

    fn dequeue(&mut self, _: &mut Port) -> Option<Queued> {
        self.fifo.pop()
    }

    fn shed(&mut self, port: &mut Port) {
        while self.fifo.shed_oldest(port) {}
    }

    fn drain(&mut self, _: &Port) -> Vec<Queued> {
        self.fifo.drain()
    }

    fn adopt(&mut self, waiting: Queued) {
        self.fifo.push(waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;
    use crate::queue::bench::Bench;
    use crate::test_packet::at;
    use thalweg_units::{Bytes, Ecn};

    #[test]
    fn a_packet_that_does_not_fit_displaces_the_oldest_ones() {
        let mut bench = Bench::new(HeadDrop::default(), Limit::Packets(3));
        for flow in 0..5 {
            bench.put(at(flow), flow, 1000, Ecn::Ect0);
        }
        // Three wait: 0 and 1 have made room for 3 and 4. A drop-tail queue would have kept 0, 1 and 2.
        let drops = bench.drops();
        assert_eq!(drops.len(), 2);
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Full));
        let left: Vec<_> = std::iter::from_fn(|| bench.take(at(9))).collect();
        assert_eq!(
            left.iter().map(|packet| packet.flow).collect::<Vec<_>>(),
            [2, 3, 4]
        );
    }

    #[test]
    fn a_packet_that_is_larger_than_the_limit_is_dropped_itself() {
        let mut bench = Bench::new(HeadDrop::default(), Limit::Bytes(Bytes::new(1500)));
        bench.put(at(0), 0, 1000, Ecn::NotEct);
        bench.put(at(1), 1, 2000, Ecn::NotEct);
        bench.put(at(2), 2, 1500, Ecn::NotEct);
        assert_eq!(bench.take(at(3)).map(|packet| packet.flow), Some(2));
        assert_eq!(bench.drops().len(), 2);
    }
}
