//! The capacity, the delay and the limit of a link over time, computed from its configuration independently
//! of the link: sums at the changes, and whole periods at once.
//!
//! Noise and delivery traces are functions of time that only the link knows: it provides their integral
//! ([`thalweg_path::Link::work_between`]), which its transmissions do not use.

use thalweg_path::{JitterConfig, Limit, LinkConfig};
use thalweg_units::{Duration, Instant, Rate};

/// Deviations at which noise is truncated, see the noise of links.
const DEVIATIONS: u64 = 3;

/// Settings from a change on.
struct Stretch {
    /// From the start of the period.
    offset: Duration,
    rate: Rate,
    delay: Duration,
    limit: Limit,
    /// Nanobits that can be sent from the start of the period until `offset`.
    before: u128,
}

pub(super) struct Schedule {
    stretches: Vec<Stretch>,
    period: Option<Duration>,
    /// Nanobits of a whole period.
    work: u128,
    /// Least delay and largest rate.
    pub(super) least_delay: Duration,
    pub(super) largest_rate: Rate,
    /// Whether rates follow from the configuration alone, without trace and noise.
    pub(super) is_plain: bool,
    /// Whether packets have exactly the delay of their link.
    pub(super) is_even: bool,
    /// The rate for limits in time, if not that of the schedule.
    mean: Option<Rate>,
}

impl Schedule {
    pub(super) fn new(config: &LinkConfig) -> Self {
        let period = config.repeat.filter(|period| !period.is_zero());
        let mut changes: Vec<_> = (config.changes.iter())
            .filter(|change| period.is_none_or(|period| change.at < period))
            .collect();
        changes.sort_by_key(|change| change.at);
        let mut stretches = vec![Stretch {
            offset: Duration::ZERO,
            rate: config.rate,
            delay: config.delay,
            limit: config.limit,
            before: 0,
        }];
        for change in changes {
            let last = &stretches[stretches.len() - 1];
            let next = Stretch {
                offset: change.at,
                rate: change.rate.unwrap_or(last.rate),
                delay: change.delay.unwrap_or(last.delay),
                limit: change.limit.unwrap_or(last.limit),
                before: last.before + work(last.rate, change.at - last.offset),
            };
            stretches.push(next);
        }
        let last = &stretches[stretches.len() - 1];
        let whole = period.map_or(0, |end| last.before + work(last.rate, end - last.offset));
        let mut jitters = (config.changes.iter())
            .filter_map(|change| change.jitter.as_ref())
            .chain([&config.jitter]);
        let is_even = jitters.all(|jitter| *jitter == JitterConfig::None)
            && config.noise.is_none_or(|noise| noise.delay_sd.is_zero());
        let mean = config.trace.as_ref().map(|trace| trace.mean_rate());
        let bursts = |rate: Rate| match &config.trace {
            None => rate,
            Some(trace) => trace.largest_rate(),
        };
        let noisy = |rate: Rate| match config.noise {
            None => rate,
            Some(noise) => {
                let base = mean.unwrap_or(rate).as_bits_per_sec().max(1);
                let gain = DEVIATIONS * noise.rate_sd.as_bits_per_sec();
                let share = u128::from(rate.as_bits_per_sec()) * u128::from(gain);
                let gained = u64::try_from(share / u128::from(base) + 1).unwrap_or(u64::MAX);
                Rate::from_bits_per_sec(rate.as_bits_per_sec().saturating_add(gained))
            }
        };
        let gain = config.noise.map_or(Duration::ZERO, |noise| {
            noise.delay_sd * DEVIATIONS + Duration::from_nanos(1)
        });
        let least_delay = stretches.iter().map(|stretch| stretch.delay).min();
        let largest_rate = (stretches.iter())
            .map(|stretch| noisy(bursts(stretch.rate)))
            .max();
        Schedule {
            least_delay: least_delay.unwrap_or_default() - gain,
            largest_rate: largest_rate.unwrap_or_default(),
            is_plain: config.trace.is_none() && config.noise.is_none(),
            is_even,
            mean,
            stretches,
            period,
            work: whole,
        }
    }

    /// Whole periods before `at`, and the time since the last of them began.
    fn within(&self, at: Instant) -> (u64, Duration) {
        let since = at - Instant::START;
        match self.period {
            None => (0, since),
            Some(period) => {
                let periods = since.as_nanos() / period.as_nanos();
                (periods, since - period * periods)
            }
        }
    }

    fn stretch(&self, offset: Duration) -> &Stretch {
        let after = (self.stretches).partition_point(|stretch| stretch.offset <= offset);
        &self.stretches[after - 1]
    }

    /// Nanobits that can be sent from the start of the trial until `at`. Only of a plain schedule.
    fn until(&self, at: Instant) -> u128 {
        let (periods, offset) = self.within(at);
        let stretch = self.stretch(offset);
        let here = stretch.before + work(stretch.rate, offset - stretch.offset);
        u128::from(periods) * self.work + here
    }

    /// Nanobits that can be sent from `from` to `to`. Only of a plain schedule.
    pub(super) fn work(&self, from: Instant, to: Instant) -> u128 {
        self.until(to.max(from)) - self.until(from)
    }

    /// The delay at `at`, without jitter and noise.
    pub(super) fn delay(&self, at: Instant) -> Duration {
        self.stretch(self.within(at).1).delay
    }

    /// The limit at `at`, and the rate by which a limit in time is reckoned.
    pub(super) fn limit(&self, at: Instant) -> (Limit, Rate) {
        let stretch = self.stretch(self.within(at).1);
        (stretch.limit, self.mean.unwrap_or(stretch.rate))
    }
}

fn work(rate: Rate, span: Duration) -> u128 {
    u128::from(rate.as_bits_per_sec()) * u128::from(span.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_path::{CapacitySchedule, Change};

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    proptest! {
        /// Two ways to integrate the same schedule agree to the byte.
        #[test]
        fn its_integral_is_that_of_the_link(
            rates in prop::collection::vec((0u64..100, 0u64..50_000_000), 0..6),
            repeat in prop::option::of(1u64..150),
            from in 0u64..400_000_000,
            span in 0u64..400_000_000,
        ) {
            let mut config = LinkConfig::new(Rate::from_bits_per_sec(7_000_001), ms(5));
            config.changes = rates.iter().map(|&(at, rate)| Change {
                at: ms(at),
                rate: Some(Rate::from_bits_per_sec(rate)),
                ..Change::default()
            }).collect();
            config.repeat = repeat.map(ms);
            let (from, to) = (Instant::from_nanos(from), Instant::from_nanos(from + span));
            let bytes = Schedule::new(&config).work(from, to) / 8_000_000_000;
            let link = CapacitySchedule::new(&config).bytes_between(from, to);
            prop_assert_eq!(bytes, u128::from(link.as_u64()));
        }
    }

    #[test]
    fn delay_and_limit_are_those_of_the_last_change() {
        let mut config = LinkConfig::new(Rate::from_bits_per_sec(1_000_000), ms(50));
        config.changes = vec![Change {
            at: ms(30),
            delay: Some(ms(10)),
            limit: Some(Limit::Packets(7)),
            ..Change::default()
        }];
        config.repeat = Some(ms(40));
        let schedule = Schedule::new(&config);
        assert_eq!(schedule.least_delay, ms(10));
        assert_eq!(schedule.delay(Instant::START + ms(29)), ms(50));
        assert_eq!(schedule.delay(Instant::START + ms(70)), ms(10));
        assert_eq!(schedule.delay(Instant::START + ms(80)), ms(50));
        assert_eq!(schedule.limit(Instant::START + ms(35)).0, Limit::Packets(7));
    }
}
