//! Draws from a stream of random numbers.

use rand_core::Rng;
use std::f64::consts::TAU;

/// Uniform on 0..n; 0 when n is 0. The bias of the multiplication is below n / 2^64.
#[inline]
pub fn below(rng: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Uniform on the open interval (0, 1), with 52 bits.
#[inline]
pub fn open_unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// Normal with mean 0 and deviation 1, by the transformation of Box and Muller (1958), with the
/// transcendental functions of `libm`, so that every machine draws the same.
#[inline]
pub fn standard_normal(rng: &mut impl Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(open_unit(rng)));
    radius * libm::cos(TAU * open_unit(rng))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn uniform_draws_stay_below_their_bound_and_reach_both_ends() {
        let mut rng = Pcg64Mcg::new(7);
        let mut seen = [0u32; 5];
        for _ in 0..5_000 {
            seen[below(&mut rng, 5) as usize] += 1;
        }
        // Mean 1000, deviation sqrt(5000 * 0.2 * 0.8) = 28.
        assert!(seen.iter().all(|n| (850..=1150).contains(n)), "{seen:?}");
        assert_eq!(below(&mut rng, 0), 0);
    }

    #[test]
    fn normal_draws_have_their_mean_and_deviation() {
        let mut rng = Pcg64Mcg::new(7);
        let draws: Vec<f64> = (0..10_000).map(|_| standard_normal(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / 10_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 10_000.0 - mean * mean;
        // Standard errors 1 / 100 and sqrt(2) / 100.
        assert!((-0.05..=0.05).contains(&mean), "{mean}");
        assert!((0.93..=1.07).contains(&variance), "{variance}");
    }
}
