//! Packets that were sent and whose fate is open, or that were declared lost not long ago.

use crate::bit_ring::BitRing;
use crate::delivery_rate::SendState;
use crate::packet::{ACK_WORDS, AckFrame, Frame, MAX_FRAMES};
use std::collections::VecDeque;
use thalweg_units::{Duration, Instant};

/// How long a lost packet is remembered, so that its late acknowledgement is recognised as proof of a
/// spurious loss: until a packet sent this much later is acknowledged.
const REMEMBER_LOST: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Outstanding,
    Acknowledged,
    Lost,
}

#[derive(Debug)]
pub(crate) struct SentPacket {
    pub(crate) fate: Fate,
    /// Bytes that count as in flight.
    pub(crate) size: u32,
    pub(crate) state: SendState,
    pub(crate) frames: [Frame; MAX_FRAMES],
}

/// All packets from the oldest that matters to the newest.
#[derive(Debug, Default)]
pub(crate) struct SentPackets {
    base: u64,
    ring: VecDeque<SentPacket>,
    /// Packets that are not acknowledged: outstanding or lost.
    open: BitRing,
    /// No packet below is outstanding.
    lowest: u64,
}

impl SentPackets {
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.ring.len() as u64
    }

    /// The oldest outstanding packet, or the next number if there is none.
    pub(crate) fn lowest_outstanding(&self) -> u64 {
        self.lowest
    }

    pub(crate) fn push(&mut self, packet: SentPacket) {
        self.open.insert(self.next_number());
        self.ring.push_back(packet);
    }

    pub(crate) fn get(&self, number: u64) -> Option<&SentPacket> {
        self.ring
            .get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// Takes the packets out that `ack` newly acknowledges, oldest first: for each, `each` is called
    /// with its number, its record and whether it had been declared lost.
    pub(crate) fn acknowledge(
        &mut self,
        ack: &AckFrame,
        mut each: impl FnMut(u64, &SentPacket, bool),
    ) {
        let top = ack.largest / 64;
        for w in (0..ACK_WORDS as u64).rev() {
            let Some(index) = top.checked_sub(w) else {
                continue;
            };
            let mut bits = ack.words[w as usize] & self.open.word(index);
            while bits != 0 {
                let number = index * 64 + u64::from(bits.trailing_zeros());
                bits &= bits - 1;
                let packet = &mut self.ring[(number - self.base) as usize];
                let was_lost = packet.fate == Fate::Lost;
                packet.fate = Fate::Acknowledged;
                self.open.remove(number);
                each(number, packet, was_lost);
            }
        }
        self.advance();
    }

    /// Declares an outstanding packet lost.
    pub(crate) fn lose(&mut self, number: u64) -> &SentPacket {
        let packet = &mut self.ring[(number - self.base) as usize];
        packet.fate = Fate::Lost;
        packet
    }

    /// Moves past packets that are no longer outstanding.
    pub(crate) fn advance(&mut self) {
        while self
            .get(self.lowest)
            .is_some_and(|packet| packet.fate != Fate::Outstanding)
        {
            self.lowest += 1;
        }
    }

    /// Forgets what no ACK can change any more. `newest_sent` is the send time of the newest
    /// acknowledged packet.
    pub(crate) fn forget(&mut self, newest_sent: Instant) {
        while let Some(packet) = self.ring.front() {
            let over = match packet.fate {
                Fate::Acknowledged => true,
                Fate::Lost => packet.state.sent + REMEMBER_LOST < newest_sent,
                Fate::Outstanding => false,
            };
            if !over {
                break;
            }
            // A lost packet is still open; its word of 64 may stay.
            self.open.remove(self.base);
            self.ring.pop_front();
            self.base += 1;
        }
        self.open.slide_to(self.base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    fn sent_at(seconds: u64) -> SentPacket {
        let sent = Instant::START + Duration::from_secs(seconds);
        SentPacket {
            fate: Fate::Outstanding,
            size: 1440,
            state: SendState::of_handshake(sent),
            frames: [Frame::None; MAX_FRAMES],
        }
    }

    fn acknowledged(sent: &mut SentPackets, packets: u64) -> Vec<u64> {
        let (largest, delay) = (packets.ilog2().into(), Duration::ZERO);
        let (words, ecn) = ([packets, 0, 0, 0], Default::default());
        let ack = AckFrame {
            largest,
            delay,
            words,
            ecn,
        };
        let mut numbers = Vec::new();
        sent.acknowledge(&ack, |number, _, _| numbers.push(number));
        numbers
    }

    #[test]
    fn a_lost_packet_that_arrives_after_it_was_forgotten_is_not_acknowledged() {
        for (later, expected) in [(1, vec![0]), (2, vec![])] {
            let mut sent = SentPackets::default();
            sent.push(sent_at(0));
            sent.push(sent_at(later));
            sent.lose(0);
            assert_eq!(acknowledged(&mut sent, 0b10), [1]);
            sent.forget(Instant::START + Duration::from_secs(later));
            assert_eq!(acknowledged(&mut sent, 0b11), expected, "{later} s later");
        }
    }
}
