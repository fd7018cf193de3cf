//! Full-pipe estimator: a plateau of the delivery rate (draft-ietf-ccwg-bbr-06 section 5.3.1.2).

use super::Gain;
use thalweg_units::Rate;

/// Growth of the delivery rate that shows that the pipe is not full.
const GROWTH: Gain = Gain::percent(125);
/// Rounds without such growth that show a full pipe.
const ROUNDS: u32 = 3;

/// Counts rounds in which sending faster did not deliver faster.
#[derive(Clone, Debug, Default)]
pub struct FullPipe {
    /// BBR.full_bw_reached: the pipe was full at some time.
    pub reached: bool,
    /// BBR.full_bw_now: the pipe is full since the search began.
    pub now: bool,
    /// BBR.full_bw: the rate to grow from.
    pub baseline: Rate,
    count: u32,
}

impl FullPipe {
    /// ResetFullBW(), then counts growth from `baseline`.
    pub fn restart(&mut self, baseline: Rate) {
        (self.now, self.baseline, self.count) = (false, baseline, 0);
    }

    /// CheckFullBWReached(), for the sample of an ACK that began a round and was not
    /// application-limited.
    pub fn check(&mut self, sample: Rate) {
        self.check_growth(sample, GROWTH);
    }

    /// The same for another measure of growth.
    pub fn check_growth(&mut self, sample: Rate, growth: Gain) {
        if self.now {
            return;
        }
        if sample >= growth.of_rate(self.baseline) {
            self.restart(sample);
            return;
        }
        self.count += 1;
        self.now = self.count >= ROUNDS;
        self.reached |= self.now;
    }

    /// Loss has shown that the pipe is full (section 5.3.1.3).
    pub fn declare(&mut self) {
        (self.now, self.reached) = (true, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_of_growth_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        // 1000 -> 1250 is just enough growth; 1250 -> 1561 falls short of 1562.5, three times.
        for rate in [1000, 1250, 1561, 1561] {
            pipe.check(Rate::from_bits_per_sec(rate));
            assert!(!pipe.now);
        }
        pipe.check(Rate::from_bits_per_sec(1561));
        assert!(pipe.now && pipe.reached);
    }

    #[test]
    fn growth_starts_the_count_again_but_reached_stays() {
        let mut pipe = FullPipe::default();
        for rate in [100, 100, 100, 200, 200, 200] {
            pipe.check(Rate::from_bits_per_sec(rate));
        }
        assert!(!pipe.now);
        pipe.check(Rate::from_bits_per_sec(200));
        pipe.restart(Rate::ZERO);
        assert!(!pipe.now && pipe.reached);
    }
}
