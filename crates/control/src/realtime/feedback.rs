//! Arrivals as the receiver reports them, or what stands for them.

use crate::event::{Ack, Arrival};
use thalweg_units::Instant;

/// Whether the receiver reports when packets arrive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback {
    is_reported: bool,
}

impl Feedback {
    /// The receiver has reported an arrival.
    pub(crate) fn on_arrival(&mut self) {
        self.is_reported = true;
    }

    /// What stands for arrivals where none is ever reported: all packets that an ACK newly acknowledges, of which
    /// there are so many, have arrived now as one.
    pub(crate) fn stand_in(self, ack: &Ack, now: Instant) -> Option<(Arrival, u64)> {
        let arrival = Arrival {
            packet: ack.largest,
            size: ack.newly_acked,
            sent: ack.snapshot.sent,
            arrived: now,
        };
        (!self.is_reported).then_some((arrival, ack.newly_acked_packets))
    }
}
