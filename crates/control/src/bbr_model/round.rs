//! Packet-timed round trips (draft-ietf-ccwg-bbr-06 section 5.5.1).
//!
//! A round ends when a packet is acknowledged that was sent after the round began, as shown by the
//! total delivered at its departure. The same clock tells whether the window was fully used in the last
//! round (C.is_cwnd_limited, section 2.2).

use thalweg_units::Bytes;

/// Counter of round trips.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// BBR.round_count.
    pub count: u64,
    /// BBR.round_start: whether this ACK began a round.
    pub start: bool,
    next_delivered: Bytes,
    window_limited_now: bool,
    window_limited_before: bool,
}

impl Round {
    /// UpdateRound(): `prior_delivered` belongs to the newest acknowledged packet.
    pub fn update(&mut self, prior_delivered: Bytes, delivered: Bytes) {
        self.start = prior_delivered >= self.next_delivered;
        if self.start {
            self.begin(delivered);
            self.count += 1;
            self.window_limited_before = std::mem::take(&mut self.window_limited_now);
        }
    }

    /// StartRound(): a new round begins now.
    pub fn begin(&mut self, delivered: Bytes) {
        self.next_delivered = delivered;
    }

    /// Records that a packet filled the window.
    pub fn on_window_used_up(&mut self) {
        self.window_limited_now = true;
    }

    /// C.is_cwnd_limited: the window was used up at some point in the current or the last round.
    pub fn is_window_limited(&self) -> bool {
        self.window_limited_now || self.window_limited_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_the_first_packet_sent_after_it_began() {
        let mut round = Round::default();
        let kb = |n: u64| Bytes::new(n * 1000);
        round.update(kb(0), kb(1));
        assert!(round.start && round.count == 1);
        // Two more packets of the first flight: they left when nothing was delivered.
        round.update(kb(0), kb(2));
        assert!(!round.start);
        round.update(kb(1), kb(3));
        assert!(round.start && round.count == 2);
    }

    #[test]
    fn a_used_up_window_counts_until_the_next_full_round_has_passed() {
        let mut round = Round::default();
        round.on_window_used_up();
        round.update(Bytes::ZERO, Bytes::new(1));
        assert!(round.is_window_limited());
        round.update(Bytes::new(1), Bytes::new(2));
        assert!(!round.is_window_limited());
    }
}
