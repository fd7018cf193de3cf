//! Fixed-point coefficients in 1/1024, the only fractions that C4 and its early variants compute with (the
//! loss rate apart). They write `v * c >> 10`; this keeps that arithmetic in one place, without overflow.

use thalweg_units::{Bytes, Duration, Rate};

/// A fraction in units of 1/1024. Products and quotients truncate, as the reference code does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coefficient(u64);

/// Units of a coefficient in one whole.
const WHOLE: u64 = 1024;

impl Coefficient {
    /// 0 %.
    pub const ZERO: Coefficient = Coefficient(0);
    /// 100 %.
    pub const ONE: Coefficient = Coefficient(WHOLE);

    /// `units` / 1024.
    pub const fn new(units: u64) -> Self {
        Coefficient(units)
    }
    /// `part / whole`; a `whole` of zero counts as one unit.
    pub fn ratio(part: u64, whole: u64) -> Self {
        let units = u128::from(part) * u128::from(WHOLE) / u128::from(whole.max(1));
        Coefficient(u64::try_from(units).unwrap_or(u64::MAX))
    }
    /// `part / whole` of two durations.
    pub fn of_spans(part: Duration, whole: Duration) -> Self {
        Coefficient::ratio(part.as_nanos(), whole.as_nanos())
    }
    /// The numerator over 1024.
    pub const fn units(self) -> u64 {
        self.0
    }
    /// The fraction as a real number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / WHOLE as f64
    }
    /// The fraction of `rate`.
    pub fn of_rate(self, rate: Rate) -> Rate {
        rate.mul_div(self.0, WHOLE)
    }
    /// The fraction of `size`.
    pub fn of_size(self, size: Bytes) -> Bytes {
        size.mul_div(self.0, WHOLE)
    }
    /// The fraction of `span`.
    pub fn of_span(self, span: Duration) -> Duration {
        span.mul_div(self.0, WHOLE)
    }
    /// The fraction of another fraction.
    pub const fn of(self, other: Coefficient) -> Coefficient {
        Coefficient(self.0.saturating_mul(other.0) / WHOLE)
    }
}

impl std::ops::Add for Coefficient {
    type Output = Coefficient;
    fn add(self, other: Coefficient) -> Coefficient {
        Coefficient(self.0.saturating_add(other.0))
    }
}
impl std::ops::Sub for Coefficient {
    type Output = Coefficient;
    fn sub(self, other: Coefficient) -> Coefficient {
        Coefficient(self.0.saturating_sub(other.0))
    }
}
