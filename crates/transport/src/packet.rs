//! Packets and frames of the modelled endpoint: lengths instead of bytes.

use std::num::NonZero;
use thalweg_control::event::EcnCounts;
use thalweg_units::{Bytes, Duration, Ecn};

/// Number of a stream; both sides use the same.
pub type StreamId = u32;

/// The most frames a packet can hold.
pub const MAX_FRAMES: usize = 3;
/// Bytes that the AEAD tag adds to every packet (RFC 9001 section 5.3).
pub(crate) const AEAD_TAG: u32 = 16;
/// Short header with connection ID and packet number, and the tag.
pub(crate) const PACKET_OVERHEAD: u32 = 13 + AEAD_TAG;
/// Type, stream ID, offset and length of a STREAM frame: with [`PACKET_OVERHEAD`] a full packet of
/// 1440 bytes carries 1406 bytes of stream data, as in the reference.
pub(crate) const STREAM_FRAME_OVERHEAD: u32 = 5;
/// Type, length and flow identifier of a DATAGRAM frame.
pub(crate) const DATAGRAM_FRAME_OVERHEAD: u32 = 3;
/// UDP payload of a packet that carries an acknowledgement only.
pub(crate) const ACK_ONLY_SIZE: u32 = 55;
/// Size of an ACK frame in a packet that also carries data.
pub(crate) const ACK_FRAME_SIZE: u32 = ACK_ONLY_SIZE - PACKET_OVERHEAD;
/// Size of any other control frame.
pub(crate) const CONTROL_FRAME_SIZE: u32 = 10;

/// Words of 64 packet numbers that every ACK frame describes.
pub(crate) const ACK_WORDS: usize = 3;

/// Acknowledgement (RFC 9000 section 19.3): a bit map aligned to multiples of 64, whose bit `b` of word `w` stands for
/// packet `(largest / 64 - w) * 64 + b`, and the range of packet numbers, however long, that ends where the bit map
/// begins. Without gaps but in the bit map, that is all that has ever arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckFrame {
    /// Largest packet number received.
    pub largest: u64,
    /// Which packets have arrived: the word that holds the largest, and those before it.
    pub(crate) newest: NonZero<u64>,
    pub(crate) older: [u64; ACK_WORDS - 1],
    /// The words before those, if the receiver has newer numbers that far back, with gaps: only if
    /// more than a hundred packets arrive between eight ACK frames, so it does not allocate per packet.
    pub(crate) oldest: Option<Box<OlderWords>>,
    /// First number of the range that ends before those words; the first of the words if there is none.
    pub(crate) from: u64,
    pub(crate) delay: AckDelay,
    /// ECN counts.
    pub(crate) ecn: AckEcn,
}

/// Words of an ACK frame beyond the usual ones, newest first. Behind a box of one word, so that frames that
/// have none, nearly all, are no larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OlderWords(pub(crate) Vec<u64>);

/// The ACK delay of an ACK frame: in nanoseconds up to 2.1 s, then in units of 8 ns up to 17.2 s. A sender uses
/// at most `max_ack_delay` of it (RFC 9002 section 5.3), which is below 2^14 ms (RFC 9000 section 18.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckDelay(u32);

impl AckDelay {
    const IN_EIGHTS: u32 = 1 << 31;

    pub(crate) fn new(delay: Duration) -> Self {
        let nanos = delay.as_nanos();
        let below = u64::from(Self::IN_EIGHTS);
        AckDelay(match nanos < below {
            true => nanos as u32,
            false => (nanos / 8).min(below - 1) as u32 | Self::IN_EIGHTS,
        })
    }

    fn get(self) -> Duration {
        Duration::from_nanos(match self.0 & Self::IN_EIGHTS {
            0 => u64::from(self.0),
            _ => u64::from(self.0 & !Self::IN_EIGHTS) * 8,
        })
    }
}

/// ECN counts of an ACK frame, cumulative (RFC 9000 section 19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckEcn {
    pub(crate) ect0: u32,
    pub(crate) ect1: u32,
    pub(crate) ce: u32,
}

impl AckFrame {
    /// What has arrived as words that have bits, with the index of the 64 packet numbers that each stands for,
    /// oldest first. Of the range, what lies from `lowest` on, and not above the word of `highest`: all numbers that
    /// its reader cares about.
    #[inline]
    pub(crate) fn words(&self, lowest: u64, highest: u64) -> impl Iterator<Item = (u64, u64)> {
        let oldest = self.oldest.iter().flat_map(|words| words.0.iter().rev());
        let words = oldest.chain(self.older.iter().rev());
        let words = words.copied().chain([self.newest.get()]);
        let count = ACK_WORDS + self.oldest.as_ref().map_or(0, |words| words.0.len());
        let top = self.largest / 64;
        let bits = (0..count)
            .rev()
            .zip(words)
            .filter(|(_, word)| *word != 0)
            .map(move |(back, word)| (top - back as u64, word));
        let first = self.from.max(lowest);
        let end = (top + 1).saturating_sub(count as u64).min(highest / 64 + 1);
        let range = (first / 64..end).map(move |index| match index == first / 64 {
            true => (index, u64::MAX << (first % 64)),
            false => (index, u64::MAX),
        });
        range.chain(bits)
    }

    /// Whether it acknowledges a number.
    pub(crate) fn acknowledges(&self, number: u64) -> bool {
        let mut words = self.words(number, number);
        words.any(|(index, word)| index == number / 64 && word >> (number % 64) & 1 == 1)
    }

    /// Time between the arrival of `largest` and this frame.
    pub fn delay(&self) -> Duration {
        self.delay.get()
    }

    /// ECN counts as controllers get them.
    pub fn ecn_counts(&self) -> EcnCounts {
        EcnCounts {
            ect0: u64::from(self.ecn.ect0),
            ect1: u64::from(self.ecn.ect1),
            ce: u64::from(self.ecn.ce),
            largest_acked: self.largest,
        }
    }
}

/// Frames that a packet may carry. Names and meanings follow RFC 9000 section 19.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frame {
    /// Nothing; fills unused slots.
    #[default]
    None,
    /// Part of a stream.
    Stream {
        /// Which stream.
        id: StreamId,
        /// First byte.
        offset: u64,
        /// Number of bytes: fewer than a UDP datagram holds. Two bytes keep a frame at 16, see the test.
        len: u16,
        /// Whether the stream ends here.
        fin: bool,
    },
    /// An unreliable message (RFC 9221).
    Datagram {
        /// Tag of the application.
        tag: u64,
        /// Number of bytes.
        len: u32,
    },
    /// Connection flow-control limit.
    MaxData(u64),
    /// Stream flow-control limit.
    MaxStreamData {
        /// Which stream.
        id: StreamId,
        /// How many bytes may be sent on it.
        limit: u64,
    },
    /// Requests an acknowledgement frequency (draft-ietf-quic-ack-frequency section 4).
    AckFrequency {
        /// Ack-eliciting packets per acknowledgement.
        every: u32,
        /// Longest delay.
        delay: Duration,
    },
    /// The receiver stopped a stream.
    StopSending(StreamId),
    /// The sender abandons a stream.
    ResetStream {
        /// Which stream.
        id: StreamId,
        /// How many bytes of it were sent, so that both sides agree on the credit of the connection
        /// (RFC 9000 section 4.5).
        final_size: u64,
    },
    /// The server's half of the handshake that is coalesced with its first 1-RTT packet.
    ServerFinished,
    /// The client's last handshake message, with its acknowledgement of the server's first flight.
    ClientFinished {
        /// Number of the newest ServerHello that arrived.
        hello: u64,
    },
    /// Acknowledges packets of the Initial and Handshake spaces, which repeat the first flight.
    HandshakeAck {
        /// Number of the newest one that arrived.
        largest: u64,
    },
    /// Only elicits an acknowledgement.
    Ping,
    /// A PING padded to a size that the path may not carry (RFC 9000 section 14.4).
    MtuProbe,
}

/// What kind of packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The client's first packet.
    ClientInitial,
    /// The server's first packet: Initial and Handshake.
    ServerHello,
    /// The client's acknowledgement of [`Kind::ServerHello`].
    HandshakeAck,
    /// 1-RTT (or 0-RTT) packet with a packet number.
    Data,
    /// Only an acknowledgement: neither numbered nor acknowledged.
    AckOnly,
    /// CONNECTION_CLOSE.
    Close,
}

/// One UDP datagram of the modelled endpoint.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What kind of packet it is.
    pub kind: Kind,
    /// ECN codepoint; queues may change it.
    pub ecn: Ecn,
    /// UDP payload in bytes.
    pub size: u32,
    /// Packet number, for [`Kind::Data`]; how many times the flight was sent before, for [`Kind::ClientInitial`] and
    /// [`Kind::ServerHello`].
    pub number: u64,
    /// Acknowledgement, if it carries one.
    pub ack: Option<AckFrame>,
    /// Frames; unused slots at the end are [`Frame::None`].
    pub frames: [Frame; MAX_FRAMES],
}

impl Packet {
    pub(crate) fn of_kind(kind: Kind, size: u32) -> Packet {
        Packet {
            kind,
            ecn: Ecn::NotEct,
            size,
            number: 0,
            ack: None,
            frames: [Frame::None; MAX_FRAMES],
        }
    }

    /// A numbered packet that carries nothing, for what is not a connection: its size does not matter.
    pub fn without_frames(number: u64) -> Packet {
        Packet {
            number,
            ..Packet::of_kind(Kind::Data, 0)
        }
    }

    /// Bytes of stream and datagram data that the packet carries.
    pub fn payload(&self) -> u64 {
        used(&self.frames)
            .map(|frame| match *frame {
                Frame::Stream { len, .. } => u64::from(len),
                Frame::Datagram { len, .. } => u64::from(len),
                _ => 0,
            })
            .sum()
    }
}

/// The frames without the unused slots.
#[inline]
pub(crate) fn used(frames: &[Frame; MAX_FRAMES]) -> impl Iterator<Item = &Frame> {
    frames
        .iter()
        .take_while(|frame| !matches!(frame, Frame::None))
}

/// Stream bytes that a full packet of `mtu` bytes carries.
pub fn full_packet_payload(mtu: Bytes) -> Bytes {
    mtu - Bytes::new(u64::from(PACKET_OVERHEAD + STREAM_FRAME_OVERHEAD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_reported_to_the_nanosecond_and_a_long_one_to_eight() {
        let reported = |nanos| AckDelay::new(Duration::from_nanos(nanos)).get().as_nanos();
        assert_eq!(reported(0), 0);
        assert_eq!(reported(25_000_001), 25_000_001);
        assert_eq!(reported((1 << 31) - 1), (1 << 31) - 1);
        assert_eq!(reported((1 << 31) + 9), (1 << 31) + 8);
        // The largest max_ack_delay: 16.383 s.
        assert_eq!(reported(16_383_000_000), 16_383_000_000);
        assert_eq!(reported(u64::MAX), 8 * ((1 << 31) - 1));
    }

    #[test]
    fn a_frame_takes_16_bytes_since_every_packet_is_copied_with_three() {
        // STREAM: kind, end, 2 bytes of length, 4 of number, 8 of offset
        assert_eq!(size_of::<Frame>(), 16);
    }

    #[test]
    fn a_packet_takes_two_cache_lines() {
        // kind, codepoint, size and number 16, acknowledgement 64, frames 3 * 16
        assert_eq!(size_of::<Packet>(), 128);
    }
}
