//! Exact transmission time of a packet at a constant rate, in whole nanoseconds.
//!
//! Work is counted in nanobits: a rate in bit/s moves that many nanobits per nanosecond. Most packets
//! have the size of the packet before them, so the division is remembered, and the credit that a
//! packet has from its predecessor only moves its remainder.

use thalweg_units::{Bytes, Rate};

/// A rate of one bit per second moves one nanobit per nanosecond.
pub(crate) const NANOBITS_PER_BYTE: u64 = 8_000_000_000;

/// The work of transmitting `size`; saturates above 2.3 GB.
#[inline]
pub(crate) fn nanobits(size: Bytes) -> u64 {
    size.as_u64().saturating_mul(NANOBITS_PER_BYTE)
}

/// The transmission time of the last size at the last rate.
#[derive(Debug, Default)]
pub(crate) struct TransmissionTime {
    rate: u64,
    size: Bytes,
    /// Whole nanoseconds that the packet fills.
    full: u64,
    /// Nanobits left over for the nanosecond after them.
    rest: u64,
}

impl TransmissionTime {
    /// Nanoseconds, rounded up, until all of `size` less `credit` nanobits is sent, and the nanobits
    /// that could still be sent in the last of them. `None` for a rate of zero, and if the credit exceeds
    /// the remainder by a nanosecond or more, as it can after the rate has dropped.
    #[inline]
    pub(crate) fn of(&mut self, rate: Rate, size: Bytes, credit: u64) -> Option<(u64, u64)> {
        let rate = rate.as_bits_per_sec();
        if self.rate != rate || self.size != size {
            let work = nanobits(size);
            *self = TransmissionTime {
                rate,
                size,
                full: work.checked_div(rate)?,
                rest: work % rate,
            };
        }
        if credit >= self.rest {
            // full * rate + rest - credit lies at most one nanosecond below full * rate.
            let over = credit - self.rest;
            (over < rate).then_some((self.full, over))
        } else {
            Some((self.full + 1, rate - (self.rest - credit)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_suspended_link_sends_nothing() {
        let mut last = TransmissionTime::default();
        assert_eq!(last.of(Rate::ZERO, Bytes::new(1), 0), None);
        assert_eq!(last.of(Rate::ZERO, Bytes::ZERO, 0), None);
    }

    proptest! {
        /// The remembered division gives what a division of the work itself gives: the least time in
        /// which the work, less the credit, can be sent, and what else could be sent in that time.
        #[test]
        fn work_and_credit_balance_at_any_rate(
            packets in prop::collection::vec((1u64..4, 0u64..3, 0u64..30_000_000_000), 1..50),
        ) {
            let mut last = TransmissionTime::default();
            for (rate, size, credit) in packets {
                let (rate, size) = (rate * 7_000_000_003, Bytes::new(size * 1252));
                let result = last.of(Rate::from_bits_per_sec(rate), size, credit);
                let work = nanobits(size).saturating_sub(credit);
                let spare = credit.saturating_sub(nanobits(size));
                let time = work.div_ceil(rate);
                let expected = (time, time * rate - work + spare);
                match result {
                    Some(result) => prop_assert_eq!(result, expected),
                    None => prop_assert!(credit >= nanobits(size) % rate + rate),
                }
            }
        }
    }
}
