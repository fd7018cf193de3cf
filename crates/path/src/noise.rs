//! Noise: capacity and delay that differ a little from one short interval to the next.
//!
//! # Model
//! In each interval of the trial, normally a millisecond, capacity and delay are those of the schedule plus a draw
//! from a normal distribution that is truncated at three standard deviations. Draws are independent. Neither
//! falls below zero, and a suspended link (capacity zero) stays suspended.
//!
//! A draw is a pure function of the seed of the link and the number of the interval: nothing is stored, whatever
//! the length of the trial, and two trials with one seed have the same noise.
//!
//! # Limits
//! Truncation at zero shifts the mean upwards when the deviation is more than a third of the capacity.

use crate::capacity::Position;
use std::f64::consts::TAU;
use thalweg_units::{Duration, Instant, Rate};

/// How much capacity and delay vary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseConfig {
    /// Standard deviation of the capacity.
    pub rate_sd: Rate,
    /// Standard deviation of the delay.
    pub delay_sd: Duration,
    /// Length of an interval; at least a microsecond.
    pub every: Duration,
}

/// Where the distribution ends, in standard deviations.
const TRUNCATION: f64 = 3.0;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Noise {
    config: NoiseConfig,
    seed: u64,
}

impl Noise {
    pub(crate) fn new(mut config: NoiseConfig, seed: u64) -> Self {
        config.every = config.every.max(Duration::from_micros(1));
        // Another stream than those of jitter and loss.
        let seed = mix(seed ^ 0x6e6f_6973_6500_0001);
        Noise { config, seed }
    }

    /// By how much a packet may at most be faster than the schedule says.
    pub(crate) fn most_delay(&self) -> Duration {
        self.config.delay_sd * TRUNCATION as u64
    }

    /// Adds the noise of the interval in which `at` lies, and ends the position with that interval.
    pub(crate) fn disturb(&self, position: &mut Position, at: Instant) {
        let every = self.config.every.as_nanos();
        let interval = at.as_nanos() / every;
        let end = Instant::from_nanos((interval + 1).saturating_mul(every));
        position.until = position.until.min(end);
        let [rate, delay] = self.draw(interval);
        let rate_sd = self.config.rate_sd.as_bits_per_sec() as f64;
        let bps = position.rate.as_bits_per_sec() as f64 + rate_sd * rate;
        position.rate = Rate::from_bits_per_sec(bps.max(0.0) as u64);
        let delay_sd = self.config.delay_sd.as_nanos() as f64;
        let nanos = position.delay.as_nanos() as f64 + delay_sd * delay;
        position.delay = Duration::from_nanos(nanos.max(0.0) as u64);
    }

    /// Two independent draws, in standard deviations (Box and Muller 1958), drawn again until both are
    /// within the truncation.
    fn draw(&self, interval: u64) -> [f64; 2] {
        let mut state = self.seed ^ mix(interval);
        loop {
            let [first, second] = [(); 2].map(|()| {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                ((mix(state) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
            });
            let radius = libm::sqrt(-2.0 * libm::log(first));
            let draws = [libm::cos(TAU * second), libm::sin(TAU * second)].map(|x| x * radius);
            if draws.iter().all(|draw| draw.abs() <= TRUNCATION) {
                return draws;
            }
        }
    }
}

/// The finaliser of splitmix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Link, LinkConfig, Packet};
    use thalweg_units::{Bytes, Ecn};

    struct Full;
    impl Packet for Full {
        fn size(&self) -> Bytes {
            Bytes::new(1500)
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn set_ecn(&mut self, _: Ecn) {}
        fn flow(&self) -> u64 {
            0
        }
    }

    fn noisy() -> LinkConfig {
        let mut config = LinkConfig::new(
            Rate::from_bits_per_sec(12_000_000),
            Duration::from_millis(25),
        );
        config.noise = Some(NoiseConfig {
            rate_sd: Rate::from_bits_per_sec(2_000_000),
            delay_sd: Duration::from_millis(2),
            every: Duration::from_millis(1),
        });
        config
    }

    #[test]
    fn draws_are_normal_truncated_at_three_deviations_and_independent() {
        let noise = Noise::new(noisy().noise.expect("noise"), 3);
        let draws: Vec<[f64; 2]> = (0..50_000).map(|interval| noise.draw(interval)).collect();
        let n = draws.len() as f64;
        let mean = |of: &dyn Fn(&[f64; 2]) -> f64| draws.iter().map(of).sum::<f64>() / n;
        for which in 0..2 {
            // Standard error 1 / sqrt(50 000) = 0.0045; the variance of the truncated law is 0.973.
            assert!(mean(&|d| d[which]).abs() < 0.015);
            assert!((0.955..0.992).contains(&mean(&|d| d[which] * d[which])));
        }
        assert!(mean(&|d| d[0] * d[1]).abs() < 0.015);
        assert!(draws.iter().flatten().all(|draw| draw.abs() <= 3.0));
        let neighbours = draws.windows(2).map(|w| w[0][0] * w[1][0]).sum::<f64>() / n;
        assert!(neighbours.abs() < 0.015, "{neighbours}");
    }

    #[test]
    fn a_saturated_link_carries_its_capacity_on_average_and_as_its_schedule_tells() {
        let mut link = Link::new(&noisy(), 9, 1);
        for _ in 0..11_000 {
            link.push(Instant::START, Full);
        }
        let end = Instant::START + Duration::from_secs(10);
        let mut carried = 0;
        while link.pop(end).is_some() {
            carried += 1;
        }
        // 12 Mbps are 1000 packets a second, less those still on their way; the mean of 10 000 draws of
        // 2 Mbps is off by 0.02 Mbps, which is 17 packets.
        let sent = link.stats().transmitted.packets as i64;
        assert!((9_950..=10_050).contains(&sent), "{sent}");
        assert!((sent - 50..=sent).contains(&carried), "{carried} of {sent}");
        let told = link.schedule().bytes_between(Instant::START, end).as_u64() / 1500;
        assert!(
            (sent - 1..=sent).contains(&(told as i64)),
            "{told} of {sent}"
        );
    }

    #[test]
    fn a_suspension_stays_one_and_changes_hold_beside_the_noise() {
        let mut config = noisy();
        let at = Duration::from_millis;
        config.changes = vec![
            Change {
                at: at(100),
                rate: Some(Rate::ZERO),
                ..Change::default()
            },
            Change {
                at: at(200),
                rate: Some(Rate::from_bits_per_sec(24_000_000)),
                ..Change::default()
            },
        ];
        let link = Link::<Full>::new(&config, 9, 1);
        let carries = |from, to| {
            let (from, to) = (Instant::START + at(from), Instant::START + at(to));
            link.schedule().bytes_between(from, to).as_u64() as f64
        };
        assert_eq!(carries(100, 200), 0.0);
        // 100 draws of 2 Mbps: the mean is off by 0.2 Mbps, 1.7 % and 0.8 %.
        assert!((0.94..1.06).contains(&(carries(0, 100) / 150_000.0)));
        assert!((0.96..1.04).contains(&(carries(200, 300) / 300_000.0)));
    }

    #[test]
    fn packets_stay_in_order_and_none_is_faster_than_three_deviations() {
        let mut link = Link::new(&noisy(), 9, 1);
        let mut last = Instant::START;
        for number in 0..2_000u64 {
            let now = Instant::START + Duration::from_millis(2 * number);
            link.push(now, Full);
            let mut next = link.next();
            while let Some(at) = next.filter(|at| *at <= now + Duration::from_millis(2)) {
                assert!(at >= last);
                last = at;
                if link.pop(at).is_some() {
                    // 1 ms to serialise at 12 Mbps, at least 0.66 at 18; 25 ms less three times 2 ms.
                    assert!((at - Instant::START).as_nanos() >= 19_600_000);
                }
                next = link.next();
            }
        }
        assert!(link.stats().delivered.packets > 1_900);
    }
}
