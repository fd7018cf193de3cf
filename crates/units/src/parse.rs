//! Reading "number unit" texts exactly, without floating point.

use std::borrow::Cow;
use std::fmt;

/// Characters of a value that a message quotes.
const QUOTED: usize = 60;

/// A value as messages quote it: at most its first 60 characters.
pub fn quoted(value: &str) -> String {
    format!("\"{}\"", brief(value, QUOTED))
}

/// The first `most` characters of a text, with an ellipsis where it is longer.
pub fn brief(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Why a text is not a quantity: what is wrong with it and which forms are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong with the text.
    pub problem: String,
    /// The accepted forms, for example `"20 Mbps", "1.5 Gbps"`.
    pub accepted: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; accepted: {}", self.problem, self.accepted)
    }
}

impl std::error::Error for ParseError {}

/// Reads `text` as a decimal number and one of `units` (name, multiple of the base unit), rounding
/// half up to the base unit. Units are matched without regard to case unless two differ only by it.
pub(crate) fn quantity(
    text: &str,
    units: &[(&str, u64)],
    accepted: &'static str,
) -> Result<u64, ParseError> {
    let fail = |problem: &str| ParseError {
        problem: format!("{} {problem}", quoted(text)),
        accepted,
    };
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+')))
        .unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].trim(), trimmed[split..].trim());
    if number.starts_with('-') {
        return Err(fail("is negative"));
    }
    if unit.is_empty() {
        return Err(fail("has no unit"));
    }
    let scale = units
        .iter()
        .find(|(name, _)| *name == unit)
        .or_else(|| {
            units
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        })
        .map(|(_, scale)| *scale)
        .ok_or_else(|| fail(&format!("has an unknown unit {}", quoted(unit))))?;
    let (mantissa, power) = decimal(number).ok_or_else(|| fail("does not start with a number"))?;
    mantissa
        .checked_mul(u128::from(scale))
        .and_then(|product| product.checked_add(power / 2))
        .and_then(|rounded| u64::try_from(rounded / power).ok())
        .ok_or_else(|| fail("is too large"))
}

/// A decimal number as (digits without the point, power of ten to divide by).
pub(crate) fn decimal(number: &str) -> Option<(u128, u128)> {
    let mut mantissa: u128 = 0;
    let mut power: u128 = 1;
    let (mut digits, mut point) = (0, false);
    for c in number.strip_prefix('+').unwrap_or(number).chars() {
        match c {
            '0'..='9' => {
                mantissa = mantissa
                    .checked_mul(10)?
                    .checked_add(u128::from(c as u8 - b'0'))?;
                digits += 1;
                if point {
                    power = power.checked_mul(10)?;
                }
            }
            '.' if !point => point = true,
            '_' if digits > 0 => {}
            _ => return None,
        }
    }
    (digits > 0).then_some((mantissa, power))
}

/// Writes `value` base units with the largest unit that leaves at most three decimals exact, or the
/// smallest unit otherwise. `units` go from large to small.
pub(crate) fn write_scaled(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
) -> fmt::Result {
    let (last, _) = units
        .split_last()
        .map(|(l, r)| (*l, r))
        .unwrap_or((("", 1), &[]));
    let (name, scale) = units
        .iter()
        .copied()
        .find(|(_, scale)| value >= *scale && (*scale < 1000 || value.is_multiple_of(scale / 1000)))
        .unwrap_or(last);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return write!(f, "{whole} {name}");
    }
    let thousandths = format!("{:03}", rest / (scale / 1000).max(1));
    write!(f, "{whole}.{} {name}", thousandths.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, Fraction};

    #[test]
    fn a_message_quotes_the_first_sixty_characters_of_a_value() {
        assert_eq!(quoted("80 ms"), "\"80 ms\"");
        let sixty = "é".repeat(60);
        assert_eq!(quoted(&sixty), format!("\"{sixty}\""));
        assert_eq!(quoted(&format!("{sixty}x")), format!("\"{sixty}…\""));
        let long = "x".repeat(12_000_000);
        let error = long.parse::<Duration>().unwrap_err().to_string();
        assert!(error.len() < 300, "{}", error.len());
    }

    #[test]
    fn numbers_at_the_end_of_the_range_are_refused_and_do_not_overflow() {
        // 2^128 - 1 ns, plus a half for the rounding.
        let most = "340282366920938463463374607431768211455 ns";
        let decimals = "34028236692093846346337460743176821145.5 ns";
        for text in [most, decimals] {
            let error = text.parse::<Duration>().unwrap_err();
            assert!(error.problem.contains("is too large"), "{}", error.problem);
        }
        let zero = format!("0.{} %", "0".repeat(38));
        assert_eq!(zero.parse::<Fraction>(), Ok(Fraction::ZERO));
        assert!(
            "9999999999999999999999999999999 %"
                .parse::<Fraction>()
                .is_err()
        );
    }
}
