//! Open-loop arrivals: many downloads, one connection each.
//!
//! # Model
//! Requests start whether or not earlier ones have finished: the first with the flow, each other one a gap
//! after the one before. Lengths are log-normal, given by two percentiles: with z = 1.645, the 95th
//! percentile of the standard normal distribution, `mu = (ln p5 + ln p95) / 2` and
//! `sigma = (ln p95 - ln p5) / (2 z)` (ccafct, `client.go`).
//!
//! Gaps and lengths depend on the seed of the trial and the name of the flow alone: two trials with the same
//! seed have the same requests, whatever the controllers and the other flows.
//!
//! # Limits
//! Lengths are truncated to whole bytes and are at least one byte; gaps to whole nanoseconds.

use crate::scenario::flow::Arrivals;
use crate::scenario::schema::Gap;
use crate::trial::seed;
use thalweg_random::{open_unit, standard_normal};
use thalweg_units::{Bytes, Duration};

/// 95th percentile of the standard normal distribution, with the digits that ccafct has.
const Z95: f64 = 1.645;

/// One request: its start, from the start of the flow, and its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrival {
    pub(crate) after: Duration,
    pub(crate) bytes: Bytes,
}

impl Arrivals {
    /// All requests of flow `name` in a trial.
    pub(crate) fn draw(&self, trial: u64, name: &str) -> Vec<Arrival> {
        let mut gaps = seed::rng(trial, &format!("flow/{name}/gaps"));
        let mut lengths = seed::rng(trial, &format!("flow/{name}/lengths"));
        let (low, high) = (
            libm::log(self.p5.as_u64() as f64),
            libm::log(self.p95.as_u64() as f64),
        );
        let (mu, sigma) = ((low + high) / 2.0, (high - low) / (2.0 * Z95));
        let mut after = Duration::ZERO;
        (0..self.count)
            .map(|_| {
                let length = libm::exp(mu + sigma * standard_normal(&mut lengths));
                let bytes = Bytes::new((length as u64).max(1));
                let arrival = Arrival { after, bytes };
                after += match self.gap {
                    Gap::Constant => self.mean_gap,
                    Gap::Exponential => {
                        let factor = -libm::log(open_unit(&mut gaps));
                        Duration::from_nanos((self.mean_gap.as_nanos() as f64 * factor) as u64)
                    }
                };
                arrival
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ccafct(count: u32) -> Arrivals {
        Arrivals {
            count,
            mean_gap: Duration::from_millis(200),
            gap: Gap::Exponential,
            p5: Bytes::new(65_536),
            p95: Bytes::new(2_097_152),
            request: Bytes::new(100),
        }
    }

    #[test]
    fn lengths_and_gaps_have_the_percentiles_and_means_of_ccafct() {
        let arrivals = ccafct(40_000).draw(1, "web");
        let mut lengths: Vec<u64> = arrivals.iter().map(|a| a.bytes.as_u64()).collect();
        lengths.sort_unstable();
        let at = |p: f64| lengths[(p * 40_000.0) as usize] as f64;
        // Median e^12.8232 = 370 728; a quantile of 40 000 draws is off by about 1 %.
        for (p, expected) in [(0.05, 65_536.0), (0.5, 370_728.0), (0.95, 2_097_152.0)] {
            let ratio = at(p) / expected;
            assert!((0.96..=1.04).contains(&ratio), "p{p}: {ratio}");
        }
        // Mean e^(mu + sigma^2/2) = 645 683; standard error 645 683 * sqrt(e^1.10968 - 1) / 200 = 0.7 %.
        let mean = lengths.iter().sum::<u64>() as f64 / 40_000.0;
        assert!((0.97..=1.03).contains(&(mean / 645_683.0)), "{mean}");
        // 39 999 gaps of 200 ms; standard error 0.5 %.
        let last = arrivals.last().map_or(0.0, |a| a.after.as_secs_f64());
        assert!((0.98..=1.02).contains(&(last / 7_999.8)), "{last}");
        assert_eq!(arrivals[0].after, Duration::ZERO);
    }

    #[test]
    fn the_same_seed_and_flow_have_the_same_requests_and_a_longer_list_begins_alike() {
        let (few, many) = (ccafct(10).draw(7, "web"), ccafct(20).draw(7, "web"));
        assert_eq!(few[..], many[..10]);
        assert_ne!(few, ccafct(10).draw(8, "web"));
        assert_ne!(few, ccafct(10).draw(7, "other"));
    }

    #[test]
    fn constant_gaps_and_equal_percentiles_leave_nothing_to_chance() {
        let arrivals = Arrivals {
            gap: Gap::Constant,
            p95: Bytes::new(65_536),
            ..ccafct(3)
        };
        let drawn = arrivals.draw(1, "web");
        let after: Vec<u64> = drawn.iter().map(|a| a.after.as_millis()).collect();
        assert_eq!(after, [0, 200, 400]);
        // exp(ln 65 536) may round to just below.
        assert!(
            drawn
                .iter()
                .all(|a| (65_535..=65_536).contains(&a.bytes.as_u64()))
        );
    }
}
