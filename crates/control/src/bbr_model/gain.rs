//! Gains: factors of a rate, a volume or a time.

use thalweg_units::{Bytes, Duration, Rate};

/// A gain, exact in thousandths: all gains of the BBR drafts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gain(u64);

impl Gain {
    /// A gain of one.
    pub const UNITY: Gain = Gain(1000);

    /// `n` hundredths.
    pub const fn percent(n: u64) -> Self {
        Gain(n * 10)
    }
    /// `n` thousandths.
    pub const fn permille(n: u64) -> Self {
        Gain(n)
    }
    /// The gain times a rate.
    pub fn of_rate(self, rate: Rate) -> Rate {
        rate.mul_div(self.0, 1000)
    }
    /// The gain times a volume of data.
    pub fn of_bytes(self, volume: Bytes) -> Bytes {
        volume.mul_div(self.0, 1000)
    }
    /// A volume over one less the gain, which is below one.
    pub fn of_rest(self, volume: Bytes) -> Bytes {
        volume.mul_div(1000, 1000 - self.0)
    }
    /// A volume times the gain over one less the gain, which is below one.
    pub fn odds_of(self, volume: Bytes) -> Bytes {
        volume.mul_div(self.0, 1000 - self.0)
    }
    /// The gain times a span of time.
    pub fn of_duration(self, span: Duration) -> Duration {
        span.mul_div(self.0, 1000)
    }
    /// The gain as a real number, for traces.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}
