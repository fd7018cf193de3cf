//! Largest bandwidth of the last two ProbeBW cycles (draft-ietf-ccwg-bbr-06 sections 5.5.2 to 5.5.6).

use thalweg_units::Rate;

/// The maximum filter: one slot for the previous cycle and one for the current.
#[derive(Clone, Debug, Default)]
pub struct MaxBw {
    slots: [Rate; 2],
}

impl MaxBw {
    /// BBR.max_bw; zero before the first sample.
    pub fn get(&self) -> Rate {
        self.slots[0].max(self.slots[1])
    }

    /// UpdateMaxBw(): an application-limited sample counts only if it raises the estimate
    /// (section 5.5.4).
    pub fn update(&mut self, sample: Rate, is_app_limited: bool) {
        if sample >= self.get() || !is_app_limited {
            self.slots[1] = self.slots[1].max(sample);
        }
    }

    /// AdvanceMaxBwFilter(): a cycle has ended. A cycle without any sample does not advance the filter,
    /// which would otherwise become empty.
    pub fn advance(&mut self) {
        if !self.slots[1].is_zero() {
            self.slots = [self.slots[1], Rate::ZERO];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn mbps(n: u64) -> Rate {
        Rate::from_bits_per_sec(n * 1_000_000)
    }

    #[test]
    fn a_sample_is_forgotten_after_two_cycles() {
        let mut filter = MaxBw::default();
        filter.update(mbps(20), false);
        filter.advance();
        filter.update(mbps(10), false);
        assert_eq!(filter.get(), mbps(20));
        filter.advance();
        assert_eq!(filter.get(), mbps(10));
    }

    #[test]
    fn an_app_limited_sample_can_only_raise_the_estimate() {
        let mut filter = MaxBw::default();
        filter.update(mbps(20), false);
        filter.advance();
        filter.update(mbps(5), true);
        filter.advance(); // no sample in this cycle, so nothing expires
        assert_eq!(filter.get(), mbps(20));
        filter.update(mbps(25), true);
        assert_eq!(filter.get(), mbps(25));
    }
}
