//! Sources of cross traffic: packets into a link, without a transport.
//!
//! # Model
//! A source has a rate, constant from one time to the next, and gathers as many bits as the rate gives. A packet leaves at the
//! first nanosecond by which all its bits have been gathered, so the first one a packet's time after the start. What has been
//! gathered when the rate changes counts for the next packet: over any time, a source sends what its rates give, less than a
//! packet missing.
//! Nobody acknowledges the packets, nothing repeats them, and losses, marks and delays leave the source as it is.
//! They are Not-ECT, cross the links of their route, and vanish at its end.
//!
//! Times of being on or off are exponential, and so is what is left of the one at the start, in which it is on with the
//! probability `mean_on / (mean_on + mean_off)`: a process that has begun long before. They depend only on the seed of the
//! trial and the name of the source.
//!
//! # Limits
//! Drawn times are truncated to whole nanoseconds. A source has no handshake, no outcome but the outcome of links, and no
//! floor that knows of it.

use crate::scenario::hop::{Direction, LinkId};
use crate::scenario::profile::{Bin, Profile};
use crate::scenario::traffic::{Course, TrafficSpec};
use crate::scenario::{Scenario, StartNoise};
use crate::trial::seed;
use std::sync::Arc;
use thalweg_control::Rng;
use thalweg_random::open_unit;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// Bits of a byte in billionths.
const NANOBITS_PER_BYTE: u128 = 8_000_000_000;
/// Longest span with one rate: longer ones are cut, so that no product of work and time overflows.
const LONGEST: Duration = Duration::from_secs(60);
/// Spans that one call passes without a packet, so that the event loop can look whether to stop.
const SPANS: usize = 1000;

/// A source of a running trial.
#[derive(Debug)]
pub(crate) struct Source {
    /// Links that its packets cross.
    pub(crate) route: Box<[LinkId]>,
    /// Size of its packets, with all headers.
    pub(crate) packet: Bytes,
    /// Packets sent so far.
    pub(crate) sent: u64,
    pub(crate) start: Instant,
    spans: Spans,
    /// The present span, when it began, and how many of its nanobits have been gathered.
    span: Bin,
    began: Instant,
    gathered: u128,
    /// What the next packet has of earlier spans.
    carried: u128,
    /// When it is due, and whether that is for a packet.
    due: Instant,
    is_packet: bool,
}

/// The spans of a source with one rate each, in order.
#[derive(Debug)]
enum Spans {
    /// What is left until the next beginning or end: the windows to come, and when they are reached.
    Windows {
        rate: Rate,
        on: Vec<(Duration, Duration)>,
        next: usize,
        at: Duration,
    },
    Random {
        rate: Rate,
        means: [Duration; 2],
        rng: Box<Rng>,
        is_on: bool,
        left: Duration,
    },
    Profile {
        profile: Arc<Profile>,
        repeat: bool,
        next: usize,
    },
}

/// All sources of a trial.
pub(crate) fn sources(scenario: &Scenario, trial: u64) -> Vec<Source> {
    let source = |spec| Source::new(spec, trial, scenario.start_noise);
    scenario.traffic.iter().map(source).collect()
}

impl Source {
    fn new(spec: &TrafficSpec, trial: u64, noise: StartNoise) -> Self {
        let name = &spec.name;
        let upto = |most: Duration, stream: &str| {
            Duration::from_nanos(seed::of(trial, stream) % (most.as_nanos() + 1))
        };
        let start = spec.start
            + upto(noise.flow, &format!("traffic/{name}/start"))
            + upto(noise.phase, "phase");
        let hops = spec
            .route
            .iter()
            .map(|hop| LinkId::new(*hop, spec.direction));
        let mut source = Source {
            route: match spec.direction {
                Direction::Down => hops.collect(),
                Direction::Up => hops.rev().collect(),
            },
            packet: spec.packet,
            sent: 0,
            start: Instant::START + start,
            spans: Spans::new(&spec.course, || times(trial, name)),
            // A span without a rate until the start.
            span: Bin {
                length: start,
                amount: 0,
            },
            began: Instant::START,
            gathered: 0,
            carried: 0,
            due: Instant::NEVER,
            is_packet: false,
        };
        source.go_on();
        source
    }

    /// Times that are drawn from now on are from the stream of another seed.
    pub(crate) fn reseed(&mut self, seed: u64, name: &str) {
        if let Spans::Random { rng, .. } = &mut self.spans {
            **rng = times(seed, name);
        }
    }

    /// When it is due next.
    pub(crate) fn next(&self) -> Instant {
        self.due
    }

    /// It is due: whether it sends a packet now. Finds out when it is due next.
    pub(crate) fn wake(&mut self) -> bool {
        let is_packet = self.is_packet;
        self.sent += u64::from(is_packet);
        self.go_on();
        is_packet
    }

    /// Sends nothing any more.
    pub(crate) fn stop(&mut self) {
        self.due = Instant::NEVER;
        self.is_packet = false;
    }

    /// Finds the time of the next packet, or a time until which there is none.
    fn go_on(&mut self) {
        let work = u128::from(self.packet.as_u64()) * NANOBITS_PER_BYTE;
        for _ in 0..SPANS {
            let missing = work - self.carried;
            let needed = self.gathered + missing;
            if needed <= self.span.amount {
                self.gathered = needed;
                self.carried = 0;
                let length = u128::from(self.span.length.as_nanos());
                let after = (needed * length).div_ceil(self.span.amount);
                self.due = self.began + Duration::from_nanos(after as u64);
                self.is_packet = true;
                return;
            }
            self.carried += self.span.amount - self.gathered;
            self.began += self.span.length;
            self.gathered = 0;
            match self.spans.next() {
                Some(span) => self.span = span,
                None => {
                    self.span = Bin {
                        length: Duration::ZERO,
                        amount: 0,
                    };
                    self.due = Instant::NEVER;
                    return;
                }
            }
        }
        self.due = self.began;
        self.is_packet = false;
    }
}

impl Spans {
    fn new(course: &Course, rng: impl FnOnce() -> Rng) -> Self {
        match course {
            Course::Windows { rate, on } => Spans::Windows {
                rate: *rate,
                on: on.clone(),
                next: 0,
                at: Duration::ZERO,
            },
            Course::Random {
                rate,
                mean_on,
                mean_off,
            } => {
                let mut rng = Box::new(rng());
                let means = [*mean_off, *mean_on];
                let both = mean_on.as_nanos() as f64 + mean_off.as_nanos() as f64;
                let is_on = open_unit(&mut *rng) * both < mean_on.as_nanos() as f64;
                let left = exponential(means[usize::from(is_on)], &mut rng);
                Spans::Random {
                    rate: *rate,
                    means,
                    rng,
                    is_on,
                    left,
                }
            }
            Course::Profile { profile, repeat } => Spans::Profile {
                profile: profile.clone(),
                repeat: *repeat,
                next: 0,
            },
        }
    }

    /// The next span; `None` if nothing comes any more.
    fn next(&mut self) -> Option<Bin> {
        match self {
            Spans::Windows { rate, on, next, at } => {
                let (from, until) = *on.get(*next)?;
                let (is_on, end) = (*at >= from, if *at >= from { until } else { from });
                let length = (end - *at).min(LONGEST);
                *at += length;
                if *at == until {
                    *next += 1;
                }
                Some(constant(*rate, is_on, length))
            }
            Spans::Random {
                rate,
                means,
                rng,
                is_on,
                left,
            } => {
                while left.is_zero() {
                    *is_on = !*is_on;
                    *left = exponential(means[usize::from(*is_on)], rng);
                }
                let length = (*left).min(LONGEST);
                *left -= length;
                Some(constant(*rate, *is_on, length))
            }
            Spans::Profile {
                profile,
                repeat,
                next,
            } => {
                if *next == profile.bins.len() && *repeat {
                    *next = 0;
                }
                let bin = *profile.bins.get(*next)?;
                *next += 1;
                Some(bin)
            }
        }
    }
}

fn constant(rate: Rate, is_on: bool, length: Duration) -> Bin {
    let rate = if is_on { rate } else { Rate::ZERO };
    Bin {
        length,
        amount: u128::from(rate.as_bits_per_sec()) * u128::from(length.as_nanos()),
    }
}

/// The stream of the times of a source.
fn times(trial: u64, name: &str) -> Rng {
    seed::rng(trial, &format!("traffic/{name}/times"))
}

fn exponential(mean: Duration, rng: &mut Rng) -> Duration {
    let factor = -libm::log(open_unit(rng));
    Duration::from_nanos((mean.as_nanos() as f64 * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(course: Course, start: Duration) -> Source {
        let spec = TrafficSpec {
            name: "cross".to_owned(),
            tunnel: None,
            breaker: None,
            start,
            packet: Bytes::new(1500),
            route: vec![0, 2],
            direction: Direction::Up,
            course,
        };
        Source::new(&spec, 1, StartNoise::default())
    }

    /// When packets leave, until `end`.
    fn packets(mut source: Source, end: Duration) -> Vec<u64> {
        let mut times = Vec::new();
        while source.next() <= Instant::START + end {
            let now = source.next();
            if source.wake() {
                times.push(now.as_nanos() / 1000);
            }
            assert!(source.next() >= now);
        }
        times
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const RATE: Rate = Rate::from_bits_per_sec(12_000_000);

    #[test]
    fn a_constant_rate_sends_a_packet_whenever_its_bits_are_there() {
        // 12 000 bits at 12 Mbps: one each millisecond.
        let on = vec![(MS(0), MS(3)), (MS(10), MS(12))];
        let windows = Course::Windows { rate: RATE, on };
        assert_eq!(
            packets(source(windows.clone(), MS(0)), MS(100)),
            [1000, 2000, 3000, 11_000, 12_000]
        );
        assert_eq!(
            packets(source(windows, MS(50)), MS(100)),
            [51_000, 52_000, 53_000, 61_000, 62_000]
        );
        let route: Vec<usize> = source(
            Course::Windows {
                rate: RATE,
                on: vec![(MS(0), MS(1))],
            },
            MS(0),
        )
        .route
        .iter()
        .map(|link| link.index())
        .collect();
        assert_eq!(route, [5, 1], "up, the last hop first");
    }

    #[test]
    fn what_is_gathered_before_a_pause_counts_after_it() {
        let on = vec![
            (Duration::ZERO, Duration::from_micros(1600)),
            (MS(5), MS(6)),
        ];
        let windows = Course::Windows { rate: RATE, on };
        // 1.6 ms give one packet and 0.6 of the next, which needs another 0.4 ms.
        assert_eq!(packets(source(windows, MS(0)), MS(100)), [1000, 5400]);
    }

    #[test]
    fn a_rate_that_no_nanosecond_divides_is_kept_in_the_long_run() {
        let rate = Rate::from_bits_per_sec(7_777_777);
        let on = vec![(Duration::ZERO, Duration::MAX)];
        let sent = packets(
            source(Course::Windows { rate, on }, MS(0)),
            Duration::from_secs(600),
        );
        // 7 777 777 * 600 / 12 000 = 388 888.85
        assert_eq!(sent.len(), 388_888);
        let gaps: Vec<u64> = sent.windows(2).map(|two| two[1] - two[0]).collect();
        // 12 000 bits at 7.777777 Mbps take 1542.857 us.
        assert!(gaps.iter().all(|gap| (1542..=1543).contains(gap)));
    }

    #[test]
    fn a_profile_sends_the_bytes_of_its_bins() {
        let profile = |repeat| Course::Profile {
            profile: Arc::new(Profile::of_bytes(&[3000, 0, 0, 2000, 1000], MS(10))),
            repeat,
        };
        // Two in the first bin; 1500 of 2000 B after 7.5 ms of the fourth; the rest with the 1000 B of the last.
        let once = [5000, 10_000, 37_500, 50_000];
        assert_eq!(packets(source(profile(false), MS(0)), MS(200)), once);
        let again: Vec<u64> = once.iter().map(|at| at + 50_000).collect();
        assert_eq!(
            packets(source(profile(true), MS(0)), MS(100)),
            [&once[..], &again].concat()
        );
    }

    #[test]
    fn empty_bins_without_end_return_to_the_event_loop() {
        let profile = Profile::of_bytes(&[1], Duration::from_micros(10));
        let mut source = source(
            Course::Profile {
                profile: Arc::new(profile),
                repeat: true,
            },
            MS(0),
        );
        // A packet takes 1500 bins of 10 us; a call passes a thousand.
        assert!(!source.wake());
        assert_eq!(source.next(), Instant::START + MS(15));
    }

    #[test]
    fn random_times_have_the_means_asked_for_and_come_from_seed_and_name() {
        let course = Course::Random {
            rate: RATE,
            mean_on: MS(20),
            mean_off: MS(60),
        };
        let end = Duration::from_secs(2000);
        let sent = packets(source(course.clone(), MS(0)), end);
        // On for a quarter of the time: 500 000 packets; 25 000 cycles, so the standard error is about 1 %.
        let ratio = sent.len() as f64 / 500_000.0;
        assert!((0.97..1.03).contains(&ratio), "{ratio}");
        // A pause longer than a packet's time of 1 ms begins about once a cycle of 80 ms.
        let pauses = sent.windows(2).filter(|two| two[1] - two[0] > 1001).count();
        let ratio = pauses as f64 / (2000.0 / 0.08);
        assert!((0.94..1.02).contains(&ratio), "{ratio}");
        assert_eq!(sent, packets(source(course, MS(0)), end));
    }
}
