//! Repair of frames that are carried by datagrams.
//!
//! # Model
//! A frame of `k` packets of media is followed by `r = ceil(share * k)` packets of repair. Code and packets are
//! systematic: any `k` of the `k + r` recover the frame, and the packets of media are a part of them. That is what
//! Reed-Solomon codes do (RFC 6865: optimal protection against erasures; up to 65 535 packets, over GF(2^16)),
//! and the parity of FlexFEC (RFC 8627) with one packet of repair. A packet of repair is as long as the longest that
//! it protects (RFC 8627).
//!
//! A datagram that the sender's transport declares lost is sent again (RFC 4588), before what is new at its priority,
//! until the deadline of its frame has passed. It is not, while enough other packets of the frame have arrived or may
//! arrive: what error correction repairs is not requested either. All of it counts for congestion control (RFC 4588
//! section 7).
//!
//! # Limits
//! Losses are known from the acknowledgements of QUIC, which stand for the feedback of RTP (NACK). Each datagram of such a
//! sender has a packet of its own, as the datagrams of RTP have, so that a loss takes one of them. The headers of RFC 4588 and
//! RFC 8627 are not modelled, as the headers of RTP are not. The code protects each frame by itself, so that it adds no delay
//! of interleaving.

use super::part::Part;
use crate::scenario::media::{LONGEST_CODE, MediaSpec, PART, RepairSpec};
use crate::trial::stack::Endpoint;
use std::collections::BTreeMap;
use thalweg_units::{Bytes, Instant};

/// What repair took and gave, of the frames counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repaired {
    /// Bytes that were sent for it.
    pub(crate) bytes: Bytes,
    /// Packets of media that it delivered.
    pub(crate) packets: u64,
}

/// The packets of a frame that have come.
#[derive(Debug, Default)]
struct Came {
    /// One bit for each number.
    numbers: Vec<u64>,
    all: u64,
    of_media: u64,
    bytes: u64,
}

impl Came {
    /// Whether it is the first with its number.
    fn take(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.numbers.len() <= word {
            self.numbers.resize(word + 1, 0);
        }
        let is_new = self.numbers[word] & bit == 0;
        self.numbers[word] |= bit;
        is_new
    }
}

/// A packet of a frame has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Bytes of media that can now be used.
    pub(super) bytes: u64,
    /// Whether the frame is there with it.
    pub(super) completes: bool,
}

/// The repair of a stream.
#[derive(Debug)]
pub(super) struct Repair {
    spec: RepairSpec,
    /// Packets that have arrived or may arrive, of frames that have lost some.
    left: BTreeMap<u32, u64>,
    /// What has come of frames that are not there yet.
    came: BTreeMap<u32, Came>,
    /// One bit for each frame that is there.
    there: Vec<u64>,
    pub(super) counted: Repaired,
    /// A frame, and how many packets of repair were sent of it to probe with.
    further: (u32, u64),
}

/// Packets of media of a frame.
fn media(size: u64) -> u64 {
    size.div_ceil(PART)
}

impl Repair {
    pub(super) fn new(spec: &MediaSpec) -> Repair {
        Repair {
            spec: spec.repair,
            left: BTreeMap::new(),
            came: BTreeMap::new(),
            there: vec![0; spec.frames as usize / 64 + 1],
            counted: Repaired::default(),
            further: (0, 0),
        }
    }

    /// Packets of repair that follow a frame of this size.
    fn packets(&self, size: u64) -> u64 {
        let media = media(size);
        (self.spec.fec.of_up(media)).min(LONGEST_CODE.saturating_sub(media))
    }

    /// Sends the packets of repair of a frame: how many bytes.
    pub(super) fn protect(
        &mut self,
        frame: Part,
        (size, priority): (u64, u8),
        is_counted: bool,
        sender: &mut Endpoint,
    ) -> u64 {
        let (first, len) = (media(size), PART.min(size));
        let packets = self.packets(size);
        for number in first..first + packets {
            let number = number as u32;
            let part = Part { number, ..frame };
            sender.send_datagram(len as u32, part.tag(), priority);
            self.count(len, is_counted);
        }
        packets * len
    }

    /// A further packet of repair of a frame, and its size: the one after all that were sent. None at the end of the code.
    pub(super) fn further(&mut self, frame: Part, size: u64) -> Option<(Part, u64)> {
        let first = media(size) + self.packets(size);
        let (newest, more) = &mut self.further;
        if *newest != frame.frame {
            (*newest, *more) = (frame.frame, 0);
        }
        let number = first + *more;
        *more += 1;
        let number = (number < LONGEST_CODE).then_some(number as u32)?;
        Some((Part { number, ..frame }, PART.min(size)))
    }

    /// A packet of a frame of this size is lost: sends it again, if the frame needs it and can still be in time. How many
    /// bytes.
    pub(super) fn lose(
        &mut self,
        part: Part,
        (size, priority, len): (u64, u8, u32),
        (now, until): (Instant, Instant),
        is_counted: bool,
        sender: &mut Endpoint,
    ) -> u64 {
        let all = media(size) + self.packets(size);
        if !self.spec.retransmit || now > until || u64::from(part.number) >= all {
            return 0;
        }
        let left = self.left.entry(part.frame).or_insert(all);
        *left -= 1;
        if *left >= media(size) {
            return 0;
        }
        *left += 1;
        let is_repeat = true;
        let tag = Part { is_repeat, ..part }.tag();
        sender.repeat_datagram(len, tag, priority, until);
        self.count(u64::from(len), is_counted);
        u64::from(len)
    }

    /// Forgets what was lost of frames before this one.
    pub(super) fn forget_before(&mut self, frame: u32) {
        while let Some(entry) = (self.left.first_entry()).filter(|entry| *entry.key() < frame) {
            entry.remove();
        }
    }

    /// A packet that was to be sent again has not left in time.
    pub(super) fn expire(&mut self, len: u32, is_counted: bool) {
        if is_counted {
            self.counted.bytes -= Bytes::new(u64::from(len));
        }
    }

    fn count(&mut self, len: u64, is_counted: bool) {
        if is_counted {
            self.counted.bytes += Bytes::new(len);
        }
    }

    /// A packet of a frame of this size has come.
    pub(super) fn take(&mut self, part: Part, size: u64, is_counted: bool) -> Arrival {
        let (word, bit) = (part.frame as usize / 64, 1 << (part.frame % 64));
        if self.there[word] & bit > 0 {
            return Arrival::default();
        }
        let came = self.came.entry(part.frame).or_default();
        if !came.take(part.number) {
            return Arrival::default();
        }
        let (number, media) = (u64::from(part.number), media(size));
        came.all += 1;
        let mut repaired = 0;
        let mut bytes = 0;
        if number < media {
            bytes = PART.min(size - number * PART);
            came.of_media += 1;
            came.bytes += bytes;
            repaired += u64::from(part.is_repeat);
        }
        let completes = came.all == media;
        if completes {
            bytes += size - came.bytes;
            repaired += media - came.of_media;
            self.there[word] |= bit;
            self.came.remove(&part.frame);
        }
        if is_counted {
            self.counted.packets += repaired;
        }
        Arrival { bytes, completes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::media::standard_call;
    use thalweg_units::{Duration, Fraction};

    fn repair(fec: f64) -> Repair {
        let mut spec = standard_call(Duration::from_secs(5), Duration::ZERO)[1].clone();
        spec.repair.fec = Fraction::from_f64(fec);
        Repair::new(&spec)
    }

    fn part(number: u32) -> Part {
        Part {
            stream: 0,
            frame: 3,
            number,
            is_repeat: false,
        }
    }

    #[test]
    fn any_packets_as_many_as_those_of_media_recover_a_frame_once() {
        // Three packets of media, of 1150, 1150 and 700 bytes, and two of repair: each choice of three of five.
        for first in 0..5_u32 {
            for second in first + 1..5 {
                for third in second + 1..5 {
                    let mut repair = repair(0.5);
                    assert_eq!(repair.packets(3_000), 2);
                    let chosen = [first, second, third];
                    let mut take = |number| repair.take(part(number), 3_000, true);
                    let bytes: u64 = chosen.map(|number| take(number).bytes).iter().sum();
                    assert_eq!(bytes, 3_000, "{chosen:?}");
                    for number in 0..5 {
                        assert_eq!(take(number), Arrival::default(), "{chosen:?}, {number}");
                    }
                    let missing = 3 - chosen.iter().filter(|number| **number < 3).count();
                    assert_eq!(repair.counted.packets, missing as u64, "{chosen:?}");
                }
            }
        }
    }

    #[test]
    fn a_packet_that_comes_twice_counts_once() {
        let mut repair = repair(0.0);
        let twice = [0, 0, 1, 1].map(|number| repair.take(part(number), 3_000, true));
        assert_eq!(twice.map(|arrival| arrival.bytes), [1_150, 0, 1_150, 0]);
        assert!(twice.iter().all(|arrival| !arrival.completes));
        let repeat = Part {
            is_repeat: true,
            ..part(2)
        };
        let last = Arrival {
            bytes: 700,
            completes: true,
        };
        assert_eq!(repair.take(repeat, 3_000, true), last);
        assert_eq!(repair.counted.packets, 1);
    }

    #[test]
    fn a_frame_has_no_more_packets_than_the_longest_code() {
        let repair = repair(1.0);
        let packets = |media: u64| repair.packets(media * PART);
        assert_eq!([1, 32_767, 32_768].map(packets), [1, 32_767, 32_767]);
        assert_eq!([65_534, 65_535, 65_536].map(packets), [1, 0, 0]);
    }
}
