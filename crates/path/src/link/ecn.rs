//! What a link does to ECN codepoints at its end, after its own queue.
//!
//! # Model
//! A path may not keep ECN: some boxes clear the field (bleaching), some drop what carries CE. Both act on every packet that a
//! link has transmitted, marks of its own queue included, whatever the packet is.
//!
//! # Limits
//! One treatment for the whole trial. Boxes that clear ECN before the queue are a hop of their own before it. Nothing changes
//! ECT(0) to ECT(1).

use super::Link;
use crate::Packet;
use crate::buffer::Queued;
use thalweg_units::Ecn;

/// What becomes of ECN codepoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnConfig {
    /// Nothing: they arrive.
    #[default]
    Kept,
    /// All packets arrive as Not-ECT.
    Bleached,
    /// Packets that carry CE are lost, after they have used the capacity.
    CeLost,
}

impl<P: Packet> Link<P> {
    /// Writes into the packet what queues have made of its codepoint, or clears it.
    #[inline(never)]
    pub(super) fn write_ecn(&mut self, queued: &Queued) {
        let is_bleached = self.ecn == EcnConfig::Bleached;
        if let Some(packet) = self.store.get_mut(queued.slot) {
            packet.set_ecn(if is_bleached { Ecn::NotEct } else { Ecn::Ce });
        }
    }
}
