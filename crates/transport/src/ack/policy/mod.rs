//! When and what to acknowledge (RFC 9000 section 13.2, draft-ietf-quic-ack-frequency).

use crate::ack::dishonest::Dishonest;
use crate::ack::received::Received;
use crate::packet::{ACK_WORDS, AckDelay, AckEcn, AckFrame, OlderWords};
use crate::{Rules, TransportConfig};
use std::num::NonZero;
use thalweg_units::{Duration, Ecn, Instant};

/// By the rules of picoquic, a requested acknowledgement frequency takes effect after this many packets: until then
/// the sender needs every possible sample.
const START_UP_PACKETS: u64 = 128;
/// This includes packets of the Initial and Handshake spaces: three in a handshake without losses.
const HANDSHAKE_PACKETS: u64 = 3;
/// Packet numbers kept below the largest, to distinguish late packets from duplicates; more while
/// ACK frames have to report more.
const REMEMBERED: u64 = 4096;
/// Least number of ACK frames that report each packet: more if they report all later packets too, see [`AckFrame`].
/// A receiver repeats its reports, since ACK frames can be lost (RFC 9000 section 13.2.3); with 40 % of loss, all
/// eight are lost in 0.07 % of cases.
pub const ACK_REPEATS: usize = 8;
/// No packet number.
const NONE: u64 = u64::MAX;

#[derive(Debug)]
#[repr(C)] // fields of the sending half first
pub(crate) struct AckPolicy {
    /// When an ACK frame must be sent.
    deadline: Instant,
    /// Whether only the delay requires it.
    waits: bool,
    received: Received,
    total: u64,
    largest: u64,
    largest_at: Instant,
    /// The lowest number that has arrived since the last ACK frame, and the lowest that is still to be repeated.
    unreported: u64,
    repeated: u64,
    /// Ack-eliciting packets since the last ACK frame.
    unacknowledged: u32,
    /// When the first of them arrived.
    oldest_at: Instant,
    base_every: u32,
    /// The packet with the current request.
    requested_in: u64,
    every: u32,
    delay: Duration,
    /// Whether reordered packets cause an immediate ACK (RFC 9000 section 13.2.1); a request for a
    /// frequency disables that, as in the reference.
    report_order: bool,
    /// Whether the packet before was marked.
    was_marked: bool,
    rules: Rules,
    counts: AckEcn,
    /// Whether an ACK frame was ever sent, by the rules of picoquic: there the first one waits for its delay, so
    /// that it covers the whole first flight of the peer.
    acknowledged: bool,
    /// The lowest number that each of the last ACK frames reported for the first time.
    reported: [u64; ACK_REPEATS - 1],
    dishonest: Option<Box<Dishonest>>,
}

impl AckPolicy {
    pub(crate) fn new(config: &TransportConfig) -> Self {
        let dishonest = Dishonest::new(config.ack_conduct);
        let divides = dishonest
            .as_ref()
            .is_some_and(|receiver| receiver.divides());
        let (every, rules) = (if divides { 1 } else { config.ack_every }, config.rules);
        let delay = match rules {
            Rules::Rfc => config.max_ack_delay,
            Rules::Picoquic => config.min_ack_delay,
        };
        AckPolicy {
            rules,
            received: Received::default(),
            total: 0,
            largest: 0,
            largest_at: Instant::START,
            unreported: NONE,
            repeated: NONE,
            unacknowledged: 0,
            oldest_at: Instant::NEVER,
            deadline: Instant::NEVER,
            waits: false,
            base_every: every,
            requested_in: 0,
            every,
            delay,
            report_order: true,
            was_marked: false,
            counts: AckEcn::default(),
            acknowledged: rules == Rules::Rfc,
            reported: [NONE; ACK_REPEATS - 1],
            dishonest,
        }
    }

    /// The handshake has measured a round-trip time.
    pub(crate) fn note_rtt(&mut self, rtt: Duration) {
        if let Some(receiver) = &mut self.dishonest {
            receiver.note_rtt(rtt);
        }
    }

    /// The peer requests another frequency in packet `number`. A pending ACK waits for the new delay.
    /// A request older than the current one is ignored (draft-ietf-quic-ack-frequency section 4).
    pub(crate) fn request(&mut self, number: u64, every: u32, delay: Duration) {
        let divides = self
            .dishonest
            .as_ref()
            .is_some_and(|receiver| receiver.divides());
        if number < self.requested_in || divides {
            return;
        }
        self.requested_in = number;
        (self.every, self.delay, self.report_order) = (every.max(1), delay, false);
        if self.waits {
            self.deadline = self.oldest_at + delay;
        }
    }

    /// The packet with the next number arrives, unmarked, and others wait to be acknowledged with it: it changes no
    /// deadline. False, and nothing has changed, for any other.
    #[inline]
    pub(crate) fn on_next(&mut self, now: Instant, number: u64, ecn: Ecn) -> bool {
        let others = self.unacknowledged;
        let waits = others > 0 && others + 1 < self.every(self.total + 1);
        if !waits || number != self.largest + 1 || ecn == Ecn::Ce {
            return false;
        }
        self.received.insert(number);
        match ecn {
            Ecn::NotEct | Ecn::Ce => {}
            Ecn::Ect0 => self.counts.ect0 += 1,
            Ecn::Ect1 => self.counts.ect1 += 1,
        }
        self.total += 1;
        (self.largest, self.largest_at) = (number, now);
        self.unacknowledged += 1;
        self.was_marked = false;
        true
    }

    /// Number of ack-eliciting packets that an ACK frame waits for, given the number that have arrived.
    #[inline]
    fn every(&self, total: u64) -> u32 {
        let starts = total + HANDSHAKE_PACKETS <= START_UP_PACKETS;
        match starts && self.rules == Rules::Picoquic {
            true => self.base_every,
            false => self.every,
        }
    }

    /// A numbered packet that elicits no acknowledgement arrived; false if it is a duplicate. The next frame reports it.
    pub(crate) fn on_silent(&mut self, now: Instant, number: u64, ecn: Ecn) -> bool {
        if !self.received.insert(number) {
            return false;
        }
        self.count(ecn);
        self.total += 1;
        if self.total == 1 || number > self.largest {
            (self.largest, self.largest_at) = (number, now);
        }
        self.unreported = self.unreported.min(number);
        true
    }

    fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.counts.ect0 += 1,
            Ecn::Ect1 => self.counts.ect1 += 1,
            Ecn::Ce => self.counts.ce += 1,
        }
    }

    /// A numbered packet arrived; false if it is a duplicate.
    pub(crate) fn on_packet(&mut self, now: Instant, number: u64, ecn: Ecn, urgent: bool) -> bool {
        if !self.received.insert(number) {
            return false;
        }
        self.count(ecn);
        let in_order = self.total == 0 || number == self.largest + 1;
        self.total += 1;
        if self.total == 1 || number > self.largest {
            self.largest = number;
            self.largest_at = now;
        }
        self.unreported = self.unreported.min(number);
        self.oldest_at = self.oldest_at.min(now);
        self.unacknowledged += 1;
        let every = self.every(self.total);
        // RFC 9000 section 13.2.1: marks are acknowledged immediately. After a request for a frequency, only the first
        // after an unmarked packet (draft-ietf-quic-ack-frequency section 6.4); none by picoquic.
        let is_first = self.rules == Rules::Rfc && !self.was_marked;
        self.was_marked = ecn == Ecn::Ce;
        let congestion = self.was_marked && (self.report_order || is_first);
        let disorder = self.report_order && !in_order;
        let enough = self.unacknowledged >= every || congestion || disorder;
        if urgent || (enough && self.acknowledged) {
            (self.deadline, self.waits) = (now, false);
        } else if self.deadline == Instant::NEVER {
            (self.deadline, self.waits) = (now + self.delay, true);
        }
        true
    }

    /// When an ACK frame must be sent.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether there is anything to acknowledge.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Takes the frame if there is anything to acknowledge.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant) -> Option<AckFrame> {
        if !self.has_news() {
            return None;
        }
        self.frame(now)
    }

    #[inline(never)] // so that finding nothing is cheap for a sender
    fn frame(&mut self, now: Instant) -> Option<AckFrame> {
        let top = self.largest / 64;
        let newest = NonZero::new(self.received.word(top))?;
        let mut older = [0; ACK_WORDS - 1];
        for (w, word) in (1..).zip(&mut older) {
            if let Some(index) = top.checked_sub(w) {
                *word = self.received.word(index);
            }
        }
        let below = (top + 1).saturating_sub(ACK_WORDS as u64);
        let (oldest, from) = self.before(below);
        self.note_reported();
        let kept = self.largest.saturating_sub(REMEMBERED).min(self.repeated);
        self.received.slide_to(kept / 64, below);
        self.acknowledged = true;
        self.waits = false;
        let mut frame = AckFrame {
            largest: self.largest,
            newest,
            older,
            oldest,
            from,
            delay: AckDelay::new(now - self.largest_at),
            ecn: self.counts,
        };
        if self.dishonest.is_some() && self.distort(now, &mut frame) {
            self.deadline = now; // the same once more
            return Some(frame);
        }
        self.unacknowledged = 0;
        (self.oldest_at, self.deadline) = (Instant::NEVER, Instant::NEVER);
        Some(frame)
    }

    /// What a receiver that is not honest makes of a frame. Whether it sends the same once more.
    #[cold]
    fn distort(&mut self, now: Instant, frame: &mut AckFrame) -> bool {
        self.dishonest.as_mut().is_some_and(|receiver| {
            receiver.distort(now, self.total, frame);
            receiver.repeats()
        })
    }

    /// What a frame reports of the numbers before its usual words, which begin with word `below`: the words to add,
    /// if any, and the start of the run that ends before them all.
    fn before(&self, below: u64) -> (Option<Box<OlderWords>>, u64) {
        let told = self.unreported.min(self.repeated);
        let lowest = (told / 64).max(self.received.lowest_word());
        let from = self.received.run_before(below);
        if from <= told || lowest >= below {
            return (None, from);
        }
        let words = (lowest..below).rev().map(|index| self.received.word(index));
        let words = OlderWords(words.collect());
        (Some(Box::new(words)), self.received.run_before(lowest))
    }

    /// A frame has reported all that has arrived.
    fn note_reported(&mut self) {
        self.reported.rotate_right(1);
        self.reported[0] = std::mem::replace(&mut self.unreported, NONE);
        self.repeated = self.reported.into_iter().min().unwrap_or(NONE);
    }
}

#[cfg(test)]
mod tests;
