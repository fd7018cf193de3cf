//! The shaper of CAKE, in deficit mode: each packet moves the time of the next one on by its own length at the bandwidth, and no
//! burst is saved up (`cake_advance_shaper`).
//!
//! # Model
//! A packet leaves when that time has come. On a link that is slower than the bandwidth for a while the time falls behind,
//! and the shaper catches up as long as packets wait. When a packet comes to an empty queue, what lies behind is
//! forgotten. A wait that has begun goes on when another discipline takes over meanwhile.

use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Nanobits of a byte: with bits per second they give nanoseconds.
const NANOBITS: u128 = 8_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    pub(super) rate: Rate,
    /// When the next packet may leave.
    next: Instant,
    /// Nanobits charged beyond `next`, less than a nanosecond's worth.
    rest: u128,
}

impl Shaper {
    /// `rate` is above zero.
    pub(super) fn new(rate: Rate, since: Instant) -> Self {
        Shaper {
            rate,
            next: since,
            rest: 0,
        }
    }

    /// A packet comes to an empty queue.
    pub(super) fn refresh(&mut self, now: Instant) {
        if self.next < now {
            self.next = now;
            self.rest = 0;
        }
    }

    /// Until when nothing may leave, if that is after `now`.
    pub(super) fn wait(&self, now: Instant) -> Option<Instant> {
        (self.next > now).then_some(self.next)
    }

    /// A packet leaves.
    pub(super) fn charge(&mut self, size: Bytes) {
        let rate = u128::from(self.rate.as_bits_per_sec().max(1));
        let work = u128::from(size.as_u64()) * NANOBITS + self.rest;
        let span = u64::try_from(work / rate).unwrap_or(u64::MAX);
        self.next += Duration::from_nanos(span);
        self.rest = work % rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_packet::at;

    #[test]
    fn charges_add_up_to_the_rate_without_rounding() {
        // 3 packets of 1000 bytes at 7 Mbps: 24 000 bits in 3 428 571.43 ns; 7000 of them in 8 s.
        let mut shaper = Shaper::new(Rate::from_bits_per_sec(7_000_000), at(0));
        (0..3).for_each(|_| shaper.charge(Bytes::new(1000)));
        assert_eq!(shaper.next, Instant::from_nanos(3_428_571));
        (3..7000).for_each(|_| shaper.charge(Bytes::new(1000)));
        assert_eq!(shaper.next, at(8000));
    }

    #[test]
    fn idleness_saves_nothing_up_and_lateness_does() {
        let mut shaper = Shaper::new(Rate::from_bits_per_sec(8_000_000), at(0));
        shaper.charge(Bytes::new(1000));
        assert_eq!(
            (shaper.wait(at(0)), shaper.wait(at(1))),
            (Some(at(1)), None)
        );
        // A packet that leaves 4 ms late: the next one may leave at once.
        shaper.charge(Bytes::new(1000));
        assert_eq!(shaper.wait(at(5)), None);
        // One that comes to an empty queue: only it.
        shaper.refresh(at(9));
        shaper.charge(Bytes::new(1000));
        assert_eq!(shaper.wait(at(9)), Some(at(10)));
    }
}
