//! Queue disciplines: which packet leaves next, and which ones are dropped or marked.
//!
//! Adding one: a file with a type that implements [`Discipline`], a variant of [`QueueConfig`], a variant
//! and a line in [`Queue`], a line in `models.rs`. A discipline with a timer catches up with `buffer.now`
//! when it is called; the link calls it in order of time.

mod codel;
mod drop_tail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod pie;
#[cfg(test)]
mod properties;
mod red;
#[cfg(test)]
mod testing;

use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use crate::random::stream;
use codel::Codel;
use drop_tail::DropTail;
use dualpi2::DualPi2;
use fq_codel::FqCodel;
use pie::Pie;
use rand_core::Rng;
use red::Red;
use thalweg_units::{Bytes, Ecn};

pub use codel::CodelConfig;
pub use dualpi2::DualPi2Config;
pub use fq_codel::FqCodelConfig;
pub use pie::PieConfig;
pub use red::RedConfig;

/// The queue discipline of a link. Its size is the limit of the link, whatever the discipline.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum QueueConfig {
    /// First in, first out; a packet that does not fit is dropped.
    #[default]
    DropTail,
    /// Controlled delay (RFC 8289).
    Codel(CodelConfig),
    /// Fair queueing with CoDel (RFC 8290).
    FqCodel(FqCodelConfig),
    /// Proportional integral controller enhanced (RFC 8033).
    Pie(PieConfig),
    /// Dual-queue coupled AQM for L4S (RFC 9332).
    DualPi2(DualPi2Config),
    /// Random early detection (Floyd and Jacobson 1993).
    Red(RedConfig),
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

    /// Size of the youngest packet that waits.
    fn youngest(&self) -> Option<Bytes>;

    /// Gives up the youngest packet that waits.
    fn take_youngest(&mut self) -> Option<Queued>;

    /// The capacity or the limit has changed: drops, from the youngest on, what no longer fits.
    fn shed(&mut self, buffer: &mut Buffer) {
        while self.youngest().is_some_and(|size| !buffer.fits(size)) {
            if let Some(youngest) = self.take_youngest() {
                buffer.drop(youngest, DropCause::Shrunk);
            }
        }
    }
}

/// Any discipline, without a virtual call per packet.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Codel(Codel),
    FqCodel(FqCodel),
    Pie(Pie),
    DualPi2(DualPi2),
    Red(Red),
}

impl Queue {
    /// `seed` is that of the link.
    pub(crate) fn new(config: &QueueConfig, seed: u64) -> Self {
        let rng = || stream(seed, "queue");
        match config {
            QueueConfig::DropTail => Queue::DropTail(DropTail::new()),
            QueueConfig::Codel(config) => Queue::Codel(Codel::new(*config)),
            QueueConfig::FqCodel(config) => Queue::FqCodel(FqCodel::new(*config, rng().next_u64())),
            QueueConfig::Pie(config) => Queue::Pie(Pie::new(*config, rng())),
            QueueConfig::DualPi2(config) => Queue::DualPi2(DualPi2::new(*config, rng())),
            QueueConfig::Red(config) => Queue::Red(Red::new(*config, rng())),
        }
    }
}

/// Hands a call to whichever discipline there is.
macro_rules! dispatch {
    ($queue:expr, $inner:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($inner) => $call,
            Queue::Codel($inner) => $call,
            Queue::FqCodel($inner) => $call,
            Queue::Pie($inner) => $call,
            Queue::DualPi2($inner) => $call,
            Queue::Red($inner) => $call,
        }
    };
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        dispatch!(self, queue => queue.enqueue(newest, buffer));
    }
    #[inline]
    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        dispatch!(self, queue => queue.dequeue(buffer))
    }
    fn youngest(&self) -> Option<Bytes> {
        dispatch!(self, queue => queue.youngest())
    }
    fn take_youngest(&mut self) -> Option<Queued> {
        dispatch!(self, queue => queue.take_youngest())
    }
}

/// Whether a mark tells the sender of a packet something (RFC 3168 section 5).
fn is_capable(ecn: Ecn) -> bool {
    ecn != Ecn::NotEct
}

/// Spreads neighbouring numbers over the whole range (the finaliser of splitmix64).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
