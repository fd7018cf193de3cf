//! The capacity, the delay and the limit of a link over time, computed from its configuration independently
//! of the link: sums at the changes, and whole periods at once.
//!
//! Noise and delivery traces are functions of time that only the link knows: it provides their integral
//! ([`thalweg_path::Link::work_between`]), which its transmissions do not use.

use thalweg_path::{EcnConfig, JitterConfig, Limit, LinkConfig, LossConfig};
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
    loss: LossConfig,
    /// Nanobits that can be sent from the start of the period until `offset`.
    before: u128,
}

pub(super) struct Schedule {
    stretches: Vec<Stretch>,
    period: Option<Duration>,
    /// When the queue is emptied, from the start of the period.
    flushes: Vec<Duration>,
    /// Nanobits of a whole period.
    work: u128,
    /// Least delay and largest rate.
    pub(super) least_delay: Duration,
    pub(super) largest_rate: Rate,
    /// Whether rates follow only from the configuration, without trace and noise.
    pub(super) is_plain: bool,
    /// Whether packets have exactly the delay of their link.
    pub(super) is_even: bool,
    /// Whether packets that carry CE are lost.
    pub(super) loses_marked: bool,
    /// The rate for limits in time, if not the rate of the schedule.
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
            loss: config.loss.clone(),
            before: 0,
        }];
        for change in &changes {
            let last = &stretches[stretches.len() - 1];
            let next = Stretch {
                offset: change.at,
                rate: change.rate.unwrap_or(last.rate),
                delay: change.delay.unwrap_or(last.delay),
                limit: change.limit.unwrap_or(last.limit),
                loss: change.loss.as_ref().unwrap_or(&last.loss).clone(),
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
            loses_marked: config.ecn == EcnConfig::CeLost,
            mean,
            flushes: (changes.iter().filter(|change| change.flush))
                .map(|change| change.at)
                .collect(),
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

    /// The delay of a packet whose transmission ends at `until`, without jitter and noise. Its last bit is sent just
    /// before: a change at `until` comes too late for it.
    pub(super) fn delay(&self, until: Instant) -> Duration {
        self.before(until).delay
    }

    /// The loss of a packet whose transmission ends at `until`.
    pub(super) fn loss(&self, until: Instant) -> &LossConfig {
        &self.before(until).loss
    }

    /// Whether the packet with this number is lost, of those that the link has transmitted; `None` if chance or time decides,
    /// or if the loss ever changes.
    pub(super) fn takes(&self, number: u64) -> Option<bool> {
        let mut losses = self.stretches.iter().map(|stretch| &stretch.loss);
        let first = losses.next()?;
        first
            .takes(number)
            .filter(|_| losses.all(|loss| loss == first))
    }

    /// When the queue is emptied after `from` and before `to`, if it is.
    pub(super) fn flush(&self, from: Instant, to: Instant) -> Option<Instant> {
        let (periods, offset) = self.within(from);
        let start = from - offset;
        let next = self.flushes.partition_point(|flush| *flush <= offset);
        let flush = match (self.flushes.get(next), self.period) {
            (Some(flush), _) => start + *flush,
            (None, Some(period)) => {
                Instant::START + period * (periods + 1) + *self.flushes.first()?
            }
            (None, None) => return None,
        };
        (flush < to).then_some(flush)
    }

    /// What holds in the last nanosecond of a transmission that ends at `until`.
    fn before(&self, until: Instant) -> &Stretch {
        self.stretch(self.within(until - Duration::from_nanos(1)).1)
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
        let nanosecond = Duration::from_nanos(1);
        // Just before 30 ms the last bit is sent with the first delay, just before 80 ms with the delay of the change.
        for (change, before, after) in [(30, 50, 10), (40, 10, 50), (80, 10, 50)] {
            let change = Instant::START + ms(change);
            assert_eq!(schedule.delay(change), ms(before));
            assert_eq!(schedule.delay(change + nanosecond), ms(after));
        }
        assert_eq!(schedule.limit(Instant::START + ms(35)).0, Limit::Packets(7));
    }

    #[test]
    fn a_flush_between_two_times_is_found_in_any_period() {
        let mut config = LinkConfig::new(Rate::from_bits_per_sec(1_000_000), ms(50));
        config.changes = [10, 30]
            .map(|at| Change {
                at: ms(at),
                flush: true,
                ..Change::default()
            })
            .to_vec();
        config.repeat = Some(ms(40));
        let schedule = Schedule::new(&config);
        let at = |n| Instant::START + ms(n);
        for (from, to, flush) in [
            (0, 10, None),
            (9, 11, Some(10)),
            (10, 30, None),
            (30, 51, Some(50)),
            (69, 71, Some(70)),
            (70, 90, None),
        ] {
            assert_eq!(schedule.flush(at(from), at(to)), flush.map(at), "{from}");
        }
    }
}
