//! Queue disciplines: which packet leaves next, and which ones are dropped or marked.
//!
//! Adding one: a file with a type that implements [`Discipline`], a variant of [`QueueConfig`] and its sample, a
//! variant and two lines in [`Active`], a line in `models.rs`. A discipline with a timer catches up with
//! `port.now()` when it is called; the link calls it in order of time.

#[cfg(test)]
mod bench;
mod cake;
mod clock;
mod codel;
mod discipline;
mod drop_tail;
mod dualpi2;
#[cfg(test)]
mod fairness;
mod fifo;
mod fq_codel;
mod head_drop;
mod outer_flows;
mod pie;
mod red;
mod step;

use crate::Limit;
use crate::buffer::Queued;
use crate::port::Port;
use crate::stats::Count;
use cake::Cake;
pub use cake::{AckFilter, CakeConfig, Cells, Framing};
use codel::Codel;
pub use codel::CodelConfig;
pub(crate) use discipline::Discipline;
use drop_tail::DropTail;
use dualpi2::DualPi2;
pub use dualpi2::{DualPi2Config, DualPi2Scheduler};
use fq_codel::FqCodel;
pub use fq_codel::FqCodelConfig;
use head_drop::HeadDrop;
pub(crate) use outer_flows::OuterFlows;
use pie::Pie;
pub use pie::PieConfig;
use red::Red;
pub use red::RedConfig;
use step::Step;
pub use step::StepConfig;
use thalweg_units::{Instant, Rate};

/// The queue discipline of a link. Its size is the limit of the link, whatever the discipline.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum QueueConfig {
    /// First in, first out; a packet that does not fit is dropped.
    #[default]
    DropTail,
    /// First in, first out; a packet that does not fit displaces the oldest ones (RFC 7567 section 2).
    HeadDrop,
    /// Drops with a probability linear in the average length of the queue (Floyd and Jacobson 1993).
    Red(RedConfig),
    /// Drops from the head at a growing rate while the queue delay stays above a target (RFC 8289).
    Codel(CodelConfig),
    /// Fair queueing among flows, each under CoDel (RFC 8290).
    FqCodel(FqCodelConfig),
    /// A shaper and fair queueing among flows, each under COBALT (Høiland-Jørgensen, Täht and Morton 2018).
    Cake(CakeConfig),
    /// Drops with a probability controlled by the delay and its growth (RFC 8033).
    Pie(PieConfig),
    /// A shallow queue for L4S, coupled to a PI-squared queue for the rest (RFC 9332).
    DualPi2(DualPi2Config),
    /// Marks every packet that finds more than a threshold waiting (RFC 8257 section 3.1).
    Step(StepConfig),
}

impl QueueConfig {
    /// Each discipline once, with the defaults of its document: tests and the fuzzer try all of them.
    pub fn samples() -> Vec<QueueConfig> {
        vec![
            QueueConfig::DropTail,
            QueueConfig::HeadDrop,
            QueueConfig::Red(RedConfig::default()),
            QueueConfig::Codel(CodelConfig::default()),
            QueueConfig::FqCodel(FqCodelConfig::default()),
            QueueConfig::Cake(CakeConfig::default()),
            QueueConfig::Pie(PieConfig::default()),
            QueueConfig::DualPi2(DualPi2Config::default()),
            QueueConfig::Step(StepConfig {
                threshold: Limit::Packets(65), // as the schema of scenarios has it
                drop: false,
            }),
        ]
    }
}

/// Any discipline. Drop-tail is a branch away, because most links have it and it takes a few nanoseconds.
#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(DropTail),
    Active(Box<Active>),
}

/// Active queue management.
#[derive(Debug)]
pub(crate) enum Active {
    HeadDrop(HeadDrop),
    Red(Red),
    Codel(Codel),
    FqCodel(FqCodel),
    Cake(Cake),
    Pie(Pie),
    DualPi2(DualPi2),
    Step(Step),
}

impl Queue {
    /// An empty one in force from `since` on. A discipline that draws at random has the stream `queue` of `seed`.
    pub(crate) fn new(config: &QueueConfig, seed: u64, since: Instant) -> Self {
        Queue::Active(Box::new(match config {
            QueueConfig::DropTail => return Queue::DropTail(DropTail::new()),
            QueueConfig::HeadDrop => Active::HeadDrop(HeadDrop::default()),
            QueueConfig::Red(config) => Active::Red(Red::new(config, seed, since)),
            QueueConfig::Codel(config) => Active::Codel(Codel::new(config)),
            QueueConfig::FqCodel(config) => Active::FqCodel(FqCodel::new(config, seed)),
            QueueConfig::Cake(config) => Active::Cake(Cake::new(config, seed, since)),
            QueueConfig::Pie(config) => Active::Pie(Pie::new(config, seed, since)),
            QueueConfig::DualPi2(config) => Active::DualPi2(DualPi2::new(config, since)),
            QueueConfig::Step(config) => Active::Step(Step::new(config)),
        }))
    }

    /// A discipline that draws at random has the stream of another seed from now on. How it tells flows apart stays.
    pub(crate) fn reseed(&mut self, seed: u64) {
        let Queue::Active(active) = self else { return };
        match &mut **active {
            Active::Red(queue) => queue.reseed(seed),
            Active::Pie(queue) => queue.reseed(seed),
            Active::Cake(queue) => queue.reseed(seed),
            Active::HeadDrop(_)
            | Active::Codel(_)
            | Active::FqCodel(_)
            | Active::DualPi2(_)
            | Active::Step(_) => {}
        }
    }

    /// Whether it wants to know of each packet whether it is an ACK.
    pub(crate) fn filters_acks(&self) -> bool {
        matches!(self, Queue::Active(active) if matches!(&**active, Active::Cake(queue) if queue.filters_acks()))
    }

    /// The rate at which what waits leaves its shaper, if it has one.
    pub(crate) fn shaped(&self, waiting: Count) -> Option<Rate> {
        match self {
            Queue::DropTail(_) => None,
            Queue::Active(active) => match &**active {
                Active::Cake(queue) => queue.shaped(waiting),
                _ => None,
            },
        }
    }

    /// Flows of a tunnel count as one from now on, for a discipline that tells flows apart.
    pub(crate) fn enter_tunnels(&mut self, tunnels: &OuterFlows) {
        if let Queue::Active(active) = self
            && let Active::FqCodel(FqCodel { outer, .. }) | Active::Cake(Cake { outer, .. }) =
                &mut **active
        {
            outer.clone_from(tunnels);
        }
    }
}

impl Discipline for Queue {
    #[inline(always)] // see `Queue`
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        match self {
            Queue::DropTail(queue) => queue.enqueue(newest, port),
            Queue::Active(queue) => queue.enqueue(newest, port),
        }
    }
    #[inline]
    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        match self {
            Queue::DropTail(queue) => queue.dequeue(port),
            Queue::Active(queue) => queue.dequeue(port),
        }
    }
    fn shed(&mut self, port: &mut Port) {
        match self {
            Queue::DropTail(queue) => queue.shed(port),
            Queue::Active(queue) => queue.shed(port),
        }
    }
    fn drain(&mut self, port: &Port) -> Vec<Queued> {
        match self {
            Queue::DropTail(queue) => queue.drain(port),
            Queue::Active(queue) => queue.drain(port),
        }
    }
    fn adopt(&mut self, waiting: Queued) {
        match self {
            Queue::DropTail(queue) => queue.adopt(waiting),
            Queue::Active(queue) => queue.adopt(waiting),
        }
    }
}

/// Calls the method of whichever discipline it is.
macro_rules! each {
    ($queue:expr, $discipline:ident => $call:expr) => {
        match $queue {
            Active::HeadDrop($discipline) => $call,
            Active::Red($discipline) => $call,
            Active::Codel($discipline) => $call,
            Active::FqCodel($discipline) => $call,
            Active::Cake($discipline) => $call,
            Active::Pie($discipline) => $call,
            Active::DualPi2($discipline) => $call,
            Active::Step($discipline) => $call,
        }
    };
}

impl Discipline for Active {
    #[inline(never)]
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        each!(self, discipline => discipline.enqueue(newest, port));
    }
    #[inline(never)]
    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        each!(self, discipline => discipline.dequeue(port))
    }
    fn shed(&mut self, port: &mut Port) {
        each!(self, discipline => discipline.shed(port));
    }
    fn drain(&mut self, port: &Port) -> Vec<Queued> {
        each!(self, discipline => discipline.drain(port))
    }
    fn adopt(&mut self, waiting: Queued) {
        each!(self, discipline => discipline.adopt(waiting));
    }
}
