//! Losses: the smoothed loss rate, and when it means congestion.
//!
//! draft-huitema-ccwg-c4-spec, "Detecting Excessive Losses". The text updates the rate for every packet;
//! the reference code only at losses, where the packets between two losses count as delivered and a gap
//! of more than 32 packets counts as 32. Every loss thus decays the rate at least once before it adds to it.

use super::congestion::Signal;
use super::constants::{LOSS_GAIN, LOSS_SCOPE};
use super::sensitivity::{loss_threshold, sensitivity};
use super::{C4, State};
use crate::PathState;

/// Exponentially weighted share of lost packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossFilter {
    rate: f64,
    last_lost: u64,
}

impl LossFilter {
    /// Counts the loss of `packet`. Packets older than the last counted loss change nothing.
    pub(super) fn lose(&mut self, packet: u64) {
        if packet <= self.last_lost {
            return;
        }
        let gap = (packet - self.last_lost).min(LOSS_SCOPE);
        for _ in 0..gap {
            self.rate *= 1.0 - LOSS_GAIN;
        }
        self.rate += (1.0 - self.rate) * LOSS_GAIN;
        self.last_lost = packet;
    }

    /// The smoothed share, 0 to 1.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Forgets the rate, not the position: the next loss still sees its distance to the last one.
    pub(super) fn clear(&mut self) {
        self.rate = 0.0;
    }
}

impl C4 {
    /// One packet was lost. Losses of packets that left before Recovery began are what Recovery is the
    /// answer to, and are passed over.
    pub(super) fn lost(&mut self, packet: u64, path: &PathState) {
        if self.state == State::Recovery && packet < self.era.start {
            return;
        }
        self.loss.lose(packet);
        if self.loss.rate() > loss_threshold(sensitivity(self.nominal_rate)) {
            match self.state {
                State::Initial => self.initial_excess_loss(path),
                _ => self.congestion(Signal::Loss, path),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    fn threshold(bytes_per_second: u64) -> f64 {
        loss_threshold(sensitivity(Rate::from_bytes_per_sec(bytes_per_second)))
    }

    #[test]
    fn an_isolated_loss_counts_for_one_sixteenth() {
        let mut filter = LossFilter::default();
        filter.lose(1_000);
        assert_eq!(filter.rate(), 1.0 / 16.0);
    }

    #[test]
    fn a_gap_of_more_than_32_packets_counts_as_32() {
        let (mut near, mut far) = (LossFilter::default(), LossFilter::default());
        for (filter, second) in [(&mut near, 132), (&mut far, 9_000)] {
            filter.lose(100);
            filter.lose(second);
        }
        assert_eq!(near.rate(), far.rate());
        // 1/16 * (15/16)^32 = 0.007924; plus 1/16 of the rest, 0.992076/16 = 0.062005
        assert!((near.rate() - 0.069_929).abs() < 1e-6, "{}", near.rate());
    }

    #[test]
    fn a_loss_older_than_the_last_one_changes_nothing() {
        let mut filter = LossFilter::default();
        filter.lose(100);
        filter.lose(99);
        assert_eq!(filter.rate(), 1.0 / 16.0);
    }

    /// Threshold 0.0625 lies between sensitivities 936 and 937:
    /// 0.02 + 0.5 * 88/1024 = 0.06297 and 0.02 + 0.5 * 87/1024 = 0.06248.
    /// 937 is reached at 50 000 + ceil(937 * 950 000 / 963) = 974 351 B/s.
    #[test]
    fn a_single_loss_is_congestion_from_974_kilobytes_per_second_on() {
        let mut filter = LossFilter::default();
        filter.lose(40);
        assert!(filter.rate() <= threshold(974_350));
        assert!(filter.rate() > threshold(974_351));
    }

    /// At 0.5 MB/s the threshold is 0.02 + 0.5 * (1 - 456/1024) = 0.2973. Consecutive losses give
    /// d := d * (15/16)^2 + 1/16: 0.0625, 0.1174, 0.1657, 0.2081, 0.2454, 0.2782, 0.3070.
    #[test]
    fn it_takes_seven_losses_in_a_row_at_half_a_megabyte_per_second() {
        let mut filter = LossFilter::default();
        for packet in 100..106 {
            filter.lose(packet);
        }
        assert!(filter.rate() < threshold(500_000), "{}", filter.rate());
        filter.lose(106);
        assert!(filter.rate() > threshold(500_000), "{}", filter.rate());
    }
}
