//! FQ-CoDel: fair queueing of flows, each under CoDel (RFC 8290).
//!
//! # Model
//! Flows are hashed to queues; the queues take turns by deficit round robin. A queue that was empty is new:
//! it is served before the others until it has used up its quantum, which favours sparse flows. When the whole
//! is full, the queue with the most bytes loses half of its packets, at most 64, from its head.
//!
//! # Limits
//! The limit is that of the link. The simulator's flows are its connections; an emulator hashes the 5-tuple.

use super::codel::{CodelConfig, Control};
use super::fifo::Fifo;
use super::{Discipline, mix};
use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use std::collections::VecDeque;
use thalweg_units::Bytes;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelConfig {
    /// Of each queue.
    pub codel: CodelConfig,
    /// Number of queues; 1024 (RFC 8290 section 5.2.4). One queue is plain CoDel with this overload behaviour.
    pub flows: u32,
    /// Bytes that a queue may send in a round; 1514 (section 5.2.3).
    pub quantum: Bytes,
}

impl Default for FqCodelConfig {
    fn default() -> Self {
        FqCodelConfig {
            codel: CodelConfig::default(),
            flows: 1024,
            quantum: Bytes::new(1514),
        }
    }
}

/// Most packets that a full queue loses at once (RFC 8290 section 4.1).
const BATCH: usize = 64;

#[derive(Debug, Default)]
struct FlowQueue {
    packets: Fifo,
    control: Control,
    deficit: i64,
    /// Whether it is on one of the two lists.
    active: bool,
}

#[derive(Debug)]
pub(crate) struct FqCodel {
    config: FqCodelConfig,
    queues: Vec<FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Makes the hash of each link another (RFC 8290 section 4.1.1).
    perturbation: u64,
    /// The queue that got the newest packet.
    newest: usize,
}

impl FqCodel {
    pub(super) fn new(config: FqCodelConfig, perturbation: u64) -> Self {
        let count = config.flows.max(1) as usize;
        FqCodel {
            config,
            queues: (0..count).map(|_| FlowQueue::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            perturbation,
            newest: 0,
        }
    }

    fn quantum(&self) -> i64 {
        // A quantum of zero would never let anybody send.
        i64::try_from(self.config.quantum.as_u64().max(1)).unwrap_or(i64::MAX)
    }

    /// Drops from the head of the queue with the most bytes (RFC 8290 section 4.1).
    fn drop_from_the_fattest(&mut self, buffer: &mut Buffer) {
        let fattest = self.queues.iter_mut().max_by_key(|q| q.packets.bytes());
        let Some(fattest) = fattest else { return };
        let half = (fattest.packets.len() / 2).clamp(1, BATCH);
        for _ in 0..half {
            if let Some(packet) = fattest.packets.pop() {
                buffer.drop(packet, DropCause::Full);
            }
        }
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        let hash = mix(newest.flow ^ self.perturbation);
        let index = ((u128::from(hash) * self.queues.len() as u128) >> 64) as usize;
        let quantum = self.quantum();
        let queue = &mut self.queues[index];
        queue.packets.push(newest);
        if !queue.active {
            queue.active = true;
            queue.deficit = quantum;
            self.new.push_back(index as u32);
        }
        self.newest = index;
        while buffer.waiting.packets > 0 && !buffer.fits(newest.size) {
            self.drop_from_the_fattest(buffer);
        }
    }

    /// RFC 8290 section 4.2.
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        let quantum = self.quantum();
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let packet = queue
                .control
                .dequeue(&self.config.codel, &mut queue.packets, buffer);
            let Some(packet) = packet else {
                list.pop_front();
                if is_new {
                    // Else a flow that sends a packet at a time would stay new for ever.
                    self.old.push_back(index);
                } else {
                    queue.active = false;
                }
                continue;
            };
            queue.deficit -= packet.size.as_u64() as i64;
            return Some(packet);
        }
    }

    fn youngest(&self) -> Option<Bytes> {
        let by_age = |queue: &&FlowQueue| queue.packets.youngest().map(|packet| packet.arrived);
        let queue = self.queues.iter().max_by_key(by_age)?;
        queue.packets.youngest().map(|packet| packet.size)
    }

    fn take_youngest(&mut self) -> Option<Queued> {
        let by_age = |queue: &&mut FlowQueue| queue.packets.youngest().map(|packet| packet.arrived);
        self.queues
            .iter_mut()
            .max_by_key(by_age)?
            .packets
            .pop_youngest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{Bench, ms};
    use thalweg_units::Ecn;

    fn bench(flows: u32) -> Bench<FqCodel> {
        let config = FqCodelConfig {
            flows,
            ..FqCodelConfig::default()
        };
        Bench::new(FqCodel::new(config, 7), Ecn::NotEct)
    }

    #[test]
    fn flows_share_by_bytes_whatever_the_size_of_their_packets() {
        let mut bench = bench(1024);
        for _ in 0..600 {
            bench.arrive_as(ms(0), 1, 1500);
        }
        for _ in 0..6_000 {
            bench.arrive_as(ms(0), 2, 150);
        }
        let mut bytes = [0u64; 3];
        while bytes[1] + bytes[2] < 600_000 {
            let packet = bench.dequeue(ms(1)).expect("plenty waits");
            bytes[packet.flow as usize] += packet.size.as_u64();
        }
        // Equal to within a quantum and a packet.
        assert!(bytes[1].abs_diff(bytes[2]) <= 1514 + 1500, "{bytes:?}");
    }

    #[test]
    fn a_sparse_flow_overtakes_a_queue() {
        let mut bench = bench(1024);
        for _ in 0..100 {
            bench.arrive_as(ms(0), 1, 1500);
        }
        // The bulk flow is old once it has used up its first quantum of 1514 bytes.
        assert_eq!(bench.dequeue(ms(1)).map(|p| p.flow), Some(1));
        assert_eq!(bench.dequeue(ms(2)).map(|p| p.flow), Some(1));
        bench.arrive_as(ms(2), 2, 200);
        assert_eq!(bench.dequeue(ms(3)).map(|p| p.flow), Some(2));
    }

    #[test]
    fn nobody_starves_however_many_flows_are_new() {
        let mut bench = bench(1024);
        for _ in 0..200 {
            bench.arrive_as(ms(0), 1, 1500);
        }
        let mut served = 0;
        for at in 1..400 {
            // A fresh sparse flow each time.
            bench.arrive_as(ms(at), 100 + at, 300);
            bench.arrive_as(ms(at), 10_000 + at, 300);
            for _ in 0..3 {
                served += usize::from(bench.dequeue(ms(at)).is_some_and(|p| p.flow == 1));
            }
        }
        // Two of three turns go to sparse flows; bulk has the third, or is done.
        assert!(served + bench.dropped() as usize >= 199, "{served}");
    }

    #[test]
    fn an_overflow_takes_half_of_the_fattest_queue_from_its_head() {
        let mut bench = bench(1024);
        bench.buffer.limit = crate::Limit::Packets(100);
        for _ in 0..10 {
            bench.arrive_as(ms(0), 2, 1000);
        }
        for _ in 0..91 {
            bench.arrive_as(ms(0), 1, 1000);
        }
        // The 101st packet overflows: 91 / 2 = 45 of flow 1 go, none of flow 2.
        assert_eq!(bench.dropped(), 45);
        assert_eq!(bench.buffer.counters.flow(2).dropped.packets, 0);
    }

    #[test]
    fn one_queue_is_first_in_first_out() {
        let mut bench = bench(1);
        for flow in 0..50 {
            bench.arrive_as(ms(0), flow, 1000);
        }
        let order: Vec<u64> = (0..50)
            .filter_map(|_| bench.dequeue(ms(1)).map(|p| p.flow))
            .collect();
        assert!(order.is_sorted() && order.len() == 50, "{order:?}");
    }
}
