//! Rounds of downloads: when connections start, and how much each downloads.
//!
//! # Model
//! Each user has rounds, one after the other. All connections of a round start at the same instant, and each downloads its
//! objects one after the other. In an open loop a round starts whether or not earlier ones have finished: the first with the
//! flow, each other one a gap after the one before. In a closed loop a round starts an idle time after the last object of the
//! one before has arrived (`trial/network/rounds.rs`).
//!
//! Lengths are uniform, or log-normal, given by two percentiles: with z = 1.645, the 95th
//! percentile of the standard normal distribution, `mu = (ln p5 + ln p95) / 2` and
//! `sigma = (ln p95 - ln p5) / (2 z)` (ccafct, `client.go`).
//!
//! Gaps, idle times and lengths depend on the seed of the trial, the name of the flow and the number of the user, and on
//! nothing else: two trials with the same seed have the same requests, whatever the controllers and the other flows.
//!
//! # Limits
//! Lengths are truncated to whole bytes and are at least one byte; gaps to whole nanoseconds.

use crate::scenario::flow::{Arrivals, Lengths, Pace};
use crate::scenario::schema::Gap;
use crate::trial::seed;
use thalweg_control::Rng;
use thalweg_random::{open_unit, standard_normal};
use thalweg_units::{Bytes, Duration};

/// 95th percentile of the standard normal distribution, with the digits that ccafct has.
const Z95: f64 = 1.645;

/// One connection: its start, from the start of the flow, and the lengths of its objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arrival {
    /// Unknown where it depends on the end of another.
    pub(crate) after: Option<Duration>,
    pub(crate) objects: Vec<Bytes>,
}

impl Arrival {
    /// The bytes of all objects.
    pub(crate) fn bytes(&self) -> Bytes {
        self.objects.iter().copied().sum()
    }
}

impl Arrivals {
    /// All connections of flow `name` in a trial: user by user, round by round.
    pub(crate) fn draw(&self, trial: u64, name: &str) -> Vec<Arrival> {
        let mut all = Vec::with_capacity(self.connections() as usize);
        for user in 0..self.users {
            let mut lengths = seed::rng(trial, &stream(name, "lengths", user));
            let starts = self.starts(trial, name, user);
            for after in starts {
                for _ in 0..self.parallel {
                    let objects = (0..self.objects).map(|_| self.lengths.draw(&mut lengths));
                    all.push(Arrival {
                        after,
                        objects: objects.collect(),
                    });
                }
            }
        }
        all
    }

    /// When the rounds of a user start.
    fn starts(&self, trial: u64, name: &str, user: u32) -> Vec<Option<Duration>> {
        match self.pace {
            Pace::Open { mean_gap } => {
                let mut gaps = seed::rng(trial, &stream(name, "gaps", user));
                let mut after = Duration::ZERO;
                let mut next = || {
                    let start = after;
                    after += draw_gap(self.gap, mean_gap, &mut gaps);
                    Some(start)
                };
                (0..self.count).map(|_| next()).collect()
            }
            Pace::Closed { idle_first, .. } => {
                let mut first = Duration::ZERO;
                if idle_first {
                    first = self.idle_times(trial, name, user)[0];
                }
                let mut starts = vec![None; self.count as usize];
                starts[0] = Some(first);
                starts
            }
        }
    }

    /// The idle times of a user, in a closed loop: before each round, the first included.
    pub(crate) fn idle_times(&self, trial: u64, name: &str, user: u32) -> Vec<Duration> {
        let Pace::Closed { mean_idle, .. } = self.pace else {
            return Vec::new();
        };
        let mut idle = seed::rng(trial, &stream(name, "idle", user));
        (0..self.count)
            .map(|_| draw_gap(self.gap, mean_idle, &mut idle))
            .collect()
    }
}

/// Name of a random stream. The name of the first user has no number.
fn stream(flow: &str, what: &str, user: u32) -> String {
    match user {
        0 => format!("flow/{flow}/{what}"),
        user => format!("flow/{flow}/{what}/{user}"),
    }
}

fn draw_gap(gap: Gap, mean: Duration, rng: &mut Rng) -> Duration {
    match gap {
        Gap::Constant => mean,
        Gap::Exponential => {
            let factor = -libm::log(open_unit(rng));
            Duration::from_nanos((mean.as_nanos() as f64 * factor) as u64)
        }
    }
}

impl Lengths {
    fn draw(self, rng: &mut Rng) -> Bytes {
        let length = match self {
            Lengths::LogNormal { p5, p95 } => {
                let (low, high) = (
                    libm::log(p5.as_u64() as f64),
                    libm::log(p95.as_u64() as f64),
                );
                let (mu, sigma) = ((low + high) / 2.0, (high - low) / (2.0 * Z95));
                libm::exp(mu + sigma * standard_normal(rng)) as u64
            }
            Lengths::Uniform { least, most } => {
                let range = (most - least).as_u64() as f64 + 1.0;
                (least.as_u64() + (open_unit(rng) * range) as u64).min(most.as_u64())
            }
        };
        Bytes::new(length.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ccafct(count: u32) -> Arrivals {
        Arrivals {
            count,
            users: 1,
            parallel: 1,
            objects: 1,
            pace: Pace::Open {
                mean_gap: Duration::from_millis(200),
            },
            gap: Gap::Exponential,
            lengths: Lengths::LogNormal {
                p5: Bytes::new(65_536),
                p95: Bytes::new(2_097_152),
            },
            request: Bytes::new(100),
        }
    }

    fn after(arrival: Option<&Arrival>) -> Duration {
        arrival.and_then(|arrival| arrival.after).expect("a start")
    }

    #[test]
    fn lengths_and_gaps_have_the_percentiles_and_means_of_ccafct() {
        let arrivals = ccafct(40_000).draw(1, "web");
        let mut lengths: Vec<u64> = arrivals.iter().map(|a| a.bytes().as_u64()).collect();
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
        let last = after(arrivals.last()).as_secs_f64();
        assert!((0.98..=1.02).contains(&(last / 7_999.8)), "{last}");
        assert_eq!(after(arrivals.first()), Duration::ZERO);
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
            lengths: Lengths::LogNormal {
                p5: Bytes::new(65_536),
                p95: Bytes::new(65_536),
            },
            ..ccafct(3)
        };
        let drawn = arrivals.draw(1, "web");
        let after: Vec<u64> = drawn.iter().map(|a| after(Some(a)).as_millis()).collect();
        assert_eq!(after, [0, 200, 400]);
        // exp(ln 65 536) may round to just below.
        assert!(
            drawn
                .iter()
                .all(|a| (65_535..=65_536).contains(&a.bytes().as_u64()))
        );
    }

    #[test]
    fn users_draw_for_themselves_and_connections_of_a_round_start_together() {
        let pages = Arrivals {
            users: 3,
            parallel: 2,
            objects: 4,
            lengths: Lengths::Uniform {
                least: Bytes::new(1000),
                most: Bytes::new(1002),
            },
            ..ccafct(5)
        };
        let drawn = pages.draw(1, "web");
        assert_eq!(drawn.len(), 3 * 5 * 2);
        assert!(
            drawn
                .chunks(2)
                .all(|round| round[0].after == round[1].after)
        );
        assert_eq!(
            [0, 10, 20].map(|first| after(drawn.get(first))),
            [Duration::ZERO; 3]
        );
        assert_ne!(drawn[2].after, drawn[12].after);
        let mut counts = [0; 3];
        for object in drawn.iter().flat_map(|arrival| &arrival.objects) {
            counts[object.as_u64() as usize - 1000] += 1;
        }
        // 120 objects of three lengths, 40 each: within four standard deviations of 5.2.
        assert!(
            counts.iter().all(|count| (20..=60).contains(count)),
            "{counts:?}"
        );
        let few = Arrivals {
            users: 2,
            ..pages.clone()
        }
        .draw(1, "web");
        assert_eq!(few[..], drawn[..20]);
    }

    #[test]
    fn in_a_closed_loop_only_the_first_start_is_known() {
        let loops = |idle_first| Arrivals {
            users: 200,
            pace: Pace::Closed {
                mean_idle: Duration::from_secs(10),
                idle_first,
            },
            ..ccafct(3)
        };
        let starts = |idle_first| -> Vec<Option<Duration>> {
            let drawn = loops(idle_first).draw(1, "web").into_iter();
            drawn.map(|arrival| arrival.after).collect()
        };
        let at_once = starts(false);
        assert_eq!(
            at_once[..4],
            [Some(Duration::ZERO), None, None, Some(Duration::ZERO)]
        );
        let first: Vec<f64> = starts(true)
            .into_iter()
            .flatten()
            .map(Duration::as_secs_f64)
            .collect();
        // The mean of 200 exponential times of 10 s: a standard error of 0.7 s.
        let mean = first.iter().sum::<f64>() / 200.0;
        assert!(first.len() == 200 && (7.9..12.1).contains(&mean), "{mean}");
        assert_eq!(
            loops(true).idle_times(1, "web", 0)[0].as_secs_f64(),
            first[0]
        );
    }
}
