//! Data rates in bits per second.

use crate::parse::{ParseError, quantity, write_scaled};
use crate::{Bytes, Duration};
use std::fmt;
use std::str::FromStr;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// One byte per nanosecond is 8 * 10^9 bits per second.
const BIT_NANOS_PER_BYTE: u64 = 8 * NANOS_PER_SECOND;
const ACCEPTED: &str = "\"20 Mbps\", \"1.5 Gbps\", \"512 kbps\", \"0 bps\"";
const UNITS: [(&str, u64); 9] = [
    ("Tbps", 1_000_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("kbps", 1_000),
    ("bps", 1),
    ("Gbit/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("kbit/s", 1_000),
    ("bit/s", 1),
];

/// A data rate in bits per second. Zero means that nothing moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Rate = Rate(0);

    /// `n` bits per second.
    #[inline]
    pub const fn from_bits_per_sec(n: u64) -> Self {
        Rate(n)
    }
    /// `n` bytes per second.
    #[inline]
    pub const fn from_bytes_per_sec(n: u64) -> Self {
        Rate(n.saturating_mul(8))
    }
    /// The rate that moves `amount` in `span`, truncated; zero when `span` is zero.
    pub fn over(amount: Bytes, span: Duration) -> Self {
        match span.as_nanos() {
            0 => Rate::ZERO,
            nanos => Rate(mul_div(amount.as_u64(), BIT_NANOS_PER_BYTE, nanos)),
        }
    }
    /// Bits per second.
    #[inline]
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }
    /// Whole bytes per second, truncated.
    #[inline]
    pub const fn as_bytes_per_sec(self) -> u64 {
        self.0 / 8
    }
    /// Whether nothing moves.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// Whole bytes that pass in `span`, truncated.
    #[inline]
    pub fn bytes_in(self, span: Duration) -> Bytes {
        Bytes::new(mul_div(self.0, span.as_nanos(), BIT_NANOS_PER_BYTE))
    }
    /// Time to move `amount`, truncated to nanoseconds; [`Duration::MAX`] at rate zero.
    pub fn time_for(self, amount: Bytes) -> Duration {
        match self.0 {
            0 => Duration::MAX,
            rate => Duration::from_nanos(mul_div(amount.as_u64(), BIT_NANOS_PER_BYTE, rate)),
        }
    }
    /// `self * numerator / denominator`, exact in between, truncated. `denominator` must not be 0.
    #[inline]
    pub fn mul_div(self, numerator: u64, denominator: u64) -> Rate {
        Rate(mul_div(self.0, numerator, denominator))
    }
    /// The rate times a real factor, for algorithms that are defined on real numbers.
    #[inline]
    pub fn scale(self, factor: f64) -> Rate {
        Rate((self.0 as f64 * factor) as u64)
    }
}

/// `a * b / c` without overflow in between, truncated, saturating; `c` must not be 0.
pub(crate) fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / c,
        None => u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX),
    }
}

impl std::ops::Add for Rate {
    type Output = Rate;
    #[inline]
    fn add(self, other: Rate) -> Rate {
        Rate(self.0.saturating_add(other.0))
    }
}
impl std::ops::Sub for Rate {
    type Output = Rate;
    #[inline]
    fn sub(self, other: Rate) -> Rate {
        Rate(self.0.saturating_sub(other.0))
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &UNITS, ACCEPTED).map(Rate)
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &UNITS[1..5])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_printed() {
        assert_eq!("20 Mbps".parse(), Ok(Rate::from_bits_per_sec(20_000_000)));
        assert_eq!(
            "0.512 Mbps".parse::<Rate>().unwrap().to_string(),
            "512 kbps"
        );
        assert_eq!(Rate::from_bits_per_sec(1_536_000).to_string(), "1.536 Mbps");
        assert_eq!(Rate::ZERO.to_string(), "0 bps");
        assert!(
            "20".parse::<Rate>()
                .unwrap_err()
                .to_string()
                .contains("\"20 Mbps\"")
        );
        assert!("20 MB".parse::<Rate>().is_err());
    }

    #[test]
    fn a_full_packet_at_20_mbps_takes_576_microseconds() {
        // 1440 bytes * 8 bits / 20 000 000 bit/s = 576 us
        let rate: Rate = "20 Mbps".parse().unwrap();
        assert_eq!(rate.time_for(Bytes::new(1440)), Duration::from_micros(576));
        assert_eq!(rate.bytes_in(Duration::from_micros(576)), Bytes::new(1440));
        assert_eq!(
            Rate::over(Bytes::new(1440), Duration::from_micros(576)),
            rate
        );
    }

    #[test]
    fn large_products_do_not_overflow() {
        let rate = Rate::from_bits_per_sec(400_000_000_000);
        assert_eq!(
            rate.bytes_in(Duration::from_secs(3600)).as_u64(),
            180_000_000_000_000
        );
        assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Duration::MAX);
    }
}
