//! Outstanding packets, and packets declared lost recently.

use crate::ack::bit_ring::BitRing;
use crate::delivery_rate::SendState;
use crate::packet::{AckFrame, Frame, MAX_FRAMES};
use std::collections::VecDeque;
use thalweg_units::{Duration, Instant};

/// How long a lost packet is kept, so that its late acknowledgement is recognised as a
/// spurious loss: until a packet sent this much later is acknowledged.
const REMEMBER_LOST: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Outstanding,
    Acknowledged,
    Lost,
}

/// Two cache lines, of which most acknowledgements need only the first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SentPacket {
    pub(crate) frames: [Frame; MAX_FRAMES],
    pub(crate) state: SendState,
}

impl SentPacket {
    /// Whether it probes the path MTU.
    pub(crate) fn is_mtu_probe(&self) -> bool {
        self.frames[0] == Frame::MtuProbe
    }
}

/// All packets from the oldest relevant one to the newest. Fates are separate from
/// records, so that checking a fate does not touch a record.
#[derive(Debug, Default)]
pub(crate) struct SentPackets {
    base: u64,
    ring: VecDeque<SentPacket>,
    /// No packet below is outstanding.
    lowest: u64,
    /// Packets that are not acknowledged: outstanding or lost.
    open: BitRing,
    /// Packets of these that were declared lost. All are below the lowest outstanding one.
    lost: BitRing,
    /// No packet from this number on was declared lost.
    lost_end: u64,
}

impl SentPackets {
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.ring.len() as u64
    }

    /// The oldest packet that an ACK frame could still acknowledge, or that is kept behind one.
    pub(crate) fn first(&self) -> u64 {
        self.base
    }

    /// Calls `each` with what `ack` will newly acknowledge, oldest first: its number and its record.
    pub(crate) fn each_acknowledged(&self, ack: &AckFrame, mut each: impl FnMut(u64, &SentPacket)) {
        for (index, word) in ack.words(self.base, self.next_number()) {
            let mut bits = word & self.open.word(index);
            while bits != 0 {
                let number = index * 64 + u64::from(bits.trailing_zeros());
                bits &= bits - 1;
                each(number, &self.ring[(number - self.base) as usize]);
            }
        }
    }

    /// The oldest outstanding packet, or the next number if there is none.
    pub(crate) fn lowest_outstanding(&self) -> u64 {
        self.lowest
    }

    #[inline]
    pub(crate) fn nothing_outstanding(&self) -> bool {
        self.lowest == self.next_number()
    }

    #[inline]
    pub(crate) fn push(&mut self, packet: SentPacket) {
        self.open.insert(self.next_number());
        self.ring.push_back(packet);
    }

    /// Leaves a number out: to all intents a packet that has been acknowledged.
    pub(crate) fn skip(&mut self, state: SendState) {
        let frames = [Frame::None; MAX_FRAMES];
        self.ring.push_back(SentPacket { frames, state });
        self.advance();
    }

    pub(crate) fn get(&self, number: u64) -> Option<&SentPacket> {
        self.ring
            .get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// The fate of a packet that is still kept.
    pub(crate) fn fate(&self, number: u64) -> Fate {
        if !self.open.contains(number) {
            Fate::Acknowledged
        } else if self.lost.contains(number) {
            Fate::Lost
        } else {
            Fate::Outstanding
        }
    }

    /// Takes the packets out that `ack` newly acknowledges, oldest first: for each, `each` is called
    /// with its number, its record and whether it had been declared lost.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        ack: &AckFrame,
        mut each: impl FnMut(u64, &SentPacket, bool),
    ) {
        // Lost ones may arrive. Usually the range of the frame begins behind the last of them, of which
        // there may be a second's packets.
        let from = match ack.from < self.lost_end {
            true => self.base,
            false => self.lowest,
        };
        for (index, word) in ack.words(from, self.next_number()) {
            let mut bits = word & self.open.word(index);
            if bits == 0 {
                continue;
            }
            let lost = self.lost.word(index);
            self.open.clear(index, bits);
            self.lost.clear(index, bits & lost);
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let number = index * 64 + u64::from(bit);
                let packet = &self.ring[(number - self.base) as usize];
                each(number, packet, lost >> bit & 1 == 1);
            }
        }
        self.advance();
    }

    /// Declares an outstanding packet lost. Older ones must not stay outstanding.
    pub(crate) fn lose(&mut self, number: u64) -> &SentPacket {
        self.lost.insert(number);
        self.lost_end = self.lost_end.max(number + 1);
        &self.ring[(number - self.base) as usize]
    }

    /// Waits for an outstanding packet no longer, which is not lost: what acknowledges it later finds nothing.
    pub(crate) fn give_up(&mut self, number: u64) {
        self.open.remove(number);
    }

    /// Moves past packets that are no longer outstanding.
    pub(crate) fn advance(&mut self) {
        let next = self.next_number();
        while self.lowest < next {
            let index = self.lowest / 64;
            let outstanding = self.open.word(index) & !self.lost.word(index);
            let above = outstanding & u64::MAX << (self.lowest % 64);
            if above != 0 {
                self.lowest = index * 64 + u64::from(above.trailing_zeros());
                return;
            }
            self.lowest = ((index + 1) * 64).min(next);
        }
    }

    /// How many packets from the oldest on are acknowledged, of those below the lowest outstanding one and of one word.
    fn settled_from_base(&self) -> u64 {
        let offset = self.base % 64;
        let open = self.open.word(self.base / 64) >> offset;
        u64::from(open.trailing_zeros())
            .min(64 - offset)
            .min(self.lowest - self.base)
    }

    /// Removes packets that no ACK can affect. `newest_sent` is the send time of the newest
    /// acknowledged packet.
    pub(crate) fn forget(&mut self, newest_sent: Instant) {
        while self.base < self.lowest {
            let settled = self.settled_from_base();
            if settled == 0 {
                // Below the lowest outstanding packet, what is not acknowledged is lost.
                let expired = |packet: &SentPacket| packet.state.sent + REMEMBER_LOST < newest_sent;
                if !self.ring.front().is_some_and(expired) {
                    break;
                }
                // Its word of 64 may stay.
                self.open.remove(self.base);
                self.lost.remove(self.base);
            }
            let gone = settled.max(1);
            self.ring.drain(..gone as usize);
            self.base += gone;
        }
        self.open.slide_to(self.base);
        self.lost.slide_to(self.base);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ack::policy::AckPolicy;
    use crate::packet::AckDelay;
    use crate::{Rules, TransportConfig};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::num::NonZero;
    use thalweg_units::{Duration, Ecn};

    pub(crate) fn sent_at(seconds: u64) -> SentPacket {
        let sent = Instant::START + Duration::from_secs(seconds);
        SentPacket {
            state: SendState::of_handshake(sent, Instant::START),
            frames: [Frame::None; MAX_FRAMES],
        }
    }

    fn acknowledged(sent: &mut SentPackets, packets: u64) -> Vec<u64> {
        let ack = AckFrame {
            largest: packets.ilog2().into(),
            newest: NonZero::new(packets).unwrap(),
            older: [0; 2],
            oldest: None,
            from: 0,
            delay: AckDelay::new(Duration::ZERO),
            ecn: Default::default(),
        };
        let mut numbers = Vec::new();
        sent.acknowledge(&ack, |number, _, _| numbers.push(number));
        numbers
    }

    #[test]
    fn a_record_takes_two_cache_lines() {
        assert_eq!(size_of::<SentPacket>(), 128);
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

    #[test]
    fn a_packet_that_was_given_up_is_neither_lost_nor_acknowledged_later() {
        let mut sent = SentPackets::default();
        sent.push(sent_at(0));
        sent.push(sent_at(0));
        sent.give_up(0);
        sent.advance();
        assert_eq!(sent.lowest_outstanding(), 1);
        assert_eq!(acknowledged(&mut sent, 0b11), [1]);
    }

    /// The long way: what an ACK frame takes out of all packets that are kept, oldest first, with whether each was lost.
    fn looked_up(kept: &mut BTreeMap<u64, bool>, ack: &AckFrame) -> Vec<(u64, bool)> {
        let words: BTreeMap<u64, u64> = ack.words(0, ack.largest).collect();
        let has = |number: u64| {
            (words.get(&(number / 64))).is_some_and(|word| word >> (number % 64) & 1 == 1)
        };
        let taken: Vec<_> = (kept.iter().map(|(number, lost)| (*number, *lost)))
            .filter(|(number, _)| has(*number))
            .collect();
        kept.retain(|number, _| !has(*number));
        taken
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Runs of packets that never arrive, arrive in order, or arrive after all that the sender has sent until then,
        /// when most of them are declared lost. Of two thousand a second, lost ones are kept for another second.
        #[test]
        fn an_ack_takes_out_what_a_look_at_every_kept_packet_would(
            runs in prop::collection::vec((1u64..300, prop_oneof![4 => Just(0), 1 => Just(1), 1 => 2u64..3000]), 1..60),
            frame_each in 4usize..200,
        ) {
            let arrives = |(position, late): (u64, u64)| (late != 1).then_some((position + late, position));
            let late = runs.iter().flat_map(|&(len, late)| std::iter::repeat_n(late, len as usize));
            let mut order: Vec<_> = (0..).zip(late).filter_map(arrives).collect();
            order.sort_unstable();
            let mut receiver = AckPolicy::new(&TransportConfig::new(Rules::Rfc));
            let (mut sent, mut kept) = (SentPackets::default(), BTreeMap::new());
            for arrived in order.chunks(frame_each) {
                for &(position, number) in arrived {
                    while sent.next_number() <= position {
                        kept.insert(sent.next_number(), false);
                        sent.push(sent_at(sent.next_number() / 2000));
                    }
                    receiver.on_packet(Instant::START, number, Ecn::NotEct, false);
                }
                let Some(ack) = receiver.take(Instant::START) else { continue };
                let mut taken = Vec::new();
                sent.acknowledge(&ack, |number, _, was_lost| taken.push((number, was_lost)));
                prop_assert_eq!(&taken, &looked_up(&mut kept, &ack));
                for (_, lost) in kept.range_mut(..ack.largest.saturating_sub(2)).filter(|(_, lost)| !**lost) {
                    *lost = true;
                }
                while sent.lowest_outstanding() + 2 < ack.largest {
                    sent.lose(sent.lowest_outstanding());
                    sent.advance();
                }
                let newest = taken.last().map_or(0, |(number, _)| number / 2000);
                sent.forget(Instant::START + Duration::from_secs(newest));
                kept.retain(|number, lost| !*lost || number / 2000 + 1 >= newest);
            }
        }
    }
}
