//! Parts of one: loss rates, marking probabilities.

use crate::parse::{ParseError, decimal, quoted};
use std::fmt;
use std::str::FromStr;

const ACCEPTED: &str = "\"1 %\", \"0.01\", from 0 to 1";
/// Fractions are kept in parts per billion, so that equal texts are equal values.
const ONE: u64 = 1_000_000_000;

/// A number from 0 to 1 with a resolution of 10^-9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fraction(u64);

impl Fraction {
    /// Zero.
    pub const ZERO: Fraction = Fraction(0);
    /// One.
    pub const ONE: Fraction = Fraction(ONE);

    /// The value as a real number from 0 to 1.
    #[inline]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
    /// The nearest fraction to `value`, clamped to 0 and 1.
    #[inline]
    pub fn from_f64(value: f64) -> Self {
        Fraction((value.clamp(0.0, 1.0) * ONE as f64 + 0.5) as u64)
    }
    /// This part of `count` things, rounded up to whole ones.
    #[inline]
    pub fn of_up(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.0)).div_ceil(u128::from(ONE)) as u64
    }
    /// What is left of one.
    #[inline]
    pub const fn rest(self) -> Fraction {
        Fraction(ONE - self.0)
    }
    /// Parts of a billion.
    #[inline]
    pub const fn parts_per_billion(self) -> u64 {
        self.0
    }
    /// Whether the fraction is 0.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl FromStr for Fraction {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let fail = |problem: &str| ParseError {
            problem: format!("{} {problem}", quoted(text)),
            accepted: ACCEPTED,
        };
        let trimmed = text.trim();
        let (number, whole) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim(), 100),
            None => (trimmed, 1),
        };
        if number.starts_with('-') {
            return Err(fail("is negative"));
        }
        let (mantissa, power) = decimal(number).ok_or_else(|| fail("is not a fraction"))?;
        let scaled = mantissa
            .checked_mul(u128::from(ONE))
            .ok_or_else(|| fail("is too long"))?;
        match u64::try_from(scaled / power / whole) {
            Ok(parts) if parts <= ONE => Ok(Fraction(parts)),
            _ => Err(fail("is more than one")),
        }
    }
}
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.as_f64() * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_things_is_rounded_up_and_only_if_it_is_not_whole() {
        let fifth: Fraction = "20 %".parse().unwrap();
        let parts = [0, 1, 4, 5, 6, 10, 11].map(|count| fifth.of_up(count));
        assert_eq!(parts, [0, 1, 1, 1, 2, 2, 3]);
        assert_eq!(Fraction::ONE.of_up(u64::MAX), u64::MAX);
        assert_eq!(Fraction::ZERO.of_up(7), 0);
    }

    #[test]
    fn percent_and_plain_numbers_mean_the_same() {
        assert_eq!("1 %".parse::<Fraction>(), "0.01".parse::<Fraction>());
        assert_eq!("100%".parse(), Ok(Fraction::ONE));
        assert!(
            "1.5"
                .parse::<Fraction>()
                .unwrap_err()
                .to_string()
                .contains("more than one")
        );
        assert!(
            "-1 %"
                .parse::<Fraction>()
                .unwrap_err()
                .to_string()
                .contains("negative")
        );
        assert!("half".parse::<Fraction>().is_err());
    }
}
