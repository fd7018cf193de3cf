//! Normal jitter, with negative values replaced by zero or redrawn.
//!
//! Transcendental functions come from `libm`, so that every machine draws the same.

use rand_pcg::Pcg64Mcg;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use thalweg_random::standard_normal;
use thalweg_units::Duration;

/// Below this probability of lying within its bounds a truncated distribution is not drawn from.
const LEAST_MASS: f64 = 1e-3;

#[derive(Debug)]
pub(crate) struct Normal {
    pub(super) mean: Duration,
    pub(super) sd: Duration,
}

impl Normal {
    fn nanos(&self, rng: &mut Pcg64Mcg) -> f64 {
        self.mean.as_nanos() as f64 + self.sd.as_nanos() as f64 * standard_normal(rng)
    }

    pub(super) fn draw(&self, rng: &mut Pcg64Mcg) -> Duration {
        from_nanos(self.nanos(rng))
    }
}

#[derive(Debug)]
pub(crate) struct Truncated {
    normal: Normal,
    min: Duration,
    max: Duration,
}

impl Truncated {
    /// `None` if almost nothing is within the bounds: then the jitter is [`nearest_bound`].
    pub(super) fn new(mean: Duration, sd: Duration, min: Duration, max: Duration) -> Option<Self> {
        let drawable = mass(mean, sd, min, max).is_some();
        drawable.then_some(Truncated {
            normal: Normal { mean, sd },
            min,
            max,
        })
    }

    pub(super) fn draw(&self, rng: &mut Pcg64Mcg) -> Duration {
        let (min, max) = (self.min.as_nanos() as f64, self.max.as_nanos() as f64);
        // A thousand attempts on average in the worst case that `new` admits.
        loop {
            let nanos = self.normal.nanos(rng);
            if (min..=max).contains(&nanos) {
                return from_nanos(nanos);
            }
        }
    }
}

/// The value within the bounds that lies nearest to the mean.
pub(super) fn nearest_bound(mean: Duration, min: Duration, max: Duration) -> Duration {
    mean.min(max).max(min)
}

/// The nearest duration, zero when negative.
pub(super) fn from_nanos(nanos: f64) -> Duration {
    Duration::from_nanos((nanos + 0.5) as u64)
}

/// Density of the standard normal distribution.
pub(super) fn density(x: f64) -> f64 {
    libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * PI)
}

/// Distribution function of the standard normal distribution.
pub(super) fn below(x: f64) -> f64 {
    libm::erfc(-x * FRAC_1_SQRT_2) / 2.0
}

/// Mean of max(0, X) for a normal X: m Phi(m/s) + s phi(m/s).
pub(super) fn rectified_mean(mean: Duration, sd: Duration) -> Duration {
    if sd.is_zero() {
        return mean;
    }
    let (m, s) = (mean.as_nanos() as f64, sd.as_nanos() as f64);
    from_nanos(m * below(m / s) + s * density(m / s))
}

/// The bounds in deviations from the mean, and the probability between them unless that is negligible.
fn mass(mean: Duration, sd: Duration, min: Duration, max: Duration) -> Option<(f64, f64, f64)> {
    if sd.is_zero() {
        return None;
    }
    let (m, s) = (mean.as_nanos() as f64, sd.as_nanos() as f64);
    let (a, b) = (
        (min.as_nanos() as f64 - m) / s,
        (max.as_nanos() as f64 - m) / s,
    );
    let mass = below(b) - below(a);
    (mass >= LEAST_MASS).then_some((a, b, mass))
}

/// Mean of a normal X given min <= X <= max: m + s (phi(a) - phi(b)) / (Phi(b) - Phi(a)) with the bounds
/// a and b in deviations from the mean.
pub(super) fn truncated_mean(
    mean: Duration,
    sd: Duration,
    min: Duration,
    max: Duration,
) -> Duration {
    match mass(mean, sd, min, max) {
        None => nearest_bound(mean, min, max),
        Some((a, b, mass)) => {
            let shift = sd.as_nanos() as f64 * (density(a) - density(b)) / mass;
            from_nanos(mean.as_nanos() as f64 + shift)
        }
    }
}
