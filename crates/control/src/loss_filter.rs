//! Smoothed loss rate by packet numbers, used by all of picoquic's controllers with a loss rate, including
//! C4 (c4.md section 2, picoquic-controllers.md section 1).
//!
//! Only losses advance it: the packets between two losses count as delivered, up to 32 of them. Each
//! packet number since the last loss decays the rate by 15/16, the lost packet's own included, and the
//! loss then adds a sixteenth of what is missing to one. From zero, losses in a row give 0.0625, 0.1174,
//! 0.1657: a threshold of 0.15 takes three.
//!
//! # Limits
//! Packet 0 is never counted: the filter starts as if it had been the last loss.

/// Packets that a gap between two losses counts at most.
const SCOPE: u64 = 32;
/// Weight of one packet.
const WEIGHT: f64 = 1.0 / 16.0;

/// The filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossFilter {
    rate: f64,
    last_lost: u64,
}

impl LossFilter {
    /// Smoothed loss rate, from 0 to 1.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// A filter at that rate, whose last loss was that packet.
    #[cfg(test)]
    pub fn at(rate: f64, last_lost: u64) -> LossFilter {
        LossFilter { rate, last_lost }
    }

    /// The last lost packet that counted.
    #[cfg(test)]
    pub fn last_lost(&self) -> u64 {
        self.last_lost
    }

    /// Counts a loss, unless a later packet was counted already; returns whether it counted.
    pub fn record(&mut self, packet: u64) -> bool {
        if packet <= self.last_lost {
            return false;
        }
        for _ in 0..(packet - self.last_lost).min(SCOPE) {
            self.rate *= 1.0 - WEIGHT;
        }
        self.rate += (1.0 - self.rate) * WEIGHT;
        self.last_lost = packet;
        true
    }

    /// Resets the rate but not the position: the next loss still has its distance to the last one.
    pub fn clear(&mut self) {
        self.rate = 0.0;
    }

    /// Counts a loss and tells whether the rate now exceeds `threshold`; false if it did not count.
    pub fn record_exceeds(&mut self, packet: u64, threshold: f64) -> bool {
        self.record(packet) && self.rate > threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_losses_in_a_row_exceed_fifteen_percent() {
        let mut filter = LossFilter::default();
        assert!(!filter.record_exceeds(100, 0.15));
        assert_eq!(filter.rate(), 0.0625); // 1/16
        assert!(!filter.record_exceeds(101, 0.15));
        // 0.0625*15/16 = 0.05859; + (1 - 0.05859)/16 = 0.11743
        assert!((filter.rate() - 0.11743).abs() < 1e-5);
        assert!(filter.record_exceeds(102, 0.15));
        // 0.11743*15/16 = 0.11009; + (1 - 0.11009)/16 = 0.16571
        assert!((filter.rate() - 0.16571).abs() < 1e-5);
    }

    #[test]
    fn a_gap_counts_as_32_packets_at_most() {
        let after = |gap: u64| {
            let mut filter = LossFilter::default();
            filter.record(1_000);
            filter.record(1_000 + gap);
            filter.rate()
        };
        assert_eq!(after(32), after(5_000));
        assert!(after(31) > after(32));
        // 0.0625 * (15/16)^32 = 0.007924 remains; + (1 - 0.007924)/16 = 0.069929
        assert!((after(32) - 0.069_929).abs() < 1e-6);
    }

    #[test]
    fn losses_reported_out_of_order_and_packet_zero_do_not_count() {
        let mut filter = LossFilter::default();
        assert!(!filter.record(0));
        assert!(filter.record(50));
        assert!(!filter.record(50) && !filter.record(49));
        assert_eq!(filter.rate(), 0.0625);
    }
}
