//! The filter of ACKs (`cake_ack_filter`): an ACK that comes to the queue of its flow makes older ones
//! there superfluous, since it says all that they said.
//!
//! # Model
//! A packet that carries an ACK and nothing else drops the oldest such packet of its flow in the queue: if two older ones
//! wait, so that two stay, or, aggressively, if one does and comes right before it.
//!
//! # Limits
//! `sch_cake.c` reads TCP headers, and never drops what an ACK says beyond the newer one (SACK blocks, timestamps, ECN flags). An
//! ACK frame of the modelled endpoint describes everything that has arrived, and its ECN counts are cumulative: nothing is lost
//! with an older one. A packet with data and an ACK drops none here. Packets of QUIC stacks are encrypted, so that no filter can
//! see their ACKs.

use super::super::fifo::Fifo;
use crate::buffer::Queued;

/// Which ACKs of a flow are dropped in favour of newer ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckFilter {
    /// None (`no-ack-filter`).
    #[default]
    Off,
    /// The oldest of three (`ack-filter`).
    Conservative,
    /// The older of two in a row as well (`ack-filter-aggressive`).
    Aggressive,
}

impl AckFilter {
    /// Takes the ACK out of the queue that the youngest packet there, an ACK itself, makes superfluous.
    pub(super) fn superfluous(self, fifo: &mut Fifo) -> Option<Queued> {
        let newest = *fifo.youngest()?;
        let older = fifo.len() - 1;
        let acks = fifo.iter().take(older).enumerate();
        let mut acks = acks.filter(|(_, packet)| packet.is_ack && packet.flow == newest.flow);
        let (oldest, _) = acks.next()?;
        let is_superfluous = match self {
            AckFilter::Off => false,
            AckFilter::Conservative => acks.next().is_some(),
            AckFilter::Aggressive => oldest + 1 == older || acks.next().is_some(),
        };
        drop(acks);
        is_superfluous.then(|| fifo.remove(oldest))?
    }
}
