//! FQ-CoDel: fair queueing among flows, each under CoDel (RFC 8290).
//!
//! # Model
//! The flow of a packet is hashed to one of `flows` queues. Queues are served by deficit round robin,
//! `quantum` bytes a turn; a queue that has just become active is served before all that are not new.
//! When the link's limit is exceeded, the fattest queue loses half of what it holds, at most
//! `drop_batch` packets, from its head.
//!
//! Flows of a tunnel have one 5-tuple, since the discipline sees only the outer header: they share a queue (RFC 8290
//! section 6.2).
//!
//! # Limits
//! No Diffserv. What a tunnel adds to its packets is not part of it. The hash is keyed with the seed of the trial and
//! never changes during a trial.

use super::codel::{CodelConfig, Control};
use super::discipline::Discipline;
use super::fifo::{Fifo, by_arrival, longest};
use super::outer_flows::OuterFlows;
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use crate::random::{at, key};
use std::collections::VecDeque;
use thalweg_random::below;
use thalweg_units::Bytes;

#[cfg(test)]
mod tests;

/// Parameters of FQ-CoDel. The size of the queue, 10240 packets by RFC 8290 section 5.2.3, is the limit of
/// the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// Number of queues that flows are hashed to (RFC 8290 section 5.2.5): 1024. One queue makes CoDel
    /// with drops from the head at overflow. Zero counts as one.
    pub flows: u32,
    /// Bytes that a queue may send in a turn (RFC 8290 section 5.2.4): 1514. Zero counts as one.
    pub quantum: Bytes,
    /// The most packets dropped at once from the fattest queue (RFC 8290 section 4.1): 64. Zero counts
    /// as one.
    pub drop_batch: u32,
    /// CoDel of each queue (RFC 8290 sections 5.2.1, 5.2.2, 5.2.6 and 5.2.7).
    pub codel: CodelConfig,
}

impl Default for FqCodelConfig {
    fn default() -> Self {
        FqCodelConfig {
            flows: 1024,
            quantum: Bytes::new(1514),
            drop_batch: 64,
            codel: CodelConfig::default(),
        }
    }
}

/// One of the queues.
#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    control: Control,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    /// Whether it is on one of the lists.
    active: bool,
}

/// Fair queueing with CoDel.
#[derive(Debug)]
pub(crate) struct FqCodel {
    config: FqCodelConfig,
    quantum: i64,
    key: u64,
    flows: Vec<Flow>,
    /// Queues that have become active and have not had their first turn.
    new: VecDeque<usize>,
    /// Other active queues, in the order of their turns.
    old: VecDeque<usize>,
    pub(super) outer: OuterFlows,
}

impl FqCodel {
    pub(super) fn new(config: &FqCodelConfig, seed: u64) -> Self {
        let mut flows = Vec::new();
        flows.resize_with(config.flows.max(1) as usize, Flow::default);
        FqCodel {
            config: *config,
            quantum: i64::try_from(config.quantum.as_u64().max(1)).unwrap_or(i64::MAX / 2),
            key: key(seed, "queue"),
            flows,
            new: VecDeque::new(),
            old: VecDeque::new(),
            outer: OuterFlows::default(),
        }
    }

    /// The queue of a flow (RFC 8290 section 4.1).
    fn queue_of(&self, flow: u64) -> usize {
        let mut hash = at(self.key, self.outer.of(flow));
        below(&mut hash, self.flows.len() as u64) as usize
    }

    /// The queue with the most bytes, the first of several.
    fn fattest(&self) -> Option<usize> {
        // What waits is on a list.
        let active = self.new.iter().chain(&self.old);
        longest(active.map(|index| (*index, &self.flows[*index].fifo)))
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        self.adopt(newest);
        // RFC 8290 section 4.1: one search pays for many drops.
        while !port.fits(newest.size)
            && let Some(fattest) = self.fattest()
        {
            let fifo = &mut self.flows[fattest].fifo;
            let half = fifo.len().div_ceil(2);
            for _ in 0..half.min(self.config.drop_batch.max(1) as usize) {
                if let Some(oldest) = fifo.pop() {
                    port.drop(oldest, DropCause::Full);
                }
            }
        }
    }

    /// RFC 8290 section 4.2.
    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let leaves = flow
                .control
                .dequeue(&self.config.codel, &mut flow.fifo, port);
            if let Some(packet) = leaves {
                flow.deficit -= i64::try_from(packet.size.as_u64()).unwrap_or(i64::MAX);
                return Some(packet);
            }
            list.pop_front();
            if is_new {
                // An empty new queue gives the old ones a turn before it may be new again.
                self.old.push_back(index);
            } else {
                flow.active = false;
            }
        }
    }

    fn shed(&mut self, port: &mut Port) {
        while let Some(fattest) = self.fattest()
            && self.flows[fattest].fifo.shed_oldest(port)
        {}
    }

    fn drain(&mut self, _: &Port) -> Vec<Queued> {
        let active = self.new.iter().chain(&self.old);
        by_arrival(active.flat_map(|index| self.flows[*index].fifo.drain()))
    }

    #[inline]
    fn adopt(&mut self, waiting: Queued) {
        let index = self.queue_of(waiting.flow);
        let flow = &mut self.flows[index];
        flow.fifo.push(waiting);
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new.push_back(index);
        }
    }
}
