//! What a call sends to learn the capacity of its path: padding, or packets of repair that nobody asked for.
//!
//! # Model
//! A sender of media has less to send than its controller allows, so that the controller measures the media and not
//! the path. A prober fills the gap. It hands its transport a datagram at a time, when
//!
//! - nothing else waits to be sent: it never stands before media, and what congestion control holds back is not
//!   probed with;
//! - all that the sender has handed over, at the target rate, would have left: media and probes together are not
//!   faster than the target;
//! - probes so far are, with this one, at most the budget's share of all that was sent. Of what was not used the
//!   budget of one second at the target is kept, so that a quiet time is not made up for in a burst.
//!
//! All of it is carried by the connection, paced and counted for congestion control, and lost like media.
//!
//! # Source
//! Senders of WebRTC probe by padding of RTP; a QUIC sender has PADDING frames, which count as in flight as well
//! (RFC 9002 section 2). That a controller must not take a
//! rate for the capacity which its application limited is RFC 9002 section 7.8; forward error correction as the means
//! to probe with is the subject of *Congestion control using FEC for conversational media* (Nagy, Singh, Ott and Eggert,
//! MMSys 2014).
//!
//! # Limits
//! A prober does not listen to congestion: that is the controller's part. It probes all the time, and not in bursts.

use super::part::Part;
use crate::scenario::media::{By, PART, ProbeSpec};
use crate::trial::stack::Endpoint;
use thalweg_units::{Bytes, Duration, Fraction, Instant};

/// The number of no stream of media, by which a receiver knows padding.
const PADDING: u32 = 0x7f;
/// After media at one priority.
const LAST: u8 = u8::MAX;
/// How soon a prober looks again whether nothing waits, at least.
const LOOK: Duration = Duration::from_millis(1);
/// How long an unused budget is kept.
const KEPT: Duration = Duration::from_secs(1);

/// The prober of one sender.
#[derive(Debug)]
pub(super) struct Prober {
    spec: ProbeSpec,
    /// When all that was handed over would have left at the target rate.
    full_until: Instant,
    /// When to look next.
    looks: Instant,
    /// The budget that is left: bytes of probes, times what of all bytes is not for probes.
    left: u128,
    /// Bytes of probes.
    pub(super) sent: Bytes,
}

/// Bytes in the units of the budget: parts per billion of all bytes.
fn share_of(bytes: u64, share: Fraction) -> u128 {
    u128::from(bytes) * u128::from(share.parts_per_billion())
}

impl Prober {
    pub(super) fn new(spec: ProbeSpec) -> Prober {
        Prober {
            spec,
            full_until: Instant::START,
            looks: Instant::START,
            left: 0,
            sent: Bytes::ZERO,
        }
    }

    /// Whether its probes repair frames.
    pub(super) fn is_coded(&self) -> bool {
        self.spec.is_coded()
    }

    /// The budget for media of so many bytes: with `b` of all bytes for probes, `m` bytes of media allow `p = m b / (1 - b)`
    /// of probes. Kept are `p (1 - b)`.
    pub(super) fn send_media(&mut self, now: Instant, bytes: u64) {
        let kept = self.spec.target.bytes_in(KEPT).as_u64().max(PART);
        let most = share_of(kept, self.spec.budget).max(self.cost(PART));
        self.left = (self.left + share_of(bytes, self.spec.budget)).min(most);
        self.occupy(now, bytes);
    }

    /// What a probe takes of the budget.
    fn cost(&self, bytes: u64) -> u128 {
        share_of(bytes, self.spec.budget.rest())
    }

    fn occupy(&mut self, now: Instant, bytes: u64) {
        let time = self.spec.target.time_for(Bytes::new(bytes));
        self.full_until = self.full_until.max(now) + time;
    }

    /// When it has something to do; never without budget, which media brings.
    pub(super) fn next(&self) -> Instant {
        match self.left >= self.cost(PART) && !self.spec.budget.is_zero() {
            true => self.full_until.max(self.looks),
            false => Instant::NEVER,
        }
    }

    /// Sends what is due; a packet of repair is of `newest`, if there is a frame.
    pub(super) fn probe(
        &mut self,
        now: Instant,
        sender: &mut Endpoint,
        newest: impl FnOnce() -> Option<(Part, u64)>,
    ) {
        if self.next() > now {
            return;
        }
        self.looks = now + LOOK;
        if sender.has_data() {
            return;
        }
        let padding = Part {
            stream: PADDING,
            frame: 0,
            number: 0,
            is_repeat: false,
        };
        let chosen = match self.spec.by {
            By::Padding => Some((padding, PART)),
            By::Redundancy => newest(),
        };
        let Some((part, len)) = chosen else { return };
        sender.send_datagram(len as u32, part.tag(), LAST);
        self.sent += Bytes::new(len);
        self.left -= self.cost(len);
        self.occupy(now, len);
        self.looks = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    fn prober(budget: f64) -> Prober {
        Prober::new(ProbeSpec {
            target: Rate::from_bits_per_sec(9_200_000), // a packet each millisecond
            budget: Fraction::from_f64(budget),
            by: By::Padding,
        })
    }

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn media_brings_the_budget_and_the_target_the_time() {
        let mut prober = prober(0.5);
        assert_eq!(prober.next(), Instant::NEVER);
        // Half of a packet is not enough for one.
        prober.send_media(at(10), PART / 2);
        assert_eq!(prober.next(), Instant::NEVER);
        prober.send_media(at(10), PART / 2);
        assert_eq!(prober.next(), at(11));
        // What media fills of the target is later.
        prober.send_media(at(10), 3 * PART);
        assert_eq!(prober.next(), at(14));
    }

    #[test]
    fn no_more_of_the_budget_is_kept_than_that_of_a_second() {
        let mut prober = prober(0.2);
        for ms in 0..100_000 {
            prober.send_media(at(ms), PART);
        }
        // A fifth of 1 150 000 bytes a second, for probes that cost four fifths of theirs each.
        let packets = prober.left / prober.cost(PART);
        assert_eq!(packets, 250); // 0.2 * 1000 / 0.8
    }
}
