//! Step marking: every packet that finds more than a threshold in the queue is marked (RFC 8257 section 3.1).
//!
//! # Model
//! First in, first out. The length that counts is the length at the moment at which a packet comes, not an average, and it
//! includes the packet itself and the one in transmission, as the limit of the link does. The threshold K is in packets, bytes,
//! or time at the current nominal capacity. A packet above it that carries ECT is marked; what does not fit is dropped.
//!
//! With `drop`, other packets above the threshold are dropped, as switches do that configure RED with both of its thresholds at K
//! and a weight of one (Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010). Without, they wait.
//!
//! # Limits
//! One queue and one threshold; no marking at departure, for which CoDel has `ce_threshold`.

use super::discipline::Discipline;
use super::fifo::Fifo;
use crate::buffer::Queued;
use crate::port::Port;
use crate::{DropCause, Limit};

/// Parameters of step marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepConfig {
    /// The longest queue in which a packet is not marked: K.
    pub threshold: Limit,
    /// Whether packets that cannot be marked are dropped above the threshold.
    pub drop: bool,
}

/// One queue with a threshold.
#[derive(Debug)]
pub(crate) struct Step {
    config: StepConfig,
    fifo: Fifo,
}

impl Step {
    pub(super) fn new(config: &StepConfig) -> Self {
        Step {
            config: *config,
            fifo: Fifo::default(),
        }
    }
}

impl Discipline for Step {
    fn enqueue(&mut self, mut newest: Queued, port: &mut Port) {
        if !port.fits(newest.size) {
            port.drop(newest, DropCause::Full);
            return;
        }
        if !port.is_within(self.config.threshold, newest.size) {
            if newest.ecn.is_capable() {
                port.mark(&mut newest);
            } else if self.config.drop {
                port.drop(newest, DropCause::Early);
                return;
            }
        }
        self.fifo.push(newest);
    }

    fn dequeue(&mut self, _: &mut Port) -> Option<Queued> {
        self.fifo.pop()
    }

    fn shed(&mut self, port: &mut Port) {
        self.fifo.shed(port);
    }

    fn drain(&mut self, _: &Port) -> Vec<Queued> {
        self.fifo.drain()
    }

    fn adopt(&mut self, waiting: Queued) {
        self.fifo.push(waiting);
    }
}
