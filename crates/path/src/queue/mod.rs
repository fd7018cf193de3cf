//! Queue disciplines: which packet leaves next, and which ones are dropped or marked.
//!
//! Adding one: a file with a type that implements [`Discipline`], a variant of [`QueueConfig`], a variant
//! and three lines in [`Queue`], a line in `models.rs`. A discipline with a timer catches up with
//! `buffer.now` when it is called; the link calls it in order of time.

mod drop_tail;

use crate::buffer::{Buffer, Queued};
use drop_tail::DropTail;

/// The queue discipline of a link. Its size is the limit of the link, whatever the discipline.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum QueueConfig {
    /// First in, first out; a packet that does not fit is dropped.
    #[default]
    DropTail,
}

/// What a link asks of a queue discipline.
///
/// The buffer counts what waits: a packet is in the count from before `enqueue` until it is returned by
/// `dequeue` (the link books that) or handed to [`Buffer::drop`].
pub(crate) trait Discipline {
    /// Keeps the packet, or drops it, or drops others in its favour.
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer);

    /// The packet to transmit from now on. None only when nothing waits any more.
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued>;

    /// The capacity or the limit has changed: drops, from the youngest on, what no longer fits.
    fn shed(&mut self, buffer: &mut Buffer);
}

/// Any discipline, without a virtual call per packet.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    pub(crate) fn new(config: &QueueConfig) -> Self {
        match config {
            QueueConfig::DropTail => Queue::DropTail(DropTail::new()),
        }
    }
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        match self {
            Queue::DropTail(queue) => queue.enqueue(newest, buffer),
        }
    }
    #[inline]
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        match self {
            Queue::DropTail(queue) => queue.dequeue(buffer),
        }
    }
    fn shed(&mut self, buffer: &mut Buffer) {
        match self {
            Queue::DropTail(queue) => queue.shed(buffer),
        }
    }
}
