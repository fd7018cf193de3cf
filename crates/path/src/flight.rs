//! Packets that have been transmitted, or are being transmitted, and have not arrived.

use crate::store::Slot;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use thalweg_units::{Duration, Instant};

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flying {
    pub(crate) arrival: Instant,
    /// Delay in excess of transmission and propagation.
    pub(crate) jitter: Duration,
    pub(crate) slot: Slot,
}

/// All packets in flight, the next arrival first.
#[derive(Debug)]
pub(crate) enum Flight {
    /// No packet overtakes another: the experienced delay is a running maximum.
    InOrder(VecDeque<Flying>),
    /// Each packet arrives at its own time; equal times keep the order of transmission.
    Reordering {
        heap: BinaryHeap<Numbered>,
        next: u64,
    },
}

/// A packet in the heap, whose order is by arrival and then by number, earliest on top.
#[derive(Debug)]
pub(crate) struct Numbered {
    number: u64,
    flying: Flying,
}

impl Flight {
    pub(crate) fn new(reorder: bool) -> Self {
        if reorder {
            Flight::Reordering {
                heap: BinaryHeap::new(),
                next: 0,
            }
        } else {
            Flight::InOrder(VecDeque::new())
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, flying: Flying) {
        match self {
            Flight::InOrder(queue) => queue.push_back(flying),
            Flight::Reordering { heap, next } => {
                heap.push(Numbered {
                    number: *next,
                    flying,
                });
                *next += 1;
            }
        }
    }

    /// When the next packet arrives.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        match self {
            Flight::InOrder(queue) => queue.front().map(|flying| flying.arrival),
            Flight::Reordering { heap, .. } => heap.peek().map(|top| top.flying.arrival),
        }
    }

    /// The next packet that arrives.
    pub(crate) fn first(&self) -> Option<&Flying> {
        match self {
            Flight::InOrder(queue) => queue.front(),
            Flight::Reordering { heap, .. } => heap.peek().map(|top| &top.flying),
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Flying> {
        match self {
            Flight::InOrder(queue) => queue.pop_front(),
            Flight::Reordering { heap, .. } => heap.pop().map(|top| top.flying),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Flight::InOrder(queue) => queue.len(),
            Flight::Reordering { heap, .. } => heap.len(),
        }
    }
}

impl Numbered {
    fn key(&self) -> (Instant, u64) {
        (self.flying.arrival, self.number)
    }
}
impl PartialEq for Numbered {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Numbered {}
impl PartialOrd for Numbered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Numbered {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}
