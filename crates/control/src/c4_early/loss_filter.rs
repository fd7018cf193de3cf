//! The loss rate that C4 reacts to: an exponential average that only losses advance.
//!
//! Packets between two losses count as delivered, and a gap of more than 32 packets counts as 32. The
//! filter is never reset. Source: c4-history.md section 2.3 (`on_loss`).

/// Most packets that a gap between two losses counts for.
const SCOPE: u64 = 32;
/// Weight of one packet.
const GAIN: f64 = 1.0 / 16.0;

/// Average loss rate, as losses see it.
#[derive(Clone, Debug, Default)]
pub(super) struct LossFilter {
    rate: f64,
    last_lost: u64,
}

impl LossFilter {
    /// Takes a lost packet and gives the new rate; `None` for a packet older than the last that counted.
    pub(super) fn lost(&mut self, packet: u64) -> Option<f64> {
        if packet <= self.last_lost {
            return None;
        }
        for _ in 0..(packet - self.last_lost).min(SCOPE) {
            self.rate *= 1.0 - GAIN;
        }
        self.rate += (1.0 - self.rate) * GAIN;
        self.last_lost = packet;
        Some(self.rate)
    }

    /// The present rate, from 0 to 1.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants::LOSS_THRESHOLD;
    use super::*;

    #[test]
    fn from_zero_three_losses_in_a_row_are_congestion_and_two_are_not() {
        // 1/16 = .0625 ; .0625*15/16 + (1-.0586)/16 = .1174 ; .1174*15/16 + (1-.1101)/16 = .1657
        let mut filter = LossFilter::default();
        let rates: Vec<_> = (100..103)
            .map(|packet| filter.lost(packet).unwrap())
            .collect();
        assert_eq!(rates[0], 0.0625);
        assert!(
            rates[1] < LOSS_THRESHOLD && rates[2] > LOSS_THRESHOLD,
            "{rates:?}"
        );
    }

    #[test]
    fn a_gap_longer_than_the_scope_counts_as_the_scope() {
        let (mut near, mut far) = (LossFilter::default(), LossFilter::default());
        (1..=10).for_each(|packet| {
            near.lost(packet);
            far.lost(packet);
        });
        assert_eq!(near.lost(10 + 32), far.lost(10 + 3200));
        assert_ne!(near.lost(10 + 32 + 31), far.lost(10 + 3200 + 32));
    }

    #[test]
    fn an_old_loss_counts_for_nothing() {
        let mut filter = LossFilter::default();
        filter.lost(10);
        assert_eq!(filter.lost(10), None);
        assert_eq!(filter.lost(9), None);
        assert_eq!(filter.rate(), 0.0625);
    }
}
