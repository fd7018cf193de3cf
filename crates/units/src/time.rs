//! Virtual time: [`Instant`] counts nanoseconds since the start of a trial, [`Duration`] their distance.

use crate::parse::{ParseError, quantity, write_scaled};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

const PER_SECOND: u64 = 1_000_000_000;
const ACCEPTED: &str = "\"80 ms\", \"2.5 s\", \"250 us\", \"1 min\"";
const UNITS: [(&str, u64); 9] = [
    ("s", PER_SECOND),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
    ("sec", PER_SECOND),
    ("min", 60 * PER_SECOND),
    ("h", 3600 * PER_SECOND),
    ("hour", 3600 * PER_SECOND),
];

/// A span of time in nanoseconds. Arithmetic saturates at zero and at [`Duration::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any trial.
    pub const MAX: Duration = Duration(u64::MAX);

    /// `n` nanoseconds.
    #[inline]
    pub const fn from_nanos(n: u64) -> Self {
        Duration(n)
    }
    /// `n` microseconds.
    #[inline]
    pub const fn from_micros(n: u64) -> Self {
        Duration(n.saturating_mul(1_000))
    }
    /// `n` milliseconds.
    #[inline]
    pub const fn from_millis(n: u64) -> Self {
        Duration(n.saturating_mul(1_000_000))
    }
    /// `n` seconds.
    #[inline]
    pub const fn from_secs(n: u64) -> Self {
        Duration(n.saturating_mul(PER_SECOND))
    }
    /// The nearest duration to `seconds`; zero when negative or NaN.
    #[inline]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Duration((seconds * PER_SECOND as f64 + 0.5) as u64)
    }
    /// Whole nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Whole microseconds, truncated.
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// Whole milliseconds, truncated.
    #[inline]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
    /// Seconds, for metrics and for algorithms defined on real numbers.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PER_SECOND as f64
    }
    /// Whether the span is zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The distance between two spans, whichever is longer.
    #[inline]
    pub const fn abs_diff(self, other: Duration) -> Duration {
        Duration(self.0.abs_diff(other.0))
    }
    /// `self * numerator / denominator`, exact in between, truncated. `denominator` must not be 0.
    #[inline]
    pub fn mul_div(self, numerator: u64, denominator: u64) -> Duration {
        Duration(crate::rate::mul_div(self.0, numerator, denominator))
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}
impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}
impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Duration) {
        *self = *self - other;
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}
impl std::iter::Sum for Duration {
    #[inline]
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Duration {
        spans.fold(Duration::ZERO, Add::add)
    }
}

/// Longer spans than a `u64` of nanoseconds holds, 584 years, become that.
impl From<std::time::Duration> for Duration {
    #[inline]
    fn from(span: std::time::Duration) -> Duration {
        Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}
impl From<Duration> for std::time::Duration {
    #[inline]
    fn from(span: Duration) -> std::time::Duration {
        std::time::Duration::from_nanos(span.as_nanos())
    }
}

impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        quantity(text, &UNITS, ACCEPTED).map(Duration)
    }
}
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[UNITS[0], UNITS[1], UNITS[2], UNITS[4]])
    }
}

/// A point in the virtual time of one trial. The trial starts at [`Instant::START`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the trial.
    pub const START: Instant = Instant(0);
    /// After everything: the time of an event that never happens.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// `n` nanoseconds after the start.
    #[inline]
    pub const fn from_nanos(n: u64) -> Self {
        Instant(n)
    }
    /// Nanoseconds since the start.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the start, for metrics.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PER_SECOND as f64
    }
    /// Time since `earlier`, zero if that lies in the future.
    #[inline]
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}
impl Sub<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, span: Duration) -> Instant {
        Instant(self.0.saturating_sub(span.0))
    }
}
impl Sub for Instant {
    type Output = Duration;
    /// Same as [`Instant::since`].
    #[inline]
    fn sub(self, earlier: Instant) -> Duration {
        self.since(earlier)
    }
}
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_exactly() {
        assert_eq!("80 ms".parse(), Ok(Duration::from_millis(80)));
        assert_eq!("2.5s".parse(), Ok(Duration::from_millis(2500)));
        assert_eq!("600.123 ms".parse(), Ok(Duration::from_micros(600_123)));
        assert_eq!("0.1 us".parse(), Ok(Duration::from_nanos(100)));
        assert_eq!("0 s".parse(), Ok(Duration::ZERO));
    }

    #[test]
    fn printing_and_reading_again_changes_nothing() {
        for n in [
            0,
            1,
            999,
            1_000,
            1_500,
            80_000_000,
            600_123_000,
            2_500_000_000,
            123_456_789,
        ] {
            let span = Duration::from_nanos(n);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        assert_eq!(Duration::from_millis(2500).to_string(), "2.5 s");
        assert_eq!(Duration::from_micros(40).to_string(), "40 us");
    }

    #[test]
    fn a_refusal_names_the_text_and_the_accepted_forms() {
        for (text, problem) in [
            ("80", "has no unit"),
            ("-3 ms", "is negative"),
            ("80 parsec", "unknown unit"),
            ("ms", "does not start with a number"),
            ("1.2.3 s", "does not start with a number"),
            ("99999999999999999999 s", "too large"),
        ] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(
                error.contains(problem) && error.contains("\"80 ms\""),
                "{error}"
            );
        }
    }

    #[test]
    fn differences_never_go_below_zero() {
        assert_eq!(
            Instant::START - (Instant::START + Duration::from_secs(1)),
            Duration::ZERO
        );
        assert_eq!(Instant::NEVER + Duration::from_secs(1), Instant::NEVER);
    }
}
