//! The rules of RFC 8033, with its numbers.

use super::*;
use crate::Limit;
use crate::queue::bench::Bench;
use crate::queue::clock::assert_late_is_punctual;
use crate::test_packet::{at, ms};
use proptest::prelude::*;
use thalweg_units::Ecn;

fn pie(config: PieConfig) -> Pie {
    Pie::new(&config, 1, Instant::START)
}
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}
/// A bench whose controller is past its burst and stands at this probability, with a long queue.
fn steady(config: PieConfig, probability: f64) -> Bench<Pie> {
    let mut bench = Bench::new(pie(config), Limit::Unlimited);
    for _ in 0..10 {
        bench.put(at(0), 0, 1000, Ecn::NotEct);
    }
    bench.discipline.probability = probability;
    bench.discipline.delay = ms(15);
    bench.discipline.burst = Duration::ZERO;
    bench
}

#[test]
fn the_probability_moves_with_the_distance_from_the_target_and_with_the_growth() {
    // Section 4.2: 1/8 * (40 - 15 ms) + 5/4 * (40 - 30 ms) = 0.003125 + 0.0125.
    let mut pie = pie(PieConfig::default());
    (pie.probability, pie.delay) = (0.5, ms(30));
    pie.update(ms(40));
    assert!(close(pie.probability, 0.515_625), "{}", pie.probability);
    // And down: 1/8 * (10 - 15 ms) + 5/4 * (10 - 40 ms) = -0.000625 - 0.0375.
    pie.update(ms(10));
    assert!(close(pie.probability, 0.477_5), "{}", pie.probability);
}

#[test]
fn steps_are_scaled_down_while_the_probability_is_small() {
    // The table of section 4.2. At 30 ms, not growing, a step is 1/8 * 15 ms = 0.001875 before scaling.
    for (probability, divisor) in [
        (0.0, 2048.0),
        (0.000_000_9, 2048.0),
        (0.000_001, 512.0),
        (0.000_01, 128.0),
        (0.000_1, 32.0),
        (0.001, 8.0),
        (0.01, 2.0),
        (0.1, 1.0),
        (0.9, 1.0),
    ] {
        let mut pie = pie(PieConfig::default());
        (pie.probability, pie.delay) = (probability, ms(30));
        pie.update(ms(30));
        let expected = probability + 0.001_875 / divisor;
        assert!(
            close(pie.probability, expected),
            "{probability} {}",
            pie.probability
        );
    }
}

#[test]
fn a_high_probability_rises_by_two_percent_at_most() {
    // Section 5.5. The step would be 1/8 * 185 ms + 5/4 * 200 ms = 0.273.
    for (cap, before, after) in [
        (true, 0.1, 0.12),
        (false, 0.1, 0.373_125),
        // Below 10 % it is not capped, but halved.
        (true, 0.09, 0.09 + 0.273_125 / 2.0),
    ] {
        let mut pie = pie(PieConfig {
            cap,
            ..PieConfig::default()
        });
        pie.probability = before;
        pie.update(ms(200));
        assert!(
            close(pie.probability, after),
            "{before} {}",
            pie.probability
        );
    }
}

#[test]
fn the_probability_decays_once_congestion_is_gone() {
    // Section 4.2: (0.5 - 1/8 * 15 ms) * 0.98.
    let mut pie = pie(PieConfig::default());
    pie.probability = 0.5;
    pie.update(Duration::ZERO);
    assert!(close(pie.probability, (0.5 - 0.001_875) * 0.98));
    // It never leaves 0..1.
    (pie.probability, pie.delay) = (0.01, ms(100));
    pie.update(Duration::ZERO);
    assert_eq!(pie.probability, 0.0);
    (pie.probability, pie.config.cap) = (0.99, false);
    pie.update(ms(900));
    assert_eq!(pie.probability, 1.0);
}

#[test]
fn a_burst_of_150_milliseconds_passes_and_calm_renews_the_allowance() {
    // Section 4.4: ten updates of 15 ms.
    let mut pie = pie(PieConfig::default());
    for _ in 0..9 {
        pie.update(ms(50));
    }
    assert_eq!(pie.burst, ms(15));
    assert!(!pie.strikes(Bytes::new(9_000)));
    pie.update(ms(50));
    assert_eq!(pie.burst, Duration::ZERO);
    // Renewed once the probability is zero and two delays have been below half the target.
    pie.probability = 0.0;
    pie.update(ms(7));
    assert_eq!(pie.burst, Duration::ZERO);
    pie.update(ms(7));
    assert_eq!(pie.burst, ms(150));
}

#[test]
fn overload_meets_its_first_drop_after_the_burst_and_not_much_later() {
    // The delay passes 7.5 ms by the update at 30 ms at the latest: drops from 165 ms on. The probability is
    // then the probability after ten updates: with the delay growing by 7.5 ms in each, above 1/2048 * 0.01 * 10.
    let mut bench = Bench::new(pie(PieConfig::default()), Limit::Unlimited);
    for now in 0..1000 {
        bench.take(at(now));
        bench.put(at(now), 0, 1000, Ecn::NotEct);
        bench.put(at(now), 0, 1000, Ecn::NotEct);
    }
    let first = bench.drops().first().map(|drop| drop.at);
    assert!(
        first.is_some_and(|first| first >= at(150) && first <= at(500)),
        "{first:?}"
    );
}

#[test]
fn the_safeguards_keep_the_link_busy() {
    // Section 4.1: up to two packets of mean size, or a short delay with a low probability.
    let config = PieConfig {
        derandomise: false,
        ..PieConfig::default()
    };
    let mut pie = pie(config);
    pie.burst = Duration::ZERO;
    (pie.probability, pie.delay) = (1.0, ms(15));
    assert!(!pie.strikes(Bytes::new(2048)));
    assert!(pie.strikes(Bytes::new(2049)));
    let mut drops = |probability, delay| {
        (pie.probability, pie.delay) = (probability, delay);
        (0..1000).any(|_| pie.strikes(Bytes::new(9_000)))
    };
    let short = ms(7);
    assert!(!drops(0.19, short));
    assert!(drops(0.2, short));
    assert!(drops(0.19, ms(8)));
}

#[test]
fn derandomised_drops_keep_a_distance() {
    // Section 5.4: none before the probabilities add up to 0.85, certainly one when they reach 8.5. At 10 %
    // that is from the 9th packet to the 85th.
    let gaps = |derandomise| -> Vec<u64> {
        let config = PieConfig {
            derandomise,
            ..PieConfig::default()
        };
        let mut bench = steady(config, 0.1);
        let (mut gaps, mut gap) = (Vec::new(), 0);
        for _ in 0..20_000 {
            gap += 1;
            if bench.discipline.strikes(Bytes::new(9_000)) {
                bench.discipline.sum = 0.0;
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps
    };
    let spread = gaps(true);
    assert!(spread.iter().all(|gap| (9..=86).contains(gap)));
    // 8 packets and then on average 10 more, +- 9.5 / sqrt(1100) = 0.3 each.
    let mean = 20_000.0 / spread.len() as f64;
    assert!((17.0..=19.0).contains(&mean), "{mean}");
    let random = gaps(false);
    assert!(random.contains(&1));
    // 2000 of them, one deviation is sqrt(20000 * 0.1 * 0.9) = 42.
    assert!((1_800..=2_200).contains(&random.len()), "{}", random.len());
}

#[test]
fn capable_packets_are_marked_below_ten_percent_and_dropped_above() {
    // Section 5.1.
    let fates = |ecn, probability, codepoint| {
        let mut bench = steady(
            PieConfig {
                ecn,
                ..PieConfig::default()
            },
            probability,
        );
        for _ in 0..500 {
            bench.put(at(0), 0, 1000, codepoint);
        }
        (bench.marks() > 0, !bench.drops().is_empty())
    };
    assert_eq!(fates(true, 0.099, Ecn::Ect0), (true, false));
    assert_eq!(fates(true, 0.1, Ecn::Ect0), (false, true));
    assert_eq!(fates(true, 0.099, Ecn::NotEct), (false, true));
    assert_eq!(fates(false, 0.099, Ecn::Ect0), (false, true));
}

#[test]
fn idle_time_is_skipped_without_a_trace() {
    // A year of updates, 2e9 of them, and the state is the state of calm.
    let mut bench = steady(PieConfig::default(), 0.3);
    while bench.take(at(10)).is_some() {}
    bench.put(at(365 * 86_400_000), 0, 1000, Ecn::NotEct);
    let pie = &bench.discipline;
    assert_eq!(
        (pie.probability, pie.delay, pie.burst),
        (0.0, Duration::ZERO, ms(150))
    );
}

#[test]
fn a_long_allowance_runs_out_over_idle_hours_at_once() {
    // With a target of zero nothing is ever calm: 36 * 10^9 updates take 100 h off an allowance of 101 h.
    let config = PieConfig {
        target: Duration::ZERO,
        update: Duration::from_micros(10),
        max_burst: Duration::from_secs(101 * 3600),
        ..PieConfig::default()
    };
    let mut pie = pie(config);
    let started = std::time::Instant::now();
    pie.catch_up(at(100 * 3_600_000));
    assert_eq!(pie.burst, Duration::from_secs(3600));
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn a_packet_that_waits_for_hours_is_aged_at_once() {
    // 36 * 10^8 updates in 10 h; certainty is reached within seconds.
    let update = Duration::from_micros(10);
    let mut bench = Bench::new(
        pie(PieConfig {
            update,
            ..PieConfig::default()
        }),
        Limit::Unlimited,
    );
    bench.put(at(0), 0, 1000, Ecn::NotEct);
    let started = std::time::Instant::now();
    bench.discipline.catch_up(at(10 * 3_600_000));
    let pie = &bench.discipline;
    let hours = Duration::from_secs(10 * 3600);
    assert_eq!(
        (pie.probability, pie.delay, pie.burst),
        (1.0, hours, Duration::ZERO)
    );
    assert!(started.elapsed().as_secs() < 5);
}

proptest! {
    /// Skipping updates while nothing or one packet waits gives the same result as performing each.
    #[test]
    fn updates_that_are_left_out_change_nothing(
        target_us in prop_oneof![Just(0u64), 0u64..40_000],
        update_us in 1u64..20_000,
        burst_us in 0u64..20_000_000,
        probability in prop_oneof![Just(0.0), 0.0..1.0f64],
        delay_us in prop_oneof![Just(0u64), 0u64..100_000],
        spans in prop::collection::vec(1u64..2_000, 1..6),
        waits: bool,
    ) {
        let us = Duration::from_micros;
        let make = || {
            let config = PieConfig {
                target: us(target_us),
                update: us(update_us),
                max_burst: us(burst_us),
                ..PieConfig::default()
            };
            let mut bench = Bench::new(pie(config), Limit::Unlimited);
            if waits {
                bench.put(at(0), 0, 1000, Ecn::NotEct);
            }
            let mut pie = bench.discipline;
            (pie.probability, pie.delay) = (probability, us(delay_us));
            pie
        };
        assert_late_is_punctual(make, us(update_us), &spans, |pie, now| {
            pie.catch_up(now);
            (pie.probability, pie.delay, pie.burst)
        });
    }
}
