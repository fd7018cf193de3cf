//! The two components of bad Wi-Fi (draft-huitema-ccwg-c4-test, Bad Wi-Fi test).
//!
//! # Model
//! ```text
//! N1 ~ Poisson(1)                          collisions, on every packet
//! N2 ~ Poisson(12) with probability x      retransmissions, on some packets
//! jitter = N1 * 1 ms    - U[0, 1 ms)   if N1 >= 1
//!        + N2 * 7.5 ms  - U[0, 7.5 ms) if N2 >= 2, in the formula of the reference only
//! x = (mean - 1 ms) / 90 ms in the draft, / 84 ms in the reference, from 0 to 1
//! ```
//! The short component has a mean of 1 - (1 - 1/e) / 2 = 0.684 ms. A spike has a mean of 12 * 7.5 = 90 ms
//! in the draft and 90 - 3.75 * P(N2 >= 2) = 86.25 ms in the reference. So the mean is J - 0.316 ms in
//! the draft up to J = 91 ms, and 1.0268 J - 0.343 ms in the reference up to J = 85 ms.
//!
//! With explicit scales, the two components are as in the reference with other steps than 1 ms and
//! 7.5 ms, and x is given.
//!
//! # Limits
//! The mean sets how *often* a packet is delayed by about 90 ms, never by how much. Means above the
//! saturation yield the same as the saturation; means from above zero to 1 ms yield the short component.
//! Measured traces decay exponentially between 5 and 70 ms, where this model has next to nothing.

use crate::random::Chance;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use thalweg_random::below;
use thalweg_units::{Duration, Fraction};

/// Which published formula of Wi-Fi jitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WifiFormula {
    /// The text of the draft: saturates at 91 ms, spikes are multiples of 7.5 ms.
    Draft,
    /// The code that the published results come from (picoquic `sim_link.c`): saturates at 85 ms, spikes
    /// are smoothed like the short component.
    #[default]
    Reference,
}

const SHORT_STEP: Duration = Duration::from_millis(1);
const LONG_STEP: Duration = Duration::from_micros(7_500);
const SHORT_COUNT: f64 = 1.0;
const LONG_COUNT: f64 = 12.0;

/// The mean above 1 ms at which every packet has a spike.
fn slope(formula: WifiFormula) -> Duration {
    match formula {
        WifiFormula::Draft => Duration::from_millis(90),
        WifiFormula::Reference => Duration::from_millis(84),
    }
}

#[derive(Debug)]
pub(crate) struct Wifi {
    short: Poisson,
    long: Poisson,
    short_step: Duration,
    long_step: Duration,
    spike: Chance,
    formula: WifiFormula,
}

impl Wifi {
    pub(super) fn new(mean: Duration, formula: WifiFormula) -> Self {
        Wifi {
            short: Poisson::new(SHORT_COUNT),
            long: Poisson::new(LONG_COUNT),
            short_step: SHORT_STEP,
            long_step: LONG_STEP,
            spike: Chance::ratio((mean - SHORT_STEP).as_nanos(), slope(formula).as_nanos()),
            formula,
        }
    }

    pub(super) fn of_components(fraction: Fraction, short: Duration, long: Duration) -> Self {
        Wifi {
            short: Poisson::new(SHORT_COUNT),
            long: Poisson::new(LONG_COUNT),
            short_step: short,
            long_step: long,
            spike: fraction.into(),
            formula: WifiFormula::Reference,
        }
    }

    pub(super) fn draw(&self, rng: &mut Pcg64Mcg) -> Duration {
        let collisions = self.short.draw(rng);
        let (mut jitter, mut smoothed) = (self.short_step * collisions, Duration::ZERO);
        if collisions >= 1 {
            smoothed += smoothing(self.short_step, rng);
        }
        if self.spike.happens(rng) {
            let retransmissions = self.long.draw(rng);
            jitter += self.long_step * retransmissions;
            if self.formula == WifiFormula::Reference && retransmissions >= 2 {
                smoothed += smoothing(self.long_step, rng);
            }
        }
        jitter - smoothed
    }
}

fn smoothing(step: Duration, rng: &mut Pcg64Mcg) -> Duration {
    Duration::from_nanos(below(rng, step.as_nanos()))
}

pub(super) fn expected_mean(mean: Duration, formula: WifiFormula) -> Duration {
    if mean.is_zero() {
        return Duration::ZERO;
    }
    let often = ((mean - SHORT_STEP).as_secs_f64() / slope(formula).as_secs_f64()).min(1.0);
    mean_of_components(often, SHORT_STEP, LONG_STEP, formula)
}

/// Mean of both components, the long one on a part of all packets.
pub(super) fn mean_of_components(
    often: f64,
    short_step: Duration,
    long_step: Duration,
    formula: WifiFormula,
) -> Duration {
    let short = SHORT_COUNT - (1.0 - libm::exp(-SHORT_COUNT)) / 2.0;
    let smoothed = match formula {
        WifiFormula::Draft => 0.0,
        // P(N2 >= 2) = 1 - e^-12 (1 + 12)
        WifiFormula::Reference => (1.0 - libm::exp(-LONG_COUNT) * (1.0 + LONG_COUNT)) / 2.0,
    };
    Duration::from_secs_f64(
        short * short_step.as_secs_f64()
            + often * (LONG_COUNT - smoothed) * long_step.as_secs_f64(),
    )
}

/// Counts from 0 to 63; a mean of 12 exceeds that once in 10^24 draws.
const COUNTS: usize = 64;

/// A Poisson distribution, drawn by inversion: one random number, one search in a table.
#[derive(Debug)]
struct Poisson {
    /// P(N <= k) in units of 2^-64.
    cumulative: [u64; COUNTS],
}

impl Poisson {
    fn new(mean: f64) -> Self {
        let mut cumulative = [u64::MAX; COUNTS];
        let (mut term, mut sum) = (libm::exp(-mean), 0.0);
        for (k, entry) in cumulative.iter_mut().enumerate() {
            sum += term;
            term *= mean / (k + 1) as f64;
            *entry = (sum * (u64::MAX as f64)) as u64;
        }
        Poisson { cumulative }
    }

    fn draw(&self, rng: &mut Pcg64Mcg) -> u64 {
        let uniform = rng.next_u64();
        let count = self.cumulative.iter().position(|bound| uniform < *bound);
        count.unwrap_or(COUNTS - 1) as u64
    }
}
