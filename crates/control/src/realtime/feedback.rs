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

    /// What stands for an arrival where none is ever reported: all that an ACK newly acknowledges has arrived now.
    pub(crate) fn stand_in(self, ack: &Ack, now: Instant) -> Option<Arrival> {
        (!self.is_reported).then_some(Arrival {
            packet: ack.largest,
            size: ack.newly_acked,
            sent: ack.snapshot.sent,
            arrived: now,
        })
    }
}
