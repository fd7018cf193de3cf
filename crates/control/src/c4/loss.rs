//! Losses: when the smoothed loss rate means congestion.
//!
//! draft-huitema-ccwg-c4-spec, "Detecting Excessive Losses". The text updates the rate for every packet;
//! the reference code only at losses ([`crate::loss_filter`]).

use super::congestion::Signal;
use super::sensitivity::loss_threshold;
use super::{C4, State};
use crate::PathState;

impl C4 {
    /// One packet was lost. Losses of packets sent before Recovery began are ignored, since Recovery already
    /// responds to them.
    pub(super) fn lost(&mut self, packet: u64, path: &PathState) {
        if self.state == State::Recovery && packet < self.era.start {
            return;
        }
        self.loss.record(packet);
        if self.loss.rate() > loss_threshold(self.tuning.sensitivity(self.nominal_rate)) {
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
    use crate::c4::sensitivity::sensitivity;
    use crate::loss_filter::LossFilter;
    use thalweg_units::Rate;

    fn threshold(bytes_per_second: u64) -> f64 {
        loss_threshold(sensitivity(Rate::from_bytes_per_sec(bytes_per_second)))
    }

    /// Threshold 0.0625 lies between sensitivities 936 and 937:
    /// 0.02 + 0.5 * 88/1024 = 0.06297 and 0.02 + 0.5 * 87/1024 = 0.06248.
    /// 937 is reached at 50 000 + ceil(937 * 950 000 / 963) = 974 351 B/s.
    #[test]
    fn a_single_loss_is_congestion_from_974_kilobytes_per_second_on() {
        let mut filter = LossFilter::default();
        filter.record(40);
        assert!(filter.rate() <= threshold(974_350));
        assert!(filter.rate() > threshold(974_351));
    }

    /// At 0.5 MB/s the threshold is 0.02 + 0.5 * (1 - 456/1024) = 0.2973. Consecutive losses give
    /// d := d * (15/16)^2 + 1/16: 0.0625, 0.1174, 0.1657, 0.2081, 0.2454, 0.2782, 0.3070.
    #[test]
    fn it_takes_seven_losses_in_a_row_at_half_a_megabyte_per_second() {
        let mut filter = LossFilter::default();
        for packet in 100..106 {
            filter.record(packet);
        }
        assert!(filter.rate() < threshold(500_000), "{}", filter.rate());
        filter.record(106);
        assert!(filter.rate() > threshold(500_000), "{}", filter.rate());
    }
}
