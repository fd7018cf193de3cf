//! The newest ack-eliciting packet of each packet number space, as long as a probe timeout may wait for it.
//!
//! Once it is acknowledged, older ones are lost or will be soon (RFC 9002 section 6.1). So will be the newest when one
//! with a larger number is acknowledged, which need not be ack-eliciting.

use crate::header::Space;
use thalweg_units::{Bytes, Instant};

/// A packet, in whichever space: no two that leave at the same time share number and size but by a rare chance.
type Packet = (Instant, u64, Bytes);

#[derive(Debug, Default)]
pub(crate) struct Unacked {
    newest: [Option<Packet>; 3],
    /// Whether the handshake is confirmed: only then the Data space is probed (RFC 9002 section 6.2.1), and only it.
    is_confirmed: bool,
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

    /// The largest number that was acknowledged: before the handshake is confirmed, of whichever space.
    pub(crate) fn note_largest_acked(&mut self, number: u64) {
        if self.is_confirmed {
            self.newest[Space::Data as usize].take_if(|(_, newest, _)| *newest <= number);
        }
    }

    /// Keys of a space were discarded: its packets are no longer in flight (RFC 9002 section 6.4).
    pub(crate) fn discard(&mut self, space: Space) {
        self.newest[space as usize] = None;
    }

    /// The handshake is confirmed, and its keys are discarded.
    pub(crate) fn confirm(&mut self) {
        self.discard(Space::Initial);
        self.discard(Space::Handshake);
        self.is_confirmed = true;
    }

    /// When the packet left that a probe timeout has been waiting for longest.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        let spaces: &[Space] = if self.is_confirmed {
            &[Space::Data]
        } else {
            &[Space::Initial, Space::Handshake]
        };
        let newest = spaces
            .iter()
            .filter_map(|space| self.newest[*space as usize]);
        newest.map(|(sent, ..)| sent).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Instant {
        Instant::from_nanos(n)
    }

    #[test]
    fn the_spaces_of_the_handshake_count_until_it_is_confirmed_and_then_data() {
        let (mut unacked, size) = (Unacked::default(), Bytes::new(1200));
        unacked.note_sent(Space::Data, at(1), 0, size);
        assert_eq!(unacked.oldest(), None);
        unacked.note_sent(Space::Handshake, at(3), 0, size);
        unacked.note_sent(Space::Initial, at(2), 1, size);
        assert_eq!(unacked.oldest(), Some(at(2)));
        unacked.discard(Space::Initial);
        assert_eq!(unacked.oldest(), Some(at(3)));
        unacked.confirm();
        assert_eq!(unacked.oldest(), Some(at(1)));
    }

    #[test]
    fn a_packet_counts_until_it_is_acknowledged_or_a_later_one_is() {
        let (mut unacked, size) = (Unacked::default(), Bytes::new(1200));
        unacked.confirm();
        for number in [4, 5] {
            unacked.note_sent(Space::Data, at(number), number, size);
        }
        unacked.note_acked(at(4), 4, size);
        unacked.note_largest_acked(4);
        assert_eq!(unacked.oldest(), Some(at(5)));
        unacked.note_acked(at(5), 5, size);
        assert_eq!(unacked.oldest(), None);
        unacked.note_sent(Space::Data, at(9), 6, size);
        unacked.note_largest_acked(7); // only an ACK frame, which is acknowledged now and then
        assert_eq!(unacked.oldest(), None);
    }
}
