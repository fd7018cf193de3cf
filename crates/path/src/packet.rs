//! The properties of packets that a link uses.

use thalweg_units::{Bytes, Ecn};

/// A packet as a link sees it. The simulator's packets and the emulator's frames both are.
pub trait Packet {
    /// Size on this link, headers included.
    fn size(&self) -> Bytes;
    /// ECN codepoint.
    fn ecn(&self) -> Ecn;
    /// Sets the ECN codepoint: a queue marks the packet.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Which flow it belongs to: a small index in the simulator, a hash of the 5-tuple in the emulator.
    fn flow(&self) -> u64;
    /// Whether it visibly carries an acknowledgement and nothing else, and a later one of its flow says all that it says: a
    /// filter of ACKs may drop it then. Asked only by queues with such a filter.
    fn is_ack(&self) -> bool {
        false
    }
    /// Its packet number, only for logs; 0 if it has none.
    fn number(&self) -> u64 {
        0
    }
}
