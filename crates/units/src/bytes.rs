//! Sizes in bytes.

use crate::parse::{ParseError, quantity, write_scaled};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

const ACCEPTED: &str = "\"10 MB\" (10 000 000 bytes), \"397 B\", \"64 KiB\"";
const UNITS: [(&str, u64); 9] = [
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("bytes", 1),
    ("byte", 1),
];

/// A number of bytes. Arithmetic saturates at zero and at the maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any trial moves.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// `n` bytes.
    #[inline]
    pub const fn new(n: u64) -> Self {
        Bytes(n)
    }
    /// The number of bytes.
    #[inline]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
    /// Whether it is zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// `self * numerator / denominator`, exact in between, truncated. `denominator` must not be 0.
    #[inline]
    pub fn mul_div(self, numerator: u64, denominator: u64) -> Bytes {
        Bytes(crate::rate::mul_div(self.0, numerator, denominator))
    }
    /// The size times a real factor, for algorithms that are defined on real numbers.
    #[inline]
    pub fn scale(self, factor: f64) -> Bytes {
        Bytes((self.0 as f64 * factor) as u64)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}
impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}
impl Mul<u64> for Bytes {
    type Output = Bytes;
    #[inline]
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.saturating_mul(factor))
    }
}
impl Div<u64> for Bytes {
    type Output = Bytes;
    #[inline]
    fn div(self, divisor: u64) -> Bytes {
        Bytes(self.0 / divisor)
    }
}
impl std::iter::Sum for Bytes {
    #[inline]
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &UNITS, ACCEPTED).map(Bytes)
    }
}
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &UNITS[..4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_decimal_unless_they_carry_an_i() {
        assert_eq!("1.5 MB".parse(), Ok(Bytes::new(1_500_000)));
        assert_eq!("64 KiB".parse(), Ok(Bytes::new(65_536)));
        assert_eq!("397 B".parse(), Ok(Bytes::new(397)));
        assert_eq!("18_750_000 bytes".parse(), Ok(Bytes::new(18_750_000)));
    }

    #[test]
    fn sizes_print_in_the_largest_exact_unit() {
        assert_eq!(Bytes::new(1_500_000).to_string(), "1.5 MB");
        assert_eq!(Bytes::new(1_234_567).to_string(), "1234.567 kB");
        assert_eq!(Bytes::ZERO.to_string(), "0 B");
    }

    #[test]
    fn negative_and_unitless_sizes_are_refused() {
        assert!(
            "-1 MB"
                .parse::<Bytes>()
                .unwrap_err()
                .to_string()
                .contains("negative")
        );
        assert!(
            "1000"
                .parse::<Bytes>()
                .unwrap_err()
                .to_string()
                .contains("no unit")
        );
    }
}
