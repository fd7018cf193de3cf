//! The formulas of Floyd and Jacobson 1993.

use super::*;
use crate::Limit;
use crate::queue::bench::Bench;
use crate::test_packet::{at, ms};
use thalweg_units::Ecn;

fn red(config: RedConfig) -> Red {
    Red::new(&config, 1, Instant::START)
}
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

#[test]
fn the_average_approaches_the_length_of_the_queue_exponentially() {
    // Section IV: after n samples of q, avg = q (1 - (1 - w)^n). With w = 0.002 and n = 500: 0.6325 q.
    let mut red = red(RedConfig::default());
    for _ in 0..500 {
        red.average.sample(Bytes::new(10_000));
    }
    assert!(close(
        red.average.bytes,
        10_000.0 * (1.0 - 0.998f64.powi(500))
    ));
    assert!((red.average.bytes - 6_325.0).abs() < 1.0);
}

#[test]
fn the_average_ages_while_the_queue_is_empty() {
    // Section IV: avg (1 - w)^m, m = idle time / transmission time: 1500 bytes take 1.5 ms, 300 ms are 200.
    let mut bench = Bench::new(red(RedConfig::default()), Limit::Unlimited);
    bench.discipline.average.bytes = 5_000.0;
    bench.put(at(0), 0, 1000, Ecn::NotEct);
    bench.take(at(10));
    bench.put(at(310), 0, 1000, Ecn::NotEct);
    assert!(close(
        bench.discipline.average.bytes,
        5_000.0 * 0.998f64.powi(200)
    ));
}

#[test]
fn the_probability_is_linear_between_the_thresholds() {
    let probability = |gentle, bytes| {
        let mut red = red(RedConfig {
            min: Bytes::new(10_000),
            max: Bytes::new(30_000),
            gentle,
            ..RedConfig::default()
        });
        red.average.bytes = bytes;
        red.base_probability()
    };
    for gentle in [false, true] {
        assert_eq!(probability(gentle, 9_999.0), None);
        assert_eq!(probability(gentle, 10_000.0), Some(0.0));
        // A quarter of the way, a quarter of 10 %.
        assert!(probability(gentle, 15_000.0).is_some_and(|p| close(p, 0.025)));
        assert!(probability(gentle, 29_999.0).is_some_and(|p| p < 0.1));
    }
    // Above max: everything, or from 10 % at max to 100 % at twice max: 55 % half way.
    assert_eq!(probability(false, 30_000.0), Some(1.0));
    assert!(probability(true, 45_000.0).is_some_and(|p| close(p, 0.55)));
    assert_eq!(probability(true, 60_000.0), Some(1.0));
}

#[test]
fn drops_are_spread_uniformly() {
    // Section VII, method 2: the distance between drops is uniform. As the count starts at 1 after a drop, at
    // p_b = 2 % it is uniform on 1..=49, mean 25.
    let config = RedConfig {
        min: Bytes::new(10_000),
        max: Bytes::new(30_000),
        ..RedConfig::default()
    };
    let mut red = red(config);
    // 10 % * (14 000 - 10 000) / 20 000.
    red.average.bytes = 14_000.0;
    let (mut gaps, mut gap) = (Vec::new(), 0);
    while gaps.len() < 4_000 {
        gap += 1;
        if red.strikes() {
            gaps.push(gap);
            gap = 0;
        }
    }
    assert_eq!(
        (gaps[1..].iter().min(), gaps[1..].iter().max()),
        (Some(&1), Some(&49))
    );
    // One deviation of the mean is 14.1 / sqrt(4000) = 0.22.
    let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
    assert!((24.0..=26.0).contains(&mean), "{mean}");
}

#[test]
fn capable_packets_are_marked_below_the_upper_threshold_and_dropped_above() {
    // RFC 3168 section 7.
    let fates = |ecn, bytes, codepoint| {
        let mut bench = Bench::new(
            red(RedConfig {
                ecn,
                ..RedConfig::default()
            }),
            Limit::Unlimited,
        );
        bench.put(at(0), 0, 1000, Ecn::NotEct);
        for _ in 0..200 {
            bench.discipline.average.bytes = bytes;
            bench.put(at(0), 0, 1, codepoint);
        }
        (bench.marks() > 0, !bench.drops().is_empty())
    };
    assert_eq!(fates(true, 5_000.0, Ecn::Ect0), (false, false));
    assert_eq!(fates(true, 20_000.0, Ecn::Ect0), (true, false));
    assert_eq!(fates(true, 20_000.0, Ecn::NotEct), (false, true));
    assert_eq!(fates(false, 20_000.0, Ecn::Ect0), (false, true));
    assert_eq!(fates(true, 30_000.0, Ecn::Ect0), (false, true));
}

#[test]
fn a_burst_that_fits_passes_however_long_it_makes_the_queue() {
    // Section V: the average of 50 packets at once stays below min: sum of w * 1000 n = 0.002 * 1000 * 1225.
    let mut bench = Bench::new(red(RedConfig::default()), Limit::Unlimited);
    for _ in 0..50 {
        bench.put(at(0), 0, 1000, Ecn::NotEct);
    }
    assert!(bench.drops().is_empty());
    assert!(bench.discipline.average.bytes <= 2_450.0);
    assert_eq!(bench.port.drain_time(None), ms(50));
}
