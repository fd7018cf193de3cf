//! Noise on capacity and delay: independent normal draws, one of each per interval, truncated.
//!
//! # Model
//! Time is cut into intervals of length `every`, counted from the start of the trial. In each, the capacity
//! is the capacity of the schedule plus a draw from N(0, `rate_sd`), and the delay its delay plus a draw
//! from N(0, `delay_sd`). Draws beyond three deviations are drawn again; sums below zero are zero. (Meng et
//! al., "Transient performance", SIGCOMM 2021, put such noise on the links of their experiments.)
//!
//! A draw is a pure function of the seed and the number of the interval: there is no state, and nothing
//! depends on when or how often it is evaluated.
//!
//! On a delivery trace the draw scales each opportunity by one plus the draw over the mean capacity.
//!
//! # Limits
//! A suspended link stays suspended. Where the capacity is below three deviations, replacing negative sums
//! by zero raises the mean.

use crate::random::{BlockSeeds, TimedKey, at};
use thalweg_random::standard_normal;
use thalweg_units::{Duration, Instant, Rate};

/// Noise on capacity and delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseConfig {
    /// Standard deviation of the capacity before truncation.
    pub rate_sd: Rate,
    /// Standard deviation of the delay before truncation.
    pub delay_sd: Duration,
    /// Interval of a draw: 1 ms. Zero counts as 1 ms.
    pub every: Duration,
}

impl Default for NoiseConfig {
    /// No noise, every millisecond.
    fn default() -> Self {
        NoiseConfig {
            rate_sd: Rate::ZERO,
            delay_sd: Duration::ZERO,
            every: Duration::from_millis(1),
        }
    }
}

/// Noise, ready for evaluation.
#[derive(Debug)]
pub(crate) struct Noise {
    rate_sd: f64,
    delay_sd: f64,
    every: u64,
    rate_key: TimedKey,
    delay_key: TimedKey,
}

impl Noise {
    /// `None` if there is no noise.
    pub(crate) fn new(config: &NoiseConfig, seed: u64) -> Option<Self> {
        let every = match config.every {
            Duration::ZERO => Duration::from_millis(1),
            every => every,
        };
        let silent = config.rate_sd.is_zero() && config.delay_sd.is_zero();
        (!silent).then(|| Noise {
            rate_sd: config.rate_sd.as_bits_per_sec() as f64,
            delay_sd: config.delay_sd.as_nanos() as f64,
            every: every.as_nanos(),
            rate_key: TimedKey::new(seed, "noise/rate"),
            delay_key: TimedKey::new(seed, "noise/delay"),
        })
    }

    /// Follows a tape: an interval has the seed of the block in which it begins.
    pub(crate) fn follow(&mut self, blocks: &BlockSeeds) {
        self.rate_key.follow(blocks);
        self.delay_key.follow(blocks);
    }

    /// A draw of the interval of that number.
    fn draw(&self, key: &TimedKey, interval: u64) -> f64 {
        let begins = Instant::from_nanos(interval.saturating_mul(self.every));
        truncated(key.at(begins), interval)
    }

    /// Interval of a draw for the capacity; infinite without noise on it.
    pub(super) fn every(&self) -> Duration {
        if self.rate_sd == 0.0 {
            Duration::MAX
        } else {
            Duration::from_nanos(self.every)
        }
    }

    /// End of the draw for the capacity at `at`.
    #[inline]
    pub(super) fn until(&self, at: Instant) -> Instant {
        if self.rate_sd == 0.0 {
            return Instant::NEVER;
        }
        let nanos = at.as_nanos();
        Instant::from_nanos((nanos - nanos % self.every).saturating_add(self.every))
    }

    /// A capacity of `rate`, not zero, with the noise of the time `at`. Its deviation is the deviation of a capacity
    /// of `mean`, in proportion.
    pub(super) fn rate(&self, rate: Rate, mean: Rate, at: Instant) -> Rate {
        if self.rate_sd == 0.0 {
            return rate;
        }
        let draw = self.rate_sd * self.draw(&self.rate_key, at.as_nanos() / self.every);
        let rate = rate.as_bits_per_sec() as f64;
        let sum = rate + draw * (rate / mean.as_bits_per_sec() as f64);
        Rate::from_bits_per_sec((sum + 0.5) as u64)
    }

    /// A delay of `delay` with the noise of the interval in which a last bit left, `at` at the latest.
    #[inline(never)]
    pub(crate) fn delay(&self, delay: Duration, at: Instant) -> Duration {
        if self.delay_sd == 0.0 {
            return delay;
        }
        let interval = at.as_nanos().saturating_sub(1) / self.every;
        let sum = delay.as_nanos() as f64 + self.delay_sd * self.draw(&self.delay_key, interval);
        Duration::from_nanos((sum + 0.5) as u64)
    }

    /// Largest reduction of a delay below the delay of the schedule.
    pub(super) fn largest_gain(&self) -> Duration {
        Duration::from_nanos(((self.delay_sd * DEVIATIONS) as u64).saturating_add(1))
    }
}

/// Truncation of the distribution.
const DEVIATIONS: f64 = 3.0;

/// Draw number `index` from N(0, 1), within three deviations.
fn truncated(key: u64, index: u64) -> f64 {
    let mut rng = at(key, index);
    loop {
        let draw = standard_normal(&mut rng);
        if draw.abs() <= DEVIATIONS {
            return draw;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u64 = 100_000;

    fn noise(seed: u64) -> Noise {
        let config = NoiseConfig {
            rate_sd: Rate::from_bits_per_sec(2_000_000),
            delay_sd: Duration::from_millis(1),
            ..NoiseConfig::default()
        };
        Noise::new(&config, seed).expect("there is noise")
    }
    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    #[test]
    fn the_draws_have_the_moments_of_a_normal_distribution_cut_at_three_deviations() {
        let noise = noise(3);
        let base = Rate::from_bits_per_sec(12_000_000);
        let draws =
            (0..N).map(|i| (noise.rate(base, base, ms(i)).as_bits_per_sec() as f64 - 12e6) / 2e6);
        let (mut sum, mut squares) = (0.0, 0.0);
        for draw in draws {
            assert!(draw.abs() <= 3.0);
            sum += draw;
            squares += draw * draw;
        }
        // Mean 0 +- 4 / sqrt(N) = 0.0126; variance 1 - 6 phi(3) / 0.9973 = 0.9733, +- 4 sqrt(2 / N) = 0.018.
        assert!((sum / N as f64).abs() < 0.0126, "{}", sum / N as f64);
        assert!(
            (squares / N as f64 - 0.9733).abs() < 0.018,
            "{}",
            squares / N as f64
        );
    }

    #[test]
    fn a_draw_depends_on_the_seed_and_the_interval_alone() {
        let base = Rate::from_bits_per_sec(12_000_000);
        let rate = |seed, at| noise(seed).rate(base, base, at);
        let early = ms(7) + Duration::from_nanos(1);
        let late = ms(8) - Duration::from_nanos(1);
        assert_eq!(rate(1, early), rate(1, late));
        assert_ne!(rate(1, early), rate(1, ms(8)));
        assert_ne!(rate(1, early), rate(2, early));
        assert_eq!(noise(1).until(early), ms(8));
        assert_eq!(noise(1).until(ms(8)), ms(9));
    }

    #[test]
    fn neither_capacity_nor_delay_falls_below_zero() {
        let noise = noise(5);
        let (rate, delay) = (
            Rate::from_bits_per_sec(1_000_000),
            Duration::from_micros(500),
        );
        let rates: Vec<_> = (0..1000).map(|i| noise.rate(rate, rate, ms(i))).collect();
        let delays: Vec<_> = (0..1000).map(|i| noise.delay(delay, ms(i))).collect();
        // Half a deviation below the mean in both cases: 31 % are cut off, +- 6 %.
        let zero = |n: usize| (250..=370).contains(&n);
        assert!(zero(rates.iter().filter(|rate| rate.is_zero()).count()));
        assert!(zero(delays.iter().filter(|delay| delay.is_zero()).count()));
        assert!(rates.iter().all(|rate| rate.as_bits_per_sec() <= 7_000_000));
        assert!(
            delays
                .iter()
                .all(|delay| *delay <= Duration::from_micros(3_500))
        );
    }

    #[test]
    fn a_deviation_of_centuries_saturates() {
        let config = NoiseConfig {
            delay_sd: Duration::from_secs(1 << 34),
            ..NoiseConfig::default()
        };
        let noise = Noise::new(&config, 1).expect("there is noise");
        assert_eq!(noise.largest_gain(), Duration::MAX);
    }

    #[test]
    fn no_deviation_is_no_noise() {
        assert!(Noise::new(&NoiseConfig::default(), 1).is_none());
    }
}
