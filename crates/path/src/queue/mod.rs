//! Queue disciplines: which packet leaves next, and which ones are dropped or marked.
//!
//! Adding one: a file with a type that implements [`Discipline`], a variant of [`QueueConfig`], a variant
//! and two lines in [`Queue`], a line in `models.rs`. A discipline with a timer catches up with
//! `buffer.now` when it is called; the link calls it in order of time.

mod clock;
mod codel;
mod drop_tail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod pie;
mod red;

use crate::buffer::{Buffer, Queued};
use codel::Codel;
pub use codel::CodelConfig;
use drop_tail::DropTail;
use dualpi2::DualPi2;
pub use dualpi2::{DualPi2Config, DualPi2Scheduler};
use fq_codel::FqCodel;
pub use fq_codel::FqCodelConfig;
use pie::Pie;
pub use pie::PieConfig;
use red::Red;
pub use red::RedConfig;

/// The queue discipline of a link. Its size is the limit of the link, whatever the discipline.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum QueueConfig {
    /// First in, first out; a packet that does not fit is dropped.
    #[default]
    DropTail,
    /// Drops with a probability linear in the average length of the queue (Floyd and Jacobson 1993).
    Red(RedConfig),
    /// Drops from the head, ever more often, while the wait stays above a target (RFC 8289).
    Codel(CodelConfig),
    /// Fair queueing among flows, each governed by CoDel (RFC 8290).
    FqCodel(FqCodelConfig),
    /// Drops with a probability steered by the delay and its growth (RFC 8033).
    Pie(PieConfig),
    /// A shallow queue for L4S, coupled to a PI-squared queue for the rest (RFC 9332).
    DualPi2(DualPi2Config),
}

/// What a link asks of a queue discipline.
///
/// The buffer counts what waits: a packet is in the count from before `enqueue` until it is returned by
/// `dequeue` (the link books that) or handed to [`Buffer::drop`].
pub(crate) trait Discipline {
    /// Keeps the packet, marked or not, or drops it, or drops others in its favour.
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer);

    /// The packet to transmit from now on, after those that are dropped in its place. None only when
    /// nothing waits any more.
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued>;

    /// The nominal capacity or the limit has changed: drops what no longer fits, from the youngest on
    /// unless the discipline has another order.
    fn shed(&mut self, buffer: &mut Buffer);
}

/// Any discipline, without a virtual call per packet.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Red(Box<Red>),
    Codel(Box<Codel>),
    FqCodel(Box<FqCodel>),
    Pie(Box<Pie>),
    DualPi2(Box<DualPi2>),
}

impl Queue {
    /// `seed` is that of the link: a discipline that draws at random has the stream `queue`.
    pub(crate) fn new(config: &QueueConfig, seed: u64) -> Self {
        match config {
            QueueConfig::DropTail => Queue::DropTail(DropTail::new()),
            QueueConfig::Red(config) => Queue::Red(Box::new(Red::new(config, seed))),
            QueueConfig::Codel(config) => Queue::Codel(Box::new(Codel::new(config))),
            QueueConfig::FqCodel(config) => Queue::FqCodel(Box::new(FqCodel::new(config, seed))),
            QueueConfig::Pie(config) => Queue::Pie(Box::new(Pie::new(config, seed))),
            QueueConfig::DualPi2(config) => Queue::DualPi2(Box::new(DualPi2::new(config))),
        }
    }
}

/// Calls the method of whichever discipline it is.
macro_rules! each {
    ($queue:expr, $discipline:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($discipline) => $call,
            Queue::Red($discipline) => $call,
            Queue::Codel($discipline) => $call,
            Queue::FqCodel($discipline) => $call,
            Queue::Pie($discipline) => $call,
            Queue::DualPi2($discipline) => $call,
        }
    };
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        each!(self, discipline => discipline.enqueue(newest, buffer));
    }
    #[inline]
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        each!(self, discipline => discipline.dequeue(buffer))
    }
    fn shed(&mut self, buffer: &mut Buffer) {
        each!(self, discipline => discipline.shed(buffer));
    }
}
