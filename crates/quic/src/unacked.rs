//! The newest ack-eliciting packet of each packet number space, unless it was acknowledged.
//!
//! If it was, older ones are lost or will be soon (RFC 9002 section 6.1), and no probe timeout waits for them.

use crate::header::Space;
use thalweg_units::{Bytes, Instant};

/// A packet, in whichever space: no two that leave at the same time share number and size but by a rare chance.
type Packet = (Instant, u64, Bytes);

#[derive(Debug, Default)]
pub(crate) struct Unacked {
    newest: [Option<Packet>; 3],
}

impl Unacked {
    pub(crate) fn note_sent(&mut self, space: Space, now: Instant, number: u64, size: Bytes) {
        self.newest[space as usize] = Some((now, number, size));
    }

    pub(crate) fn note_acked(&mut self, sent: Instant, number: u64, size: Bytes) {
        for newest in &mut self.newest {
            newest.take_if(|newest| *newest == (sent, number, size));
        }
    }

    /// Keys of a space were discarded: its packets are no longer in flight (RFC 9002 section 6.4).
    pub(crate) fn discard(&mut self, space: Space) {
        self.newest[space as usize] = None;
    }

    /// When the oldest of them left.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.newest.iter().flatten().map(|(sent, ..)| *sent).min()
    }
}
