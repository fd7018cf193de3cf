//! How the window grows in congestion avoidance: one packet for each window acknowledged without marks.
//!
//! Prague draft section 2.4.3. DCTCP does not grow for a round trip after a mark, so it works with rare
//! round trips full of marks. A queue that marks single packets at random, about two per round
//! trip, would stop its growth permanently. Prague always grows on unmarked packets: growth over a round
//! trip is proportional to one minus the marked fraction, and zero
//! in a round trip whose packets are all marked.
//!
//! Windows are fractions of a byte (`f64`): a long window grows by a small part of a packet with each ACK.

use crate::event::Ack;
use thalweg_units::Bytes;

/// Bytes that `ack` acknowledges without a mark, when it reports `marks` more of them. An ACK frame does
/// not say which packets were marked, so each stands for the mean packet.
pub(super) fn unmarked(ack: &Ack, marks: u64) -> f64 {
    let packets = ack.newly_acked_packets.max(1);
    let share = packets.saturating_sub(marks) as f64 / packets as f64;
    ack.newly_acked.as_u64() as f64 * share
}

/// Growth in bytes on `unmarked` bytes at `window` bytes, scaled by `factor`. A window below one packet
/// counts as one, so that no ACK adds more than it acknowledges.
pub(super) fn additive(unmarked: f64, window: f64, mtu: Bytes, factor: f64) -> f64 {
    let mtu = mtu.as_u64() as f64;
    factor * mtu * unmarked / window.max(mtu)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1_000);

    #[test]
    fn a_window_of_unmarked_packets_adds_one_packet() {
        // 20 000 bytes acknowledged at a window of 20 000 bytes
        assert_eq!(additive(20_000.0, 20_000.0, MTU, 1.0), 1_000.0);
        // one packet of it: 1000 / 20 = 50 bytes; at (5/25)^2 = 0.04 of the growth, 2 bytes
        assert_eq!(additive(1_000.0, 20_000.0, MTU, 1.0), 50.0);
        assert_eq!(additive(1_000.0, 20_000.0, MTU, 0.04), 2.0);
    }

    #[test]
    fn a_window_below_one_packet_doubles_at_most() {
        assert_eq!(additive(1_000.0, 100.0, MTU, 1.0), 1_000.0);
    }
}
