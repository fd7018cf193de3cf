//! When and what to acknowledge (RFC 9000 section 13.2, draft-ietf-quic-ack-frequency).

use crate::bit_ring::BitRing;
use crate::packet::{ACK_WORDS, AckEcn, AckFrame};
use std::num::NonZero;
use thalweg_units::{Duration, Ecn, Instant};

/// A requested acknowledgement frequency takes effect after this many packets: until then the sender
/// needs every sample that it can get (reference behaviour).
const START_UP_PACKETS: u64 = 128;
/// Among them are those of the Initial and Handshake spaces, of which a handshake without losses has three.
const HANDSHAKE_PACKETS: u64 = 3;
/// Packet numbers remembered below the largest, to recognise duplicates.
const REMEMBERED: u64 = 4096;

#[derive(Debug)]
#[repr(C)] // what the sending half asks for comes first
pub(crate) struct AckPolicy {
    /// When an ACK frame must leave.
    deadline: Instant,
    /// Whether that is for the delay alone.
    waits: bool,
    received: BitRing,
    total: u64,
    largest: u64,
    largest_at: Instant,
    /// A packet so late that an ACK of the largest does not reach it.
    late: Option<u64>,
    /// Ack-eliciting packets since the last ACK frame.
    unacknowledged: u32,
    /// When the first of them arrived.
    oldest_at: Instant,
    base_every: u32,
    /// The packet that brought the request in force.
    requested_in: u64,
    every: u32,
    delay: Duration,
    /// Whether packets out of order are worth an immediate ACK (RFC 9000 section 13.2.1); a sender that
    /// requests a frequency waives it, as the reference does.
    report_order: bool,
    counts: AckEcn,
    /// Whether an ACK frame was ever sent. The first one waits for its delay, so that it covers the
    /// whole first flight of the peer, as in the reference.
    acknowledged: bool,
}

impl AckPolicy {
    pub(crate) fn new(every: u32, delay: Duration) -> Self {
        AckPolicy {
            received: BitRing::default(),
            total: 0,
            largest: 0,
            largest_at: Instant::START,
            late: None,
            unacknowledged: 0,
            oldest_at: Instant::NEVER,
            deadline: Instant::NEVER,
            waits: false,
            base_every: every,
            requested_in: 0,
            every,
            delay,
            report_order: true,
            counts: AckEcn::default(),
            acknowledged: false,
        }
    }

    /// The peer asks for another frequency in packet `number`. What waits for its delay, waits for the new one.
    /// A request that a newer one has overtaken is ignored (draft-ietf-quic-ack-frequency section 4).
    pub(crate) fn request(&mut self, number: u64, every: u32, delay: Duration) {
        if number < self.requested_in {
            return;
        }
        self.requested_in = number;
        (self.every, self.delay, self.report_order) = (every.max(1), delay, false);
        if self.waits {
            self.deadline = self.oldest_at + delay;
        }
    }

    /// A numbered packet arrived; false if it is a duplicate.
    pub(crate) fn on_packet(&mut self, now: Instant, number: u64, ecn: Ecn, urgent: bool) -> bool {
        if !self.received.insert(number) {
            return false;
        }
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.counts.ect0 += 1,
            Ecn::Ect1 => self.counts.ect1 += 1,
            Ecn::Ce => self.counts.ce += 1,
        }
        let in_order = self.total == 0 || number == self.largest + 1;
        self.total += 1;
        if self.total == 1 || number > self.largest {
            self.largest = number;
            self.largest_at = now;
            self.received.slide_to(number.saturating_sub(REMEMBERED));
        } else if number / 64 + ACK_WORDS <= self.largest / 64 {
            self.late = Some(number);
        }
        self.oldest_at = self.oldest_at.min(now);
        self.unacknowledged += 1;
        let every = if self.total + HANDSHAKE_PACKETS <= START_UP_PACKETS {
            self.base_every
        } else {
            self.every
        };
        let congestion = ecn == Ecn::Ce && self.report_order;
        let disorder = self.report_order && !in_order;
        let enough = self.unacknowledged >= every || congestion || disorder;
        if urgent || self.late.is_some() || (enough && self.acknowledged) {
            (self.deadline, self.waits) = (now, false);
        } else if self.deadline == Instant::NEVER {
            (self.deadline, self.waits) = (now + self.delay, true);
        }
        true
    }

    /// When an ACK frame has to leave.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Takes the frame if there is anything to acknowledge.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant) -> Option<AckFrame> {
        if self.unacknowledged == 0 {
            return None;
        }
        self.frame(now)
    }

    #[inline(never)] // so that to find nothing costs a sender little
    fn frame(&mut self, now: Instant) -> Option<AckFrame> {
        // A late packet whose word has slid out of the window is told of no more.
        let late = self.late.take();
        let late = late.filter(|late| self.received.word(late / 64) != 0);
        let largest = late.unwrap_or(self.largest);
        let top = largest / 64;
        let newest = NonZero::new(self.received.word(top))?;
        let mut older = [0; ACK_WORDS as usize - 1];
        for (w, word) in (1..).zip(&mut older) {
            if let Some(index) = top.checked_sub(w) {
                *word = self.received.word(index);
            }
        }
        self.acknowledged = true;
        if late.is_some() {
            // Another frame must tell of the newest packets; it goes out right behind.
            (self.deadline, self.waits) = (now, false);
        } else {
            self.unacknowledged = 0;
            (self.oldest_at, self.deadline) = (Instant::NEVER, Instant::NEVER);
            self.waits = false;
        }
        Some(AckFrame {
            largest,
            delay: now - self.largest_at,
            newest,
            older,
            ecn: self.counts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(1);

    fn at(us: u64) -> Instant {
        Instant::START + Duration::from_micros(us)
    }

    /// A policy that has sent its first ACK frame.
    fn started(every: u32) -> AckPolicy {
        let mut acks = AckPolicy::new(every, DELAY);
        acks.acknowledged = true;
        acks
    }

    #[test]
    fn the_first_acknowledgement_waits_for_its_delay() {
        let mut acks = AckPolicy::new(2, DELAY);
        acks.on_packet(at(0), 0, Ecn::Ect0, false);
        acks.on_packet(at(500), 1, Ecn::Ect0, false);
        assert_eq!(acks.deadline(), at(1000));
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
        let mut acks = started(2);
        acks.on_packet(at(0), 0, Ecn::Ect1, false);
        assert_eq!(acks.deadline(), at(1000));
        acks.on_packet(at(10), 1, Ecn::Ce, false);
        assert_eq!(acks.deadline(), at(10));
        let frame = acks.take(at(30)).unwrap();
        assert_eq!((frame.largest, frame.word(0)), (1, 0b11));
        assert_eq!((frame.ecn.ect1, frame.ecn.ce), (1, 1));
        assert_eq!(frame.delay, Duration::from_micros(20));
        assert_eq!((acks.deadline(), acks.take(at(40))), (Instant::NEVER, None));
    }

    #[test]
    fn a_gap_is_reported_at_once_unless_the_sender_waived_it() {
        let mut acks = started(10);
        acks.on_packet(at(0), 0, Ecn::Ect0, false);
        acks.on_packet(at(1), 2, Ecn::Ect0, false);
        assert_eq!(acks.deadline(), at(1));
        acks.take(at(1));
        acks.request(2, 10, DELAY);
        acks.on_packet(at(2), 4, Ecn::Ect0, false);
        assert_eq!(acks.deadline(), at(1002));
    }

    #[test]
    fn a_requested_frequency_waits_for_128_packets_with_those_of_the_handshake() {
        let mut acks = started(2);
        acks.request(0, 18, Duration::from_millis(10));
        let mut frames = 0;
        for n in 0..304 {
            acks.on_packet(at(n), n, Ecn::Ect0, false);
            if acks.deadline() <= at(n) {
                acks.take(at(n)).unwrap();
                frames += 1;
            }
        }
        // Of 125 packets, which are 128 with three of the handshake, every second; the one that is left
        // over and 179 more make ten times 18.
        assert_eq!(frames, 62 + 10);
    }

    #[test]
    fn what_waits_when_a_request_arrives_waits_for_the_new_delay() {
        let mut acks = started(2);
        acks.on_packet(at(500), 0, Ecn::Ect0, false);
        assert_eq!(acks.deadline(), at(1500));
        acks.request(3, 18, Duration::from_millis(10));
        assert_eq!(acks.deadline(), at(10_500));
        acks.request(2, 4, Duration::from_millis(2)); // overtaken
        assert_eq!(acks.deadline(), at(10_500));
        acks.on_packet(at(700), 1, Ecn::Ect0, true);
        acks.request(4, 18, Duration::from_millis(5));
        assert_eq!(acks.deadline(), at(700)); // what is due stays due
    }

    #[test]
    fn duplicates_are_recognised_and_very_late_packets_get_a_frame_of_their_own() {
        let mut acks = started(2);
        acks.on_packet(at(0), 0, Ecn::Ect0, false);
        assert!(!acks.on_packet(at(0), 0, Ecn::Ect0, false));
        acks.on_packet(at(1), 1000, Ecn::Ect0, false);
        acks.take(at(1));
        acks.on_packet(at(2), 5, Ecn::Ect0, false);
        let late = acks.take(at(2)).unwrap();
        assert_eq!((late.largest, late.word(0)), (5, 0b100001));
        assert_eq!(acks.take(at(2)).unwrap().largest, 1000);
        assert_eq!(acks.take(at(2)), None);
    }
}
