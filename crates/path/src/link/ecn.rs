//! What a link does to ECN codepoints at its end, after its own queue.
//!
//! # Model
//! A path may not keep ECN: some boxes clear the field (bleaching), some drop what carries CE. All treatments act on every packet that
//! a link has transmitted, marks of its own queue included, whatever the packet is. Hiding stands for a receiver that does not report CE
//! (RFC 3168 section 7), too: to the sender it is the same.
//!
//! # Limits
//! One treatment for the whole trial. Boxes that clear ECN before the queue are a hop of their own before it. Nothing changes
//! ECT(0) to ECT(1). A mark of another link is hidden as ECT(0), whatever the packet carried before.

use super::Link;
use crate::Packet;
use crate::store::Slot;
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
    /// Packets that carry CE arrive as if they were not marked.
    CeHidden,
}

impl<P: Packet> Link<P> {
    /// Writes into the packet what queues have made of its codepoint, or clears it.
    #[cold]
    #[inline(never)]
    pub(super) fn write_ecn(&mut self, slot: Slot) {
        let Some(packet) = self.store.get_mut(slot) else {
            return;
        };
        match self.ecn {
            EcnConfig::Bleached => packet.set_ecn(Ecn::NotEct),
            EcnConfig::CeHidden if packet.ecn() == Ecn::Ce => packet.set_ecn(Ecn::Ect0),
            // The mark of the queue has not been written yet.
            EcnConfig::CeHidden => {}
            EcnConfig::Kept | EcnConfig::CeLost => packet.set_ecn(Ecn::Ce),
        }
    }
}
