//! Receivers that report something else than what has arrived, to get more than their share.
//!
//! # Sources
//! The attacks on TCP of Savage, Cardwell, Wetherall and Anderson ("TCP Congestion Control with a Misbehaving Receiver", 1999),
//! as far as QUIC leaves room for them (RFC 9000 section 21.4); and a receiver that does not report marks (RFC 9000 section
//! 13.4.2).
//!
//! # Model
//! - *Optimistic ACKs*: each frame claims all numbers up to the largest that has arrived, lost or not, and half as many beyond
//!   it as arrived in the last half of a round trip: about half of what is on its way, to be on the safe side. So losses do
//!   not show, and samples of the RTT are shorter. The claims do not stop where the sender does.
//! - *ACK division*: each packet is acknowledged at once, in eight frames with the same contents. (An ACK of QUIC names packets
//!   and not bytes, so that there are no parts of a packet.)
//! - *Hidden CE*: marks are reported as the codepoint that the sender has set.

use crate::packet::{AckDelay, AckFrame};
use std::num::NonZero;
use thalweg_units::{Duration, Instant};

/// Frames for one packet of a receiver that divides ACKs.
const COPIES: u32 = 8;

/// How a receiver reports what has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckConduct {
    /// As it is.
    #[default]
    Honest,
    /// It acknowledges what has not arrived.
    Optimistic,
    /// It sends many frames for each packet.
    Divided,
    /// It reports no marks.
    HidesCe,
}

/// State of a receiver that is not honest.
#[derive(Debug)]
pub(crate) struct Dishonest {
    conduct: AckConduct,
    /// Frames of the present packet that have been sent.
    copies: u32,
    /// Half a round trip, by the handshake.
    half_rtt: Duration,
    /// When the present half began, and how many packets had arrived by then.
    since: Instant,
    before: u64,
    /// Half of the packets that arrived in the last complete half.
    lead: u64,
}

impl Dishonest {
    pub(crate) fn new(conduct: AckConduct) -> Option<Box<Self>> {
        (conduct != AckConduct::Honest).then(|| {
            Box::new(Dishonest {
                conduct,
                copies: 0,
                half_rtt: Duration::MAX,
                since: Instant::START,
                before: 0,
                lead: 0,
            })
        })
    }

    /// Whether each packet has frames of its own, whatever the sender requests.
    pub(crate) fn divides(&self) -> bool {
        self.conduct == AckConduct::Divided
    }

    /// The round-trip time of the handshake.
    pub(crate) fn note_rtt(&mut self, rtt: Duration) {
        self.half_rtt = rtt / 2;
    }

    /// Whether the same frame is sent once more.
    pub(crate) fn repeats(&mut self) -> bool {
        if !self.divides() {
            return false;
        }
        self.copies = (self.copies + 1) % COPIES;
        self.copies != 0
    }

    /// What it makes of a frame, after so many packets in total.
    pub(crate) fn distort(&mut self, now: Instant, total: u64, frame: &mut AckFrame) {
        match self.conduct {
            AckConduct::Honest | AckConduct::Divided => {}
            AckConduct::HidesCe => {
                let marks = std::mem::take(&mut frame.ecn.ce);
                match frame.ecn.ect1 {
                    0 => frame.ecn.ect0 += marks,
                    _ => frame.ecn.ect1 += marks,
                }
            }
            AckConduct::Optimistic => {
                if now - self.since >= self.half_rtt {
                    self.lead = (total - self.before) / 2;
                    (self.since, self.before) = (now, total);
                }
                claim_all(frame, frame.largest + self.lead);
            }
        }
    }
}

/// Acknowledges every number up to `largest`.
fn claim_all(frame: &mut AckFrame, largest: u64) {
    frame.largest = largest;
    let word = u64::MAX >> (63 - largest % 64);
    frame.newest = NonZero::new(word).unwrap_or(NonZero::<u64>::MAX);
    for (back, older) in (1..).zip(&mut frame.older) {
        *older = if largest / 64 >= back { u64::MAX } else { 0 };
    }
    frame.oldest = None;
    frame.from = 0;
    frame.delay = AckDelay::new(Duration::ZERO);
}
